"""Arguments against schemas: closed at every level, with an end, and with faults to correct oneself by."""

from __future__ import annotations

from typing import Any

import pytest

from aop_runtime.plane.validation import MOST_FAULTS, ArgumentValidator, UnusableSchema


def faults(schema: dict[str, Any], arguments: dict[str, Any]) -> list[tuple[Any, Any]]:
    return [(fault["path"], fault["problem"]) for fault in ArgumentValidator(schema).faults(arguments)]


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
    schema = {
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
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}}
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


def test_a_pattern_has_an_end() -> None:
    """One that would search for years refuses; names by pattern are not looked at."""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}},
        "patternProperties": {"^(b+)+$": {}},
    }
    assert faults(schema, {"a": "aaa"}) == []
    assert [path for path, _ in faults(schema, {"a": "a" * 60 + "!"})] == ["a"]
    assert [problem for _, problem in faults(schema, {"b" * 60 + "!": 1})] == ["unknown field"]


def test_faults_help_to_correct_oneself() -> None:
    """What is allowed, what was probably meant; at most ten of them."""
    schema = {
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
