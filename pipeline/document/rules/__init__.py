"""CommonMark's block rules for markdown-it, one a module.

They are our own because the library deviates from CommonMark, needs more than linear time, and makes tokens that nobody
reads; each module says what it corrects. Where the specification's words leave room, they do as its reference
implementations do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from markdown_it import MarkdownIt
from markdown_it.parser_block import RuleFuncBlockType

from pipeline.document.rules.atx_heading import atx_heading
from pipeline.document.rules.containers import containers
from pipeline.document.rules.fence import fence
from pipeline.document.rules.html_block import html_block
from pipeline.document.rules.indented_code import indented_code
from pipeline.document.rules.paragraph import paragraph, plain_paragraph, unmarked_blocks
from pipeline.document.rules.state import Reading
from pipeline.document.rules.thematic_break import thematic_break

Rule: TypeAlias = Callable[[Reading, int, int, bool], bool]
"""(state, start, end, silent): read the block that begins on line `start` (from 0) and go behind it, if it is the
rule's; in silent mode only say whether the current line begins one that interrupts a paragraph."""

_INTERRUPTING = ["paragraph"]
_RULES: tuple[tuple[str, Rule, list[str]], ...] = (
    ("unmarked_blocks", unmarked_blocks, []),
    ("containers", containers, _INTERRUPTING),
    ("plain_paragraph", plain_paragraph, []),
    ("atx_heading", atx_heading, _INTERRUPTING),
    ("fence", fence, _INTERRUPTING),
    ("indented_code", indented_code, []),
    ("html_block", html_block, _INTERRUPTING),
    ("thematic_break", thematic_break, _INTERRUPTING),
    ("paragraph", paragraph, []),
)
"""Name, rule and the chains in which it is asked in silent mode; in the order in which they are asked. None takes what
is another's, but for paragraphs: so what is frequent comes first."""


def block_parser() -> MarkdownIt:
    """A parser whose block rules read a `Reading`, and nothing else."""
    parser = MarkdownIt("commonmark")
    ruler = parser.block.ruler
    ruler.disable(ruler.get_all_rules())
    for name, rule, chains in _RULES:
        # The ruler is typed for the library's state. `read_blocks` hands over a Reading, and no other state.
        ruler.push(f"aop_{name}", cast("RuleFuncBlockType", rule), {"alt": chains})
    return parser
