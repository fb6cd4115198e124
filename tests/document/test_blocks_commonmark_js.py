"""Documents with all kinds of containers have the blocks that commonmark.js, the other reference, finds (F1, F2).

It gives what cmark does not: a fence's end, and whether a closing fence was the reason for it. Its answers are in
`tests/data`, beside the script that asked for them.
"""

import json
from pathlib import Path

import pytest

from pipeline.document.blocks import Block

from .blocks_of import blocks_of

CASES = json.loads((Path(__file__).parent.parent / "data" / "commonmark-js-0.31.2.json").read_text(encoding="utf-8"))


def described(block: Block) -> dict[str, object]:
    found: dict[str, object] = {"kind": block.kind.replace("quote", "block_quote"), "depth": block.depth}
    if block.kind == "heading":
        return found | {"level": block.level, "text": "\n".join(line.text for line in block.lines)}
    found |= {"line": block.line, "column": block.column}
    if block.kind == "fence":
        found |= {"end_line": block.end_line, "closed": block.closed, "info": block.info, "text": block.text}
    return found


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_a_document_has_the_blocks_of_commonmark_js(case: dict[str, object]) -> None:
    """Fences with place, end, text, info and whether they are closed; headings; containers with their place."""
    blocks = [block for block in blocks_of(str(case["document"])) if block.nesting >= 0]
    kinds = ("heading", "fence", "quote", "list", "item")
    assert [described(block) for block in blocks if block.kind in kinds] == case["blocks"]


def test_the_cases_have_fences_of_every_kind() -> None:
    """Fences are open, closed, and closed by their container's end, at several depths."""
    fences = [block for case in CASES for block in case["blocks"] if block["kind"] == "fence"]
    assert {(fence["closed"], min(fence["depth"], 3)) for fence in fences} == {
        (closed, depth) for closed in (True, False) for depth in range(4)
    }
