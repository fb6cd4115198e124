"""Every fence is in the instructions it belongs to, character for character (I1, I3)."""

from __future__ import annotations

import pytest

from pipeline.artifacts import Fault
from pipeline.stages.verify import verify
from pipeline.verifier.fences import missing_fences
from tests.generate.samples import Code, Document, Step, document, module_of

TRAILING = document(Step("集める", ("読む。", Code("select 1 \n  from x\n", "sql"), "数える。")))
SOURCE = module_of(TRAILING).source


def faults(source: str, sample: Document = TRAILING) -> list[tuple[str, int | None, int | None]]:
    found: tuple[Fault, ...] = verify(source, sample.parsed, sample.resolved).faults
    return [(fault.kind, fault.phase, fault.fence) for fault in found]


def changed(old: str, new: str) -> str:
    assert old in SOURCE
    return SOURCE.replace(old, new, 1)


WRONG = {
    "a trailing blank is lost": changed('"select 1 "', '"select 1"'),
    "a character is changed": changed("select 1", "select 2"),
    "an indentation is lost": changed('"  from x', '"from x'),
    "a tab for blanks": changed('"  from x', '"\\tfrom x'),
    "a line is lost": changed('                "  from x" "\\n"\n', ""),
    "a line more before": changed('"```sql" "\\n"', '"```sql" "\\n" "-- x" "\\n"'),
    "a line more behind": changed('"  from x" "\\n"', '"  from x" "\\n" "where 1" "\\n"'),
    "a blank line more": changed('"  from x" "\\n"', '"  from x\\n" "\\n"'),
    "the last line goes on": changed('"  from x" "\\n"', '"  from x y" "\\n"'),
    "it is indented": changed('"select 1 " "\\n"', '"  select 1 " "\\n"').replace('"  from', '"    from'),
    "its marks are indented": changed('"```sql" "\\n"', '"  ```sql" "\\n"'),
    "it is without marks": changed('                "```sql" "\\n"\n', "").replace('                "```" "\\n"\n', ""),
    "it is not closed": changed('                "```" "\\n"\n', ""),
    "its closing mark says more": changed('"```" "\\n"', '"```x" "\\n"'),
    "its closing mark is longer": changed('"```" "\\n"', '"````" "\\n"'),
    "its closing mark is another": changed('"```" "\\n"', '"~~~" "\\n"'),
    "its text is composed otherwise": changed("from x", "from \\u212b"),
    "it is in another order": changed(
        '"select 1 " "\\n"\n                "  from x" "\\n"', '"  from x" "\\n"\n                "select 1 " "\\n"'
    ),
    "its line ends are others": changed('"select 1 " "', '"select 1 \\r" "'),
    "it is in the title instead": SOURCE.replace(
        '                "select 1 " "\\n"\n                "  from x" "\\n"\n', ""
    ),
}


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG.keys())
def test_a_fence_that_is_not_there_word_for_word_is_lost(source: str) -> None:
    """Between fence marks, on lines of its own, nothing with it, and not a character changed."""
    assert faults(source) == [("fence", 0, 0)]


def test_each_place_serves_one_fence() -> None:
    """Two equal fences need two places: with one of them gone, one is lost."""
    sample = document(Step("集める", (Code("a\n"), "間", Code("a\n"))))
    source = module_of(sample).source
    assert faults(source, sample) == []
    part = '                "```text" "\\n"\n                "a" "\\n"\n                "```" "\\n"\n'
    assert source.count(part) == 2
    assert faults(source.replace(part, "", 1), sample) == [("fence", 0, 1)]


def test_a_fence_inside_another_fences_text_is_not_there() -> None:
    """A fence that shows fences does not stand in for them."""
    sample = document(Step("集める", (Code("a\n"), Code("```text\na\n```\n", "md"))))
    source = module_of(sample).source
    assert faults(source, sample) == []
    assert faults(
        source.replace(
            '                "```text" "\\n"\n                "a" "\\n"\n                "```" "\\n"\n', "", 1
        ),
        sample,
    ) == [("fence", 0, 0)]


def test_a_fence_in_another_phase_is_lost_in_its_own() -> None:
    """Each fence belongs to the instructions that its place decides."""
    sample = document(Step("一", (Code("a\n"),)), Step("二", (Code("b\n"),), number=2))
    source = module_of(sample).source
    assert faults(source, sample) == []
    swapped = (
        source.replace('"a" "\\n"', '"?" "\\n"').replace('"b" "\\n"', '"a" "\\n"').replace('"?" "\\n"', '"b" "\\n"')
    )
    assert faults(swapped, sample) == [("fence", 0, 0), ("fence", 1, 1)]


def test_a_fence_outside_all_phases_belongs_to_every_agent() -> None:
    """Lost in one agent's instructions, it is a fault of that phase alone (I1)."""
    sample = document(Step("一"), Step("二", number=2), Step("三", number=3, calls="他"), outside=(Code("共通\n"),))
    source = module_of(sample).source
    assert faults(source, sample) == []
    head, found, tail = source.rpartition('"共通" "\\n"')
    assert found
    assert faults(f'{head}"共通"{tail}', sample) == [("fence", 1, 0)]


def test_several_lost_fences_are_told_apart() -> None:
    """Each by its own index, in the document's order."""
    sample = document(Step("一", tuple(Code(f"{number}\n") for number in range(5))))
    source = module_of(sample).source.replace('"1" "\\n"', '"x" "\\n"').replace('"3" "\\n"', '""')
    assert faults(source, sample) == [("fence", 0, 1), ("fence", 0, 3)]


def test_marks_of_both_kinds_and_any_length_hold_a_fence() -> None:
    """Other generators may choose their own marks, as long as nothing inside closes them."""
    for opening, closing in (("~~~", "~~~"), ("`````sql title", "`````"), ("```", "``` \t")):
        assert missing_fences(f"文\n{opening}\na\n{closing}\n", [(7, "a\n")]) == []
    assert missing_fences("```\n```\na\n```\n```", [(7, "```\na\n```\n")]) == [7]


def test_crossing_and_nested_marks_do_not_double_a_place() -> None:
    """The closing mark of one place opens no other."""
    assert missing_fences("```\na\n```\nb\n```\n", [(0, "a\n"), (1, "b\n")]) == [1]
    assert missing_fences("````\n```\na\n```\n````\n```\na\n```\n", [(0, "```\na\n```\n"), (1, "a\n")]) == []


def test_blank_fences_are_not_looked_for() -> None:
    """They go nowhere (I1)."""
    sample = document(Step("一", (Code("\n \n"),)))
    assert faults(module_of(sample).source, sample) == []
