"""Every example of the CommonMark 0.31.2 specification has the blocks that the reference implementation finds (F1)."""

import json
from pathlib import Path

import pytest

from .cmark import cmark_structure, our_structure

EXAMPLES = json.loads((Path(__file__).parent.parent / "data" / "commonmark-0.31.2.json").read_text(encoding="utf-8"))
PLACES = {
    "bare": "{}",
    "in a phase": "## フェーズ 1: 例\n\n{}",
    "directly below a phase's heading": "## フェーズ 1: 例\n{}",
    "between two phases": "## フェーズ 1: 例\n\n{}\n\n## フェーズ 2: 次\n\n```sql\nselect 1\n```\n",
    "directly above a phase": "## フェーズ 1: 例\n\n{}## フェーズ 2: 次\n",
}


def test_all_examples_are_there() -> None:
    """The specification has 652 examples."""
    assert [example["example"] for example in EXAMPLES] == list(range(1, 653))


@pytest.mark.parametrize("place", PLACES)
def test_an_example_has_the_reference_blocks(place: str) -> None:
    """Fences (text, info, line), headings (level, text) and the blocks' nesting are cmark's, wherever it stands."""
    for example in EXAMPLES:
        text = PLACES[place].format(example["markdown"])
        if text.strip():
            assert our_structure(text) == cmark_structure(text), f"example {example['example']}"
