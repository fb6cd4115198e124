"""Arguments against schemas: closed at every level, with an end, and with faults to correct oneself by."""

from __future__ import annotations

import time
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.plane.validation import MOST_FAULTS, ArgumentValidator, UnusableSchema

BUDGET_S = 0.3


def faults(schema: dict[str, Any], arguments: dict[str, Any]) -> list[tuple[Any, Any]]:
    found = ArgumentValidator(schema, BUDGET_S).faults(arguments)
    return [(fault["path"], fault["problem"]) for fault in found]


NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"b": {"type": "array", "items": {"properties": {"c": {}}}}}},
        "open": {"type": "object", "properties": {"x": {}}, "additionalProperties": True},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "any": {"type": "object"},
    },
}


def test_unknown_fields_are_refused_at_every_level_that_names_fields() -> None:
    """Unless the schema says itself that it takes them."""
    good = {"a": {"b": [{"c": 1}]}, "open": {"y": 1}, "map": {"k": 1}, "any": {"z": 1}}
    assert faults(NESTED, good) == []
    assert faults(NESTED, {"a": {"b": [{"d": 1}]}}) == [("a.b[0].d", "unknown field")]
    assert faults(NESTED, {"a": {"d": 1}}) == [("a.d", "unknown field")]
    assert faults(NESTED, {"map": {"k": "x"}}) == [("map.k", "wrong type")]


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf"])
def test_parts_of_a_schema_name_fields_together(key: str) -> None:
    """What any part that holds names is known; the rest is not."""
    schema = {"type": "object", "properties": {"a": {}}, key: [{"properties": {"b": {"type": "string"}}}]}
    assert faults(schema, {"a": 1, "b": "x"}) == []
    assert ("c", "unknown field") in faults(schema, {"a": 1, "c": 1})


