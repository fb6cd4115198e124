"""Items of the same words are read once a process, and stand each in its own place."""

from __future__ import annotations

import pytest

from pipeline.stages.parse import parse


@pytest.mark.parametrize("times", [1, 60], ids=["a few words", "more than are remembered"])
def test_the_same_declaration_in_two_places_has_equal_items_and_places_of_its_own(times: int) -> None:
    """T2: `slack の notify` and an empty item, declared in two phases; each points into its own line."""
    declaration = f"(使う道具: {'slack の notify, ' * times}exa の)"
    text = f"# 手順\n\n## フェーズ 1: 甲\n{declaration}\n\n## フェーズ 2: 乙\n\n  {declaration}\n"
    outcome = parse(text.encode(), "x")
    assert outcome.artifact is not None
    one, other = (phase.tools[0].items for phase in outcome.artifact.phases)
    words = [(item.text, item.head, item.groups, item.only) for item in one]
    assert words == [("slack の notify",) * 2 + ((), False)] * times + [("exa の", "exa の", (), False)]
    assert words == [(item.text, item.head, item.groups, item.only) for item in other]
    for items, line, indent in ((one, 4, 0), (other, 8, 2)):
        begin = indent + len("(使う道具: ") + 1
        first, last = outcome.positions[items[0].anchor], outcome.positions[items[-1].anchor]
        assert first == (line, begin, line, begin + len("slack の notify"))
        assert last == (line, indent + len(declaration), line, indent + len(declaration) + 1)
