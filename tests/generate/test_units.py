"""What a phase's generation reads (R1, R2): nothing that may change without regenerating it is in a unit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.artifacts import Unit
from pipeline.stages import generate
from pipeline.stages.generate import expanded_size, oversize, units_of
from tests.generate.samples import (
    EXA,
    HISTORY,
    HITL,
    POST,
    SEARCH,
    SLACK,
    WEEKLY,
    Code,
    Document,
    Hand,
    Step,
    document,
    module_of,
)


def units(sample: Document) -> tuple[Unit | None, ...]:
    return units_of(sample.parsed, sample.resolved)


def unit(sample: Document, place: int = 0) -> Unit:
    found = units(sample)[place]
    assert found is not None
    return found


def test_a_unit_holds_the_shared_and_the_own_prose_with_fences_by_place() -> None:
    """Fences are numbered among those outside the phases, and among the phase's own; only their languages are there."""
    found = unit(WEEKLY)
    assert found.shared == ("# 週次報告", 0, "## 成果物\n\n一枚に収める。")
    assert found.shared_fences == ("text",)
    assert found.body == ("先週の投稿を読む。", 0, "足りなければ人に聞く。")
    assert found.own_fences == ("yaml",)


def test_a_calling_phase_has_no_unit() -> None:
    """It has no agent (I2)."""
    assert [entry is None for entry in units(WEEKLY)] == [False, False, True]


def test_a_unit_pins_what_its_phase_may_call_and_nothing_else() -> None:
    """An operation of another phase's tools regenerates only that one."""
    assert unit(WEEKLY, 0).pins == (POST, HISTORY)
    assert unit(WEEKLY, 1).pins == (SEARCH,)


def test_handovers_are_numbered_within_their_phase() -> None:
    """The dedicated tools' names do not depend on other phases."""
    step = Step("調べる", (Code("a\n", "ts"), Code("b\n", "ts")), (), (Hand(0), Hand(1)))
    sample = document(step, replace(step, number=2))
    assert [entry.name for entry in unit(sample, 1).handovers] == ["handover_1", "handover_2"]
    assert [entry.fence for entry in unit(sample, 1).handovers] == [0, 1]
    assert unit(sample, 1).handovers[0].written == Hand().written


def test_the_number_and_the_place_of_a_phase_are_not_in_its_unit() -> None:
    """Renumbering, moving and inserting phases regenerates none of the others (R2)."""
    collect, send = (
        Step("集める", ("読む。", Code("a\n")), (SLACK,)),
        Step("送る", ("送る。", Code("b\n")), (HITL,), number=2),
    )
    before = units(document(collect, send))
    after = units(document(replace(send, number=1), Step("挟む", number=3), replace(collect, number=7)))
    assert before == (after[2], after[0])


def test_a_fences_text_is_not_in_any_unit() -> None:
    """A changed fence, in a phase or outside all phases, regenerates nothing (I4)."""
    step = Step("集める", ("読む。", Code("a\n")), (), (Hand(),))
    before = document(step, outside=("前書き", Code("x\n")))
    after = document(replace(step, body=("読む。", Code("b\nc\n"))), outside=("前書き", Code("y\n")))
    assert units(before) == units(after)


def test_blank_fences_are_nowhere() -> None:
    """A fence of white space is not in the unit, and the next one has its number (I1)."""
    found = unit(document(Step("集める", ("一", Code(" \n"), "二", Code("a\n", "sql")))))
    assert found.body == ("一", "二", 0)
    assert found.own_fences == ("sql",)


def test_the_expanded_size_counts_shared_text_for_every_agent() -> None:
    """What stands outside all phases is in every agent's instructions, which no limit on the document bounds (I1)."""
    outside = ("あ" * 1000, Code("い" * 1000))
    steps = [Step(number=number) for number in range(1, 11)]
    alone, many = document(steps[0], outside=outside), document(*steps, outside=outside)
    assert expanded_size(alone.parsed, alone.resolved) >= 2000
    assert expanded_size(many.parsed, many.resolved) == 10 * expanded_size(alone.parsed, alone.resolved)


def test_the_expanded_size_is_about_the_modules() -> None:
    """Near enough for a limit, whether text is in long lines or in short ones, in prose, fences or hand-overs."""
    steps = [
        Step("書く", ("文。\n" * 300, Code("あ\n" * 500)), (SLACK,), (Hand(),), number=number) for number in range(5)
    ]
    for sample in (document(*steps), document(*steps, outside=("長い文。" * 3000,)), document(Step())):
        size = len(module_of(sample).source)
        assert 0.5 * size < expanded_size(sample.parsed, sample.resolved) < 2 * size


def test_what_is_too_large_is_found_at_any_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is known where it is above the limit, however rough the look is that spares most documents the count."""
    lines = Step("書く", ("文。\n" * 300, Code("あ\n" * 500)), (SLACK,), (Hand(),))
    blank = Step("書く", ("\n" * 300,), (SLACK,))
    for sample in (document(lines), document(blank, blank), document(lines, outside=("\n" * 3000,)), document(Step())):
        size = expanded_size(sample.parsed, sample.resolved)
        for limit, too_large in ((size - 1, size), (size, 0), (100 * size + 100_000, 0)):
            monkeypatch.setattr(generate, "MAX_INSTRUCTIONS", limit)
            assert oversize(sample.parsed, sample.resolved) == too_large


def test_the_expanded_size_counts_tools_and_handed_over_texts() -> None:
    """Each phase's list of operations and each text that a dedicated tool holds are written out."""
    plain = document(Step("集める", (Code("a" * 500, "ts"),)))
    handed = document(Step("集める", (Code("a" * 500, "ts"),), (EXA,), (Hand(),)))
    sizes = [expanded_size(sample.parsed, sample.resolved) for sample in (plain, handed)]
    assert sizes[1] - sizes[0] > 500
