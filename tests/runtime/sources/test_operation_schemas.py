"""Schemas of operations: closed, compared, and without what could hold an evaluator up."""

from __future__ import annotations

import json
import time

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.declarations import Json
from aop_runtime.sources.misfit import misfit
from aop_runtime.sources.schemas import closed, depth, digest, gone, without_patterns

STRING = {"type": "string"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": STRING}},
        {"properties": {"a": STRING}, "additionalProperties": True},
        {"type": "object", "properties": {"a": STRING}, "additionalProperties": {}},
        {"type": "object", "allOf": [{"properties": {"a": STRING}}], "additionalProperties": True},
        {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object", "properties": {"a": STRING}}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": STRING}},
    ],
)
def test_a_closed_schema_allows_what_it_names_and_no_more(schema: dict[str, object]) -> None:
    """Also where only a part of it names the argument."""
    made = closed(schema)  # type: ignore[arg-type]
    assert misfit({"a": "x"}, made) is None
    assert "no further fields" in str(misfit({"a": "x", "b": 1}, made))
    assert closed(made) == made


def test_an_argument_can_be_left_out() -> None:
    """The one that the plane fills in."""
    made = closed({"type": "object", "properties": {"a": STRING, "key": STRING}, "required": ["a", "key"]}, ("key",))
    assert made["required"] == ["a"]
    assert misfit({"a": "x", "key": "y"}, made) is not None


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({"a": STRING}, {"a": STRING}, None),
        ({"a": STRING}, {"a": STRING, "b": STRING}, None),
        ({"a": STRING, "b": STRING}, {"b": STRING}, "a"),
        ({"a": {"properties": {"b": {}, "c": {}}}}, {"a": {"properties": {"b": {}}}}, "a.c"),
        ({"a": {"items": {"properties": {"b": {}, "c": {}}}}}, {"a": {"items": {"properties": {"c": {}}}}}, "a[].b"),
        ({"a": {"properties": {"b": {}}}}, {"a": {"type": "object"}}, None),
        (
            {"a": {"properties": {"b": {}}}},
            {"a": {"anyOf": [{"properties": {"b": {}}}], "properties": {"c": {}}}},
            None,
        ),
    ],
)
def test_an_argument_that_is_gone(before: dict[str, object], now: dict[str, object], expected: str | None) -> None:
    """By its place; where it may be elsewhere, nobody claims that it is gone."""
    assert gone({"properties": before}, {"properties": now}) == expected  # type: ignore[dict-item]


def test_references_within_the_schema_are_followed() -> None:
    """To arguments, and round in a circle without an end."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "value": STRING}}
    live = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    before = {"properties": {"list": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    assert gone(before, {**before}) is None  # type: ignore[dict-item, arg-type]
    assert gone(before, {**before, "$defs": {"node": live}}) == "list.value"  # type: ignore[dict-item, arg-type]
    assert gone({"$ref": "#/$ref"}, {"$ref": "#"}) is None


def test_a_hostile_pattern_takes_no_time() -> None:
    """A server's regular expression is never run."""
    schema = {
        "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}, "pattern": STRING},
        "patternProperties": {"^(b+)+$": {}},
        "additionalProperties": False,
        "not": {"properties": {"a": {"pattern": "(c+)+d"}}},
    }
    before = time.process_time()
    plain = without_patterns(schema)  # type: ignore[arg-type]
    assert misfit({"a": "a" * 40 + "!", "b" * 40 + "!": 1}, plain) is None  # type: ignore[arg-type]
    assert time.process_time() - before < 60  # else it would not end
    assert plain == {"properties": {"a": {"type": "string"}, "pattern": STRING}}


SCHEMAS = st.recursive(
    st.sampled_from(
        [{}, STRING, {"type": "integer"}, {"pattern": "a"}, {"patternProperties": {"a": {"type": "null"}}}, True]
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"items": inner, "additionalProperties": inner}),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.sampled_from(["a", "b", 1, None]),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=5,
)


@given(SCHEMAS, VALUES)
def test_leaving_patterns_out_refuses_nothing_more(schema: object, value: object) -> None:
    """Whatever a server's whole schema allows is allowed."""
    whole = jsonschema.Draft202012Validator(schema)  # type: ignore[arg-type]
    if whole.is_valid(value):
        assert jsonschema.Draft202012Validator(without_patterns(schema)).is_valid(value)  # type: ignore[arg-type]


@given(VALUES)
def test_digest_and_depth(value: object) -> None:
    """Of any JSON value, whatever the order of its keys."""
    turned = json.loads(json.dumps(value), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert digest(value) == digest(turned)  # type: ignore[arg-type]
    assert 1 <= depth(value) <= 20  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "schema", "said"),
    [
        ({}, {"required": ["a"]}, "'a' is a required property"),
        ({"a": ["geheim"]}, {"properties": {"a": {"items": {"type": "integer"}}}}, "a[0]: type: integer"),
        (1, {"type": "no-such-type"}, "no JSON Schema"),
        (1, {"$ref": "https://elsewhere.example/schema"}, "refers to what is not in it"),
        (1, {"$ref": "#"}, "circle"),
    ],
)
def test_what_does_not_fit_is_told_without_the_value(value: object, schema: dict[str, object], said: str) -> None:
    """And a schema that cannot be used is no crash."""
    told = str(misfit(value, schema))  # type: ignore[arg-type]
    assert said in told
    assert "geheim" not in told


def test_a_strangers_schema_holds_nobody_up() -> None:
    """Where each level doubles the work, or an evaluator would compare everything with everything."""
    node: dict[str, Json] = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}
    schema: dict[str, Json] = {
        "$defs": {"n": {"anyOf": [{**node, "required": ["b"]}, {**node, "required": ["c"]}]}},
        "$ref": "#/$defs/n",
    }
    value: dict[str, Json] = {}
    for _ in range(40):
        value = {"a": value}
    assert "too long" in str(misfit(value, schema))
    items: list[Json] = [{"x": place} for place in range(50_000)]
    assert misfit(items, {"uniqueItems": True}) is None
    old: dict[str, Json] = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}
    assert misfit(["a", 1], old) is None
    assert misfit([1], old) is not None
