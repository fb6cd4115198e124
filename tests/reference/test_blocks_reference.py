"""Random documents have the blocks that the reference implementation, cmark, finds (F1)."""

import re

from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.document.blocks_of import blocks_of
from tests.document.markdown import documents, fences

from .cmark import cmark_structure, our_structure

LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])

# Where cmark departs from the specification's words and commonmark.js, the other reference, keeps to them:
# an item that begins with a blank line ends at a second one, even at one that is indented far enough for the item;
_BLANK_ITEM = re.compile(r"(?:[-+*]|[0-9][.)])[ \t]*\n[ \t>]*[ \t]+(?:\n|\Z)")
# and the indentation of a fence is counted in columns, not in characters.
_TAB_BEFORE_FENCE = re.compile(r"\t[ \t]*(?:```|~~~)")


def departs(text: str) -> bool:
    return bool(_BLANK_ITEM.search(text) or _TAB_BEFORE_FENCE.search(text))


@given(documents(), LINE_ENDS)
@example("- a\n\n  ```sql\n\n\n  b\n", "\r\n")
@example("   123456789) > a\n    # x\n", "\n")
@example("[a]: b\n    c\n", "\n")
@example(">   - \tb\n>     <!A\n>     > q\n>        ==\n", "\n")
def test_a_document_has_the_reference_blocks(text: str, line_end: str) -> None:
    """Fences (text, info, line), headings (level, text) and the nesting are cmark's, whatever ends the lines."""
    assume(not departs(text))
    assert our_structure(text.replace("\n", line_end)) == cmark_structure(text.replace("\n", line_end))


@given(documents())
def test_a_document_in_a_phase_has_the_reference_blocks(text: str) -> None:
    """The same between the headings of two phases."""
    assume(not departs(text))
    text = f"## フェーズ 1: 例\n{text}\n## フェーズ 2: 次\n"
    assert our_structure(text) == cmark_structure(text)


@given(documents(), fences())
def test_a_last_fence_is_open_where_the_reference_reads_on(text: str, fence: list[str]) -> None:
    """A line put behind the document belongs to its last fence where that was not closed, and only there (F2)."""
    text = f"{text}\n\n" + "\n".join(fence) + "\n"
    assume(not departs(text))
    last = blocks_of(text)[-1]
    assume(last.kind == "fence")
    behind = cmark_structure(text + "behind\n")[-1]
    assert behind[0] == ("paragraph" if last.closed else "fence")
