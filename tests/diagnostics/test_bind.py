"""Findings become diagnostics: placed, put into words, in order (O2, O3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.diagnostics.bind import Diagnostic, bind, place
from pipeline.diagnostics.codes import CODES
from pipeline.diagnostics.findings import Finding
from pipeline.places import At, Positions, Span

from .test_pages import NOT_BY_A_DOCUMENT

POSITIONS: Positions = (Span(3, 14, 3, 19), Span(5, 1, 7, 4), Span(5, 1, 5, 9))


def unclosed(at: At | None) -> Finding:
    return Finding("fence-unclosed", at)


def test_a_diagnostic_has_exactly_the_keys_of_the_result() -> None:
    """O2's keys, in O2's order."""
    keys = "code name severity message help suggestions line column end_line end_column phase"
    assert list(Diagnostic._fields) == keys.split()


def test_nothing_found_is_nothing_bound() -> None:
    """The usual case."""
    assert bind((), POSITIONS, "ja") == []


def test_a_finding_is_bound_to_its_anchor() -> None:
    """Position, words, suggestions and phase come together."""
    arguments = (("item", "会計ソフト"), ("declaration", "(使う道具: 会計ソフト)"))
    (bound,) = bind([Finding("tool-unreadable", At(0), 1, arguments, ("freee",))], POSITIONS, "ja")
    assert (bound.code, bound.name, bound.severity) == ("AOP201", "tool-unreadable", "error")
    assert (bound.line, bound.column, bound.end_line, bound.end_column) == (3, 14, 3, 19)
    assert bound.message == "フェーズ 1 の宣言「(使う道具: 会計ソフト)」の「会計ソフト」は、道具として読めません。"
    assert bound.help.endswith("候補: 「freee」。")
    assert bound.suggestions == ("freee",)
    assert bound.phase == 1


@pytest.mark.parametrize(
    ("at", "span"),
    [
        (At(1), Span(5, 1, 7, 4)),
        (At(1, 2), Span(5, 3, 7, 4)),
        (At(1, 2, 5), Span(5, 3, 5, 6)),
        (At(0, 0, 0), Span(3, 14, 3, 14)),
    ],
)
def test_a_part_of_an_anchor(at: At, span: Span) -> None:
    """A part lies on the anchor's first line; without an end it reaches to the anchor's end."""
    assert place(at, POSITIONS) == span


def test_no_position_is_four_nulls_and_comes_first() -> None:
    """F3: a document that cannot be read has no position."""
    first, second = bind([unclosed(At(0)), Finding("document-unreadable", None, variant="encoding")], POSITIONS, "en")
    assert first.name == "document-unreadable"
    assert (first.line, first.column, first.end_line, first.end_column) == (None, None, None, None)
    assert second.line == 3


def test_ties_sort_by_code_then_by_detection() -> None:
    """O3: line, column, code, order of detection."""
    found = [
        Finding("call-several", At(2), 1, (("written", "c"),)),
        Finding("placeholder-missing", At(2), 1, (("written", "b"), ("placeholder", "2"))),
        Finding("placeholder-missing", At(1), 1, (("written", "b"), ("placeholder", "1"))),
        Finding("placeholder-empty", At(1), 1, (("written", "a"),)),
        unclosed(At(0)),
    ]
    bound = bind(found, POSITIONS, "en")
    assert [entry.code for entry in bound] == ["AOP101", "AOP309", "AOP311", "AOP311", "AOP504"]
    assert [("`2`" in entry.message, "`1`" in entry.message) for entry in bound[2:4]] == [(True, False), (False, True)]


def test_a_policy_may_make_an_error_of_drift() -> None:
    """AOP406 is a warning or an error, by policy."""
    drift = NOT_BY_A_DOCUMENT["tool-drifted"]
    assert bind([drift], POSITIONS, "ja")[0].severity == "warning"
    assert not drift.fails
    blocked = drift._replace(severity="error")
    assert bind([blocked], POSITIONS, "ja")[0].severity == "error"
    assert blocked.fails


@given(st.lists(st.one_of(st.none(), st.integers(0, 2)), max_size=20), st.sampled_from(["ja", "en"]))
def test_the_order_is_total_and_stable(anchors: list[int | None], lang: str) -> None:
    """Whatever the order of detection, positions never decrease, and equal ones keep their order."""
    found = [unclosed(None if anchor is None else At(anchor)) for anchor in anchors]
    bound = bind(found, POSITIONS, "ja" if lang == "ja" else "en")
    keys = [(entry.line or 0, entry.column or 0) for entry in bound]
    assert keys == sorted(keys)
    assert all(entry.severity == CODES[entry.name].severity for entry in bound)
