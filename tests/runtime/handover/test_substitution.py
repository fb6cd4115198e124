"""Values in place of placeholders: one pass, the longest first, unquoted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.declarations import Json
from aop_runtime.handover.substitution import argument_names, input_schema, substitute, values_of
from aop_runtime.plane.validation import ArgumentValidator

_SIGNS = st.text(st.sampled_from("<>ab${}`\\\n\"'.*あ"), max_size=12)
_MARKS = st.lists(st.text(st.sampled_from("<>ab${}.*あ"), min_size=1, max_size=4), unique=True, max_size=5)


def _by_hand(text: str, values: dict[str, str]) -> str:
    """From left to right, sign by sign: an oracle that shares nothing with what it judges."""
    result, place = "", 0
    while place < len(text):
        here = ""
        for mark in values:
            if text[place : place + len(mark)] == mark and len(mark) > len(here):
                here = mark
        result += values[here] if here else text[place]
        place += max(len(here), 1)
    return result


@given(text=_SIGNS, marks=_MARKS, data=st.data())
def test_it_does_what_reading_from_left_to_right_does(text: str, marks: list[str], data: st.DataObject) -> None:
    """Whatever signs marks and values hold, and however marks overlap."""
    values = {mark: data.draw(_SIGNS) for mark in marks}
    assert substitute(text, values) == _by_hand(text, values)


@given(text=_SIGNS, marks=_MARKS)
def test_the_order_in_which_placeholders_are_declared_does_not_matter(text: str, marks: list[str]) -> None:
    """Only what stands in the text does."""
    values = {mark: mark.upper() + "!" for mark in marks}
    assert substitute(text, values) == substitute(text, dict(reversed(values.items())))


def test_the_longest_mark_wins_and_values_are_not_read_again() -> None:
    """A value that looks like a mark stays a value."""
    assert substitute("<a> <ab>", {"<a": "1", "<ab>": "<a", "<a>": "<ab>"}) == "<ab> <a"


def test_nothing_is_quoted() -> None:
    """The text says how values are quoted, and gets them as they are."""
    value = "\"'`${process.exit()}\n\\1 \\g<0> \u2028"
    assert substitute("q = '<x>' and <x>", {"<x>": value}) == f"q = '{value}' and {value}"


@given(marks=_MARKS)
def test_the_schema_has_one_text_a_placeholder_and_nothing_else(marks: list[str]) -> None:
    """ASCII names in the order declared, the mark as the title, all required."""
    schema = input_schema(marks)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == schema["required"] == [f"value_{n}" for n in range(1, len(marks) + 1)]
    assert [entry["title"] for entry in properties.values() if isinstance(entry, dict)] == marks
    for entry in properties.values():
        assert isinstance(entry, dict)
        assert set(entry) == {"type", "title", "maxLength"}
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    "arguments",
    [{}, {"value_1": "a"}, {"value_1": "a", "value_2": 1}, {"value_1": "a", "value_2": "b", "value_3": "c"},
     {"value_1": "a", "value_2": None}, {"<検索語>": "a", "value_2": "b"}, {"value_1": "a", "value_2": "x" * 100_001},
     {"value_1": "a", "value_2": "b", "__proto__": "c"}],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused_by_schema_and_handler_alike(arguments: dict[str, Json]) -> None:
    """Missing, unknown, no text, too long."""
    marks = ["<検索語>", "<件数>"]
    assert ArgumentValidator(input_schema(marks)).faults(arguments)
    with pytest.raises(ValueError, match="value"):
        values_of(arguments, marks)


@given(marks=_MARKS, data=st.data())
def test_arguments_that_fit_are_the_values(marks: list[str], data: st.DataObject) -> None:
    """By mark, as they are."""
    arguments: dict[str, Json] = {name: data.draw(_SIGNS) for name in argument_names(marks)}
    assert not ArgumentValidator(input_schema(marks)).faults(arguments)
    assert list(values_of(arguments, marks).items()) == list(zip(marks, arguments.values(), strict=True))
