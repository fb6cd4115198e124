"""What became of an operation's arguments, and whether earlier calls may be refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from catalog.nodes import Json
from catalog.schema_change import ArgumentChange, compare_schemas

TEXT: Json = {"type": "string"}


def arguments(properties: dict[str, Json], *required: str, **more: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(required), **more}


CASES: tuple[tuple[str, Json, Json, tuple[tuple[str, str, bool], ...]], ...] = (
    ("a new required argument", arguments({}), arguments({"a": TEXT}, "a"), (("a", "added", True),)),
    ("a new optional argument", arguments({}), arguments({"a": TEXT}), (("a", "added", False),)),
    ("an argument that is gone", arguments({"a": TEXT}), arguments({}), (("a", "removed", True),)),
    ("required now", arguments({"a": TEXT}), arguments({"a": TEXT}, "a"), (("a", "required", True),)),
    ("optional now", arguments({"a": TEXT}, "a"), arguments({"a": TEXT}), (("a", "optional", False),)),
    ("a narrower type", arguments({"a": {}}), arguments({"a": TEXT}), (("a", "type", True),)),
    ("a wider type", arguments({"a": TEXT}), arguments({"a": {"type": ["string", "null"]}}), (("a", "type", False),)),
    (
        "every integer is a number",
        arguments({"a": {"type": "integer"}}),
        arguments({"a": {"type": "number"}}),
        (("a", "type", False),),
    ),
    (
        "not every number is an integer",
        arguments({"a": {"type": "number"}}),
        arguments({"a": {"type": "integer"}}),
        (("a", "type", True),),
    ),
    ("another type", arguments({"a": TEXT}), arguments({"a": {"type": "array"}}), (("a", "type", True),)),
    ("an enum where there was none", arguments({"a": {}}), arguments({"a": {"enum": [1]}}), (("a", "enum", True),)),
    (
        "a choice less",
        arguments({"a": {"enum": ["x", "y"]}}),
        arguments({"a": {"enum": ["x"]}}),
        (("a", "enum", True),),
    ),
    (
        "a choice more",
        arguments({"a": {"enum": ["x"]}}),
        arguments({"a": {"enum": ["y", "x"]}}),
        (("a", "enum", False),),
    ),
    ("true is not 1", arguments({"a": {"const": 1}}), arguments({"a": {"const": True}}), (("a", "enum", True),)),
    (
        "a tighter bound",
        arguments({"a": {"type": "string", "maxLength": 9}}),
        arguments({"a": {"type": "string", "maxLength": 5}}),
        (("a", "bounds", True),),
    ),
    (
        "a looser bound",
        arguments({"a": {"minimum": 1}}),
        arguments({"a": {"minimum": 0}}),
        (("a", "bounds", False),),
    ),
    ("a new bound", arguments({"a": {}}), arguments({"a": {"minItems": 0}}), (("a", "bounds", True),)),
    ("a pattern", arguments({"a": TEXT}), arguments({"a": {**TEXT, "pattern": "^a"}}), (("a", "bounds", True),)),  # type: ignore[dict-item]
    ("closed", arguments({}), arguments({}, additionalProperties=False), (("", "closed", True),)),
    ("opened", arguments({}, additionalProperties=False), arguments({}), (("", "opened", False),)),
    (
        "an argument's description",
        arguments({"a": {"type": "string", "description": "x"}}),
        arguments({"a": {"type": "string", "description": "y"}}),
        (("a", "described", False),),
    ),
    (
        "a default",
        arguments({"a": {"default": 1}}),
        arguments({"a": {"default": 2}}),
        (("a", "default", False),),
    ),
    (
        "below an array and an object",
        arguments({"a": {"type": "array", "items": arguments({"b": TEXT})}}),
        arguments({"a": {"type": "array", "items": arguments({"b": TEXT}, "b")}}),
        (("a[].b", "required", True),),
    ),
    (
        "an alternative more",
        arguments({"a": {"anyOf": [TEXT]}}),
        arguments({"a": {"anyOf": [TEXT, {"type": "null"}]}}),
        (("a", "type", False),),
    ),
    (
        "an alternative less",
        arguments({"a": {"anyOf": [TEXT, {"type": "null"}]}}),
        arguments({"a": {"anyOf": [TEXT]}}),
        (("a", "type", True),),
    ),
    (
        "a definition that is referred to",
        arguments({"a": {"$ref": "#/$defs/x"}}, **{"$defs": {"x": TEXT}}),
        arguments({"a": {"$ref": "#/$defs/x"}}, **{"$defs": {"x": {"type": "null"}}}),
        (("", "type", True),),
    ),
    (
        "an argument of a pattern",
        {"patternProperties": {"^a": {}}},
        {"patternProperties": {"^a": {}}, "properties": {"a": TEXT}},
        (("a", "added", True),),
    ),
    (
        "an argument among others",
        {"additionalProperties": TEXT},
        {"additionalProperties": TEXT, "properties": {"a": {"type": "null"}}},
        (("a", "added", True),),
    ),
    (
        "an argument as the others",
        {"additionalProperties": TEXT},
        {"additionalProperties": TEXT, "properties": {"a": TEXT}},
        (("a", "added", False),),
    ),
    (
        "an enum beside a constant",
        arguments({"a": {"const": 1, "enum": [1]}}),
        arguments({"a": {"const": 1, "enum": [2]}}),
        (("a", "enum", True),),
    ),
    (
        "no fewest of contained",
        arguments({"a": {"contains": TEXT, "minContains": 0}}),
        arguments({"a": {"contains": TEXT}}),
        (("a", "bounds", True),),
    ),
    (
        "first items go",
        arguments({"a": {"prefixItems": [TEXT], "items": {"type": "null"}}}),
        arguments({"a": {"items": {"type": "null"}}}),
        (("a", "other", True),),
    ),
    (
        "items one by one",
        arguments({"a": {"items": [TEXT]}}),
        arguments({"a": {"items": [{"type": "null"}]}}),
        (("a[]", "other", True),),
    ),
    (
        "more in one of several",
        arguments({"a": {"oneOf": [TEXT, {"type": "null"}]}}),
        arguments({"a": {"oneOf": [{}, {"type": "null"}]}}),
        (("a", "type", True),),
    ),
    (
        "more in what is excluded",
        arguments({"a": {"not": {"$ref": "#/$defs/x"}}}, **{"$defs": {"x": TEXT}}),
        arguments({"a": {"not": {"$ref": "#/$defs/x"}}}, **{"$defs": {"x": {}}}),
        (("", "type", True),),
    ),
    (
        "what is evaluated",
        {"items": {}, "unevaluatedItems": False},
        {"unevaluatedItems": False},
        (("", "other", True),),
    ),
    (
        "a definition that is gone",
        arguments({"a": {"$ref": "#/$defs/x"}}, **{"$defs": {"x": TEXT}}),
        arguments({"a": {"$ref": "#/$defs/x"}}, **{"$defs": {}}),
        (("", "other", True),),
    ),
    (
        "open in two spellings",
        arguments({"a": True}),
        arguments({"a": {"description": "x"}}),
        (("a", "described", False),),
    ),
    ("what nobody can judge", arguments({"a": {}}), arguments({"a": {"not": TEXT}}), (("a", "other", True),)),
    ("a schema where there was none", None, arguments({"a": TEXT}, "a"), (("", "type", True), ("a", "added", True))),
)


@pytest.mark.parametrize(("before", "now", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_change_is_named_and_judged(before: Json, now: Json, expected: tuple[tuple[str, str, bool], ...]) -> None:
    """Which argument, what about it, and whether calls break."""
    assert [tuple(change) for change in compare_schemas(before, now)] == list(expected)


SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 1.5, "", "a", "ab", "abc"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(["string", "integer", "number", "object", "array", "null", ["string", "null"]]),
    "enum": st.lists(SCALARS, min_size=1, max_size=4),
    "const": SCALARS,
    "minimum": st.integers(0, 2),
    "exclusiveMaximum": st.integers(0, 2),
    "minLength": st.integers(0, 2),
    "maxLength": st.integers(0, 2),
    "minItems": st.integers(0, 2),
    "maxProperties": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "pattern": st.sampled_from(["a", "b"]),
    "multipleOf": st.sampled_from([1, 2]),
    "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    "description": st.sampled_from(["x", "y"]),
    "default": SCALARS,
}


def _keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {
        **KEYWORDS,
        "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=1),
        "propertyNames": inner,
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=2),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
    }


def _parts(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """With what looks at other parts."""
    return {
        **_keywords(inner),
        "if": inner,
        "then": inner,
        "contains": inner,
        "minContains": st.integers(0, 2),
        "dependentSchemas": st.dictionaries(st.sampled_from("ab"), inner, max_size=1),
        "unevaluatedProperties": inner,
        "unevaluatedItems": inner,
        "$ref": st.just("#/$defs/x"),
    }


def schemas() -> st.SearchStrategy[Any]:
    return st.recursive(
        st.booleans() | st.fixed_dictionaries({}, optional=KEYWORDS),
        lambda inner: st.fixed_dictionaries({}, optional=_keywords(inner)),
        max_leaves=4,
    )


@given(schemas(), schemas(), st.lists(VALUES, min_size=1, max_size=8))
def test_what_is_not_breaking_breaks_nothing(before: Json, now: Json, values: list[Json]) -> None:
    """By an implementation that knows nothing of ours: what was valid before stays valid.

    Short of fields that were not declared: an argument that is new may have been sent before by somebody who guessed.
    """
    if any(change.breaking or change.change == "added" for change in compare_schemas(before, now)):
        return
    had, has = Draft202012Validator(before), Draft202012Validator(now)
    assert [value for value in values if had.is_valid(value) and not has.is_valid(value)] == []


PARTS = _parts(schemas())
WHOLE = st.fixed_dictionaries({}, optional=PARTS)


@st.composite
def edited(draw: st.DrawFn) -> tuple[Json, Json]:
    """A schema, and the same with some part of it drawn anew, put in or taken out: what a release changes."""
    before = {"$defs": {"x": draw(schemas())}, **draw(WHOLE)}
    now = copy.deepcopy(before)
    for _ in range(draw(st.integers(1, 2))):
        place: Any = now
        while isinstance(place, dict | list) and place:
            step = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else list(range(len(place)))))
            if not isinstance(place[step], dict | list) or not place[step] or draw(st.booleans()):
                break
            place = place[step]
        keyword = draw(st.sampled_from(sorted(PARTS)))
        if isinstance(place, list):
            place[draw(st.integers(0, len(place) - 1))] = draw(schemas())
        elif draw(st.booleans()) and place and place is not now:
            del place[draw(st.sampled_from(sorted(place)))]
        else:
            place[keyword] = draw(PARTS[keyword])
    # No schema, or one with references that go round or nowhere, is for a validator to refuse.
    assume(jsonschema_rs.meta.is_valid(now))
    assume("$ref" not in json.dumps(now["$defs"]) and set(now["$defs"]) == {"x"})
    return before, now


@given(edited(), st.lists(VALUES, min_size=1, max_size=8))
def test_what_an_edit_does_not_break_stays_valid(pair: tuple[Json, Json], values: list[Json]) -> None:
    """As above, of schemas that have nearly everything in common: with references and what evaluates."""
    before, now = pair
    had, has = Draft202012Validator(before), Draft202012Validator(now)
    changes = compare_schemas(before, now)
    if any(change.breaking or change.change == "added" for change in changes):
        return
    assert [value for value in values if had.is_valid(value) and not has.is_valid(value)] == []


@given(schemas())
def test_nothing_changed_is_no_change(schema: Json) -> None:
    """Whatever the schema."""
    assert compare_schemas(schema, schema) == ()


@given(schemas(), schemas())
def test_every_difference_is_a_change(before: Json, now: Json) -> None:
    """Nothing is passed over: schemas of different meaning or words are never equal."""
    if before != now and not compare_schemas(before, now):
        # Different spellings of one meaning.
        assert _plain(before) == _plain(now)


def _plain(schema: Json) -> Json:
    """Without what says nothing: an empty list of required, `true` for an open schema, false uniqueItems."""
    if schema is True:
        return {}
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Json] = {}
    for keyword, value in schema.items():
        if isinstance(value, dict):
            inner = _plain(value) if keyword not in ("properties", "patternProperties") else {
                name: _plain(entry) for name, entry in value.items()
            }  # fmt: skip
            if inner:
                found[keyword] = inner
        elif isinstance(value, list):
            listed = [_plain(entry) for entry in value]
            if keyword in ("enum", "type", "required"):
                listed = sorted({repr(entry): entry for entry in listed}.values(), key=repr)
            if listed or keyword not in ("required",):
                found[keyword] = listed
        elif not (value is True and keyword in ("additionalProperties", "items", "propertyNames")) and not (
            keyword == "uniqueItems" and not value
        ):
            found[keyword] = value
    if "const" in found:
        found.pop("enum", None)
    return found


def test_changes_are_named_once_and_in_order() -> None:
    """Two things about one argument, each once."""
    before = arguments({"b": {"minimum": 1, "maximum": 2}, "a": TEXT})
    now = arguments({"b": {"minimum": 2, "maximum": 1, "default": 1}, "a": {"type": "null"}})
    assert compare_schemas(before, now) == (
        ArgumentChange("a", "type", True),
        ArgumentChange("b", "bounds", True),
        ArgumentChange("b", "default", False),
    )