def test_references_within_the_schema_are_followed() -> None:
    """Also recursive ones; what is referred to is closed as well."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "$defs": {
            "node": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}
        },
    }
    assert faults(schema, {"tree": {"kids": [{"kids": []}]}}) == []
    assert faults(schema, {"tree": {"kids": [{"kidz": []}]}}) == [("tree.kids[0].kidz", "unknown field")]


def test_nothing_outside_the_schema_is_fetched() -> None:
    """A reference that leads out of it makes it unusable."""
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}
    with pytest.raises(UnusableSchema):
        ArgumentValidator(schema).faults({"a": 1})


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"required": "a"}, {"properties": []}])
def test_what_is_no_schema_is_refused(schema: dict[str, Any]) -> None:
    """When the plane is made, not in the middle of a run."""
    with pytest.raises(UnusableSchema):
        ArgumentValidator(schema)


def test_a_schema_without_end_is_refused() -> None:
    """Nested, or going round in a circle."""
    deep: dict[str, Any] = {}
    for _ in range(1000):
        deep = {"properties": {"a": deep}}
    with pytest.raises(UnusableSchema):
        ArgumentValidator(deep)
    with pytest.raises(UnusableSchema):
        ArgumentValidator({"$ref": "#"}).faults({})


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a|aa)+$",
        "(.*a){12}$",
        "((((a{1000}){1000}){1000}){1000})",
        "(a*){1000000}",
        "(?<=a+)b",
    ],
)
def test_a_pattern_has_an_end(pattern: str) -> None:
    """One that would search for years, or take all memory, refuses the value or is left to the server."""
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"pattern": pattern}}}}
    before = time.process_time()
    faults(schema, {"a": ["a" * 2_000 + "!"] * 1_000})
    assert time.process_time() - before < 5 * BUDGET_S


@pytest.mark.parametrize(
    ("pattern", "fits", "refused"),
    [
        (r"^\d+$", "12", "12\n"),
        (r"^\d+$", "12", "１２"),
        (r"^[\w$]+$", "a_$", "é"),
        (r"^[[\]]$", "[", "[["),
        (r"^\u3042$", "あ", "い"),
        (r"^\p{L}\/$", "あ/", "1/"),
    ],
)
def test_patterns_are_those_of_ecma_262(pattern: str, fits: str, refused: str) -> None:
    """Of which JSON Schema speaks."""
    schema = {"type": "object", "properties": {"a": {"pattern": pattern}}}
    assert faults(schema, {"a": fits}) == []
    assert faults(schema, {"a": refused}) == [("a", "pattern")]


def test_names_may_be_given_by_patterns() -> None:
    """Others are unknown; where parts of a schema name fields together, the patterns are not looked at."""
    schema: dict[str, Any] = {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}}
    assert faults(schema, {"x-a": 1}) == []
    assert faults(schema, {"x-a": "1", "y": 1}) == [("y", "unknown field"), ("x-a", "wrong type")]
    assert faults({**schema, "additionalProperties": {"type": "string"}}, {"x-a": 1, "y": "z"}) == []
    assert faults({**schema, "allOf": [{"properties": {"a": {}}}]}, {"a": 1, "x-a": 1}) == [("x-a", "unknown field")]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, [{"x": place} for place in range(100_000)]),
        ({"items": {"enum": [{"x": place} for place in range(300)]}}, [{"x": 0}] * 100_000),
        ({"items": {"type": "object", "properties": {"x": {"type": "integer"}}}}, [{"x": 1}] * 200_000),
    ],
)
def test_large_values_have_an_end(schema: dict[str, Any], value: object) -> None:
    """Checked, or refused as taking too long."""
    before = time.process_time()
    found = faults({"type": "object", "properties": {"a": schema}}, {"a": value})
    assert time.process_time() - before < 5 * BUDGET_S
    assert found in ([], [("", "takes too long to check")])


def test_branches_without_end_are_given_up() -> None:
    """Where each level doubles the work."""
    node = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}
    schema = {"$defs": {"n": {"anyOf": [node, {**node, "required": ["b"]}]}}, "$ref": "#/$defs/n"}
    value: dict[str, Any] = {}
    for _ in range(60):
        value = {"a": value}
    before = time.process_time()
    assert faults(schema, value) == [("", "takes too long to check")]
    assert time.process_time() - before < 5 * BUDGET_S


def test_what_earlier_drafts_wrote_is_understood() -> None:
    """Many servers still list such schemas."""
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False},
            "n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            "a": {"$ref": "#/definitions/a"},
            "card": {},
            "bill": {},
        },
        "definitions": {"a": {"type": "object", "properties": {"b": {}}}},
        "dependencies": {"card": ["bill"]},
    }
    assert faults(schema, {"pair": ["a", 1], "n": 1, "a": {"b": 1}, "card": 1, "bill": 1}) == []
    assert faults(schema, {"pair": [1, "a"]}) == [("pair[0]", "wrong type"), ("pair[1]", "wrong type")]
    assert faults(schema, {"pair": ["a", 1, 2]}) == [("pair", "items")]
    assert faults(schema, {"n": 0}) == [("n", "exclusiveMinimum")]
    assert faults(schema, {"a": {"c": 1}}) == [("a.c", "unknown field")]
    assert faults(schema, {"card": 1}) == [("", "dependentRequired")]
    assert faults(schema, {"x": 1}) == [("x", "unknown field")]


def test_numbers_are_compared_as_they_are_written() -> None:
    """Of any size."""
    schema = {"type": "object", "properties": {"a": {"multipleOf": 0.1}, "b": {"uniqueItems": True}}}
    assert faults(schema, {"a": 0.3}) == []
    assert faults(schema, {"a": 10**399}) == []
    assert faults(schema, {"a": 0.35}) == [("a", "multipleOf")]
    assert faults(schema, {"b": [1, 1.0]}) == [("b", "uniqueItems")]
    assert faults(schema, {"b": [1, True, "1", [1], {"a": 1}]}) == []


@pytest.mark.parametrize(
    ("name", "fits", "refused"),
    [
        ("date", "2026-02-28", "2026-02-30"),
        ("date", "2026-02-28", "20260228"),
        ("time", "09:30:00+09:00", "9:30"),
        ("date-time", "2026-12-31T23:59:60Z", "2026-01-01T10:00:00"),
        ("email", "a@example.com", "a@b@c"),
        ("uuid", "6d2c1f0e-5a0b-4c8f-9d43-0a3f6d1c7b52", "6d2c1f0e5a0b4c8f9d430a3f6d1c7b52----"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "::1%eth0"),
        ("email", "a@b", "a@" + "b" * 1_000_000),
    ],
)
def test_formats_are_held_to(name: str, fits: str, refused: str) -> None:
    """Those that can be told in no time; the others are remarks."""
    schema = {"type": "object", "properties": {"a": {"format": name}, "b": {"format": "colour"}}}
    assert faults(schema, {"a": fits, "b": "?"}) == []
    assert faults(schema, {"a": refused}) == [("a", "format")]


def test_of_several_shapes_the_one_that_was_meant_is_told() -> None:
    """By its type, where that can be told."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "b": {"oneOf": [{"type": "object", "properties": {"q": {"type": "integer"}}}, {"type": "null"}]},
            "c": {"oneOf": [{"type": "integer"}, {"minimum": 1}]},
        },
    }
    assert ArgumentValidator(schema).faults({"a": 1}) == [
        {"path": "a", "problem": "wrong type", "expected": "string or null"}
    ]
    assert faults(schema, {"b": {"q": "x"}}) == [("b.q", "wrong type")]
    assert faults(schema, {"c": 2}) == [("c", "fits more than one of the allowed shapes")]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
plain = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"]),
        "enum": st.lists(values, min_size=1, max_size=3),
        "const": values,
        "minimum": st.integers(-3, 3),
        "multipleOf": st.integers(1, 3),
        "minLength": st.integers(0, 3),
        "maxItems": st.integers(0, 3),
        "uniqueItems": st.booleans(),
        "required": st.lists(st.sampled_from("ab"), max_size=2, unique=True),
    },
)
schemas = st.recursive(
    plain,
    lambda inner: st.builds(
        lambda base, more: {**base, **more},
        plain,
        st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
                "items": inner,
                "anyOf": st.lists(inner, min_size=1, max_size=2),
                "allOf": st.lists(inner, min_size=1, max_size=2),
            },
        ),
    ),
    max_leaves=6,
)


@given(schemas, st.dictionaries(st.sampled_from("abcd"), values, max_size=3))
def test_what_fits_here_fits_the_schema(schema: dict[str, Any], value: dict[str, Any]) -> None:
    """An independent evaluator agrees about everything that we let pass."""
    allowed = jsonschema_rs.Draft202012Validator(schema).is_valid(value)
    found = ArgumentValidator(schema).faults(value)
    assert len(found) <= MOST_FAULTS
    assert allowed or found


def test_faults_help_to_correct_oneself() -> None:
    """What is allowed, what was probably meant; at most ten of them."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"channel": {"enum": ["a", "b"]}, "text": {"type": "string", "maxLength": 3}},
        "required": ["text"],
    }
    found = ArgumentValidator(schema).faults({"channel": "c", "txet": 1})
    assert sorted(found, key=lambda fault: str(fault["path"])) == [
        {"path": "channel", "problem": "not one of the allowed values", "allowed": ["a", "b"]},
        {"path": "text", "problem": "missing", "expected": "a value"},
        {"path": "txet", "problem": "unknown field", "allowed": ["channel", "text"], "did_you_mean": "text"},
    ]
    assert len(ArgumentValidator(schema).faults({f"x{number}": 1 for number in range(100)})) <= MOST_FAULTS
    assert faults(schema, {"text": "long"}) == [("text", "maxLength")]


def test_a_truth_value_is_no_number() -> None:
    """And a whole number may be written with a point."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert faults(schema, {"n": True}) == [("n", "wrong type")]
    assert faults(schema, {"n": 1.0}) == []
