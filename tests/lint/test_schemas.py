"""Schemas taken apart: which places hold schemas, what their keywords may be, where references lead."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_specifications import REGISTRY

from catalog.lint.schema.assertions import Undecided
from catalog.lint.schema.dialect import DRAFT_07, LATEST, Dialect
from catalog.lint.schema.evaluate import Budget, Evaluation
from catalog.lint.schema.graph import Graph
from catalog.lint.schema.wellformed import expectations, faults_of
from catalog.nodes import Json

from .suite import cases


def places(document: dict[str, Json], marks: tuple[str, ...]) -> dict[str, str]:
    """By keyword, how a meta-schema expects schemas there: `one`, `many`, `named`, or several of them."""
    found: dict[str, str] = {}
    properties = document.get("properties")
    for keyword, value in properties.items() if isinstance(properties, dict) else ():
        text = json.dumps(value)
        kinds: list[str] = []
        if not any(mark in text for mark in marks):
            continue
        parts = value.get("anyOf", [value]) if isinstance(value, dict) else []
        for part in parts:
            if "items" in part or "schemaArray" in json.dumps(part):
                kinds.append("many")
            elif "additionalProperties" in part:
                inner = json.dumps(part["additionalProperties"])
                kinds.append("named_or_names" if "anyOf" in inner else "named")
            else:
                kinds.append("one")
        found[keyword] = "_or_".join(kinds)
    return found


@pytest.mark.parametrize("dialect", [LATEST, DRAFT_07], ids=lambda dialect: dialect.name)
def test_schemas_are_looked_for_where_the_meta_schema_expects_them(dialect: Dialect) -> None:
    """No keyword is forgotten, and none taken for another kind."""
    expected: dict[str, str] = {}
    base = "https://json-schema.org/draft/2020-12/"
    names = [f"{base}schema", *(f"{base}meta/{part}" for part in ("core", "applicator", "unevaluated", "content"))]
    for address in names if dialect is LATEST else ["http://json-schema.org/draft-07/schema"]:
        expected |= places(REGISTRY.contents(address), ('"$dynamicRef": "#meta"', "schemaArray", '{"$ref": "#"}'))
    ours = {
        **dict.fromkeys(dialect.one, "one"),
        **dict.fromkeys(dialect.many, "many"),
        **dict.fromkeys(dialect.named, "named"),
        **dict.fromkeys(dialect.one_or_many, "one_or_many"),
        **dict.fromkeys(dialect.named_or_names, "named_or_names"),
    }
    assert ours == expected


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 2.0, "a", "(", "#", "string", "object"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "type"]), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.parametrize("dialect", [LATEST, DRAFT_07], ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_a_keyword_is_malformed_where_the_official_meta_schema_says_so(dialect: Dialect, data: st.DataObject) -> None:
    """As the library jsonschema evaluates it, keyword by keyword, with any value."""
    keyword = data.draw(st.sampled_from(sorted(expectations(dialect))))
    schema: dict[str, Json] = {keyword: data.draw(values)}
    known = jsonschema.Draft202012Validator if dialect is LATEST else jsonschema.Draft7Validator
    graph = Graph({"$schema": known.META_SCHEMA["$id"], **schema}, ())
    ours = bool(graph.malformed) or (keyword == "required" and _repeats(schema["required"]))
    if keyword != "$schema":
        assert ours == (not known(known.META_SCHEMA).is_valid(schema))


def _repeats(value: Json) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) for name in value)
        and len(set(map(str, value))) < len(value)
    )


def test_a_fault_says_what_the_meta_schema_says() -> None:
    """As JSON, so that nobody has to translate it."""
    assert faults_of({"maxLength": -1, "minLength": 1, "title": 5}, LATEST) == {
        "maxLength": '{"type":"integer","minimum":0}',
        "title": '{"type":"string"}',
    }


@pytest.mark.parametrize("name", ["a", "a~b", "a/b", "100%", "ä", "", "0"])
def test_a_pointer_leads_to_a_definition_of_any_name(name: str) -> None:
    """Escaped as RFC 6901 and URI fragments have it."""
    escaped = name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
    graph = Graph({"$defs": {name: {"type": "string"}}, "$ref": f"#/$defs/{escaped}"}, ())
    assert not graph.lost
    assert graph.target(graph.root) is graph.nodes[1]


@pytest.mark.parametrize(
    ("reference", "outside"),
    [
        ("#/$defs/none", False),
        ("#/$defs/list/01", False),
        ("#/$defs/list/9", False),
        ("#/$defs/text/title/0", False),
        ("#anchor", False),
        ("other.json", True),
        ("https://example.com/schema", True),
        ("http://[", True),
        ("urn:uuid:deadbeef", True),
    ],
)
def test_a_reference_that_leads_nowhere(reference: str, outside: bool) -> None:
    """Within the schema, or out of it."""
    definitions: Json = {"list": {"enum": [1]}, "text": {"title": "abc"}}
    graph = Graph({"$defs": definitions, "$ref": reference}, ("inputSchema",))
    assert [(lost.path, lost.outside) for lost in graph.lost] == [(("inputSchema", "$ref"), outside)]


def test_what_only_a_reference_reaches_is_a_schema_too() -> None:
    """Under a keyword that nobody knows."""
    graph = Graph({"$ref": "#/x-shared/a", "x-shared": {"a": {"type": 5}}}, ("s",))
    assert [fault.path for fault in graph.malformed] == [("s", "x-shared", "a", "type")]


@pytest.mark.parametrize(
    ("schema", "value", "allowed"),
    [
        ({"items": [{"type": "string"}], "additionalItems": False}, ["a"], True),
        ({"items": [{"type": "string"}], "additionalItems": False}, ["a", 1], False),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, False),
        ({"definitions": {"t": {"$id": "#t", "type": "string"}}, "$ref": "#t", "type": "number"}, "a", True),
        ({"prefixItems": [False]}, [1], True),
        ({"contains": {"const": 1}, "minContains": 0}, [], False),
        ({"if": {"type": "string"}, "then": {"minLength": 2}}, "a", False),
    ],
)
def test_draft_07_has_its_own_rules(schema: dict[str, Json], value: Json, allowed: bool) -> None:
    """Lists as items, names as anchors, nothing beside $ref, and nothing that came later."""
    graph = Graph({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, ())
    assert not graph.malformed
    assert Evaluation(graph, Budget()).judge(graph.root.raw)(value) is allowed


def test_a_budget_ends_what_multiplies() -> None:
    """Thirty definitions that each ask the next one twice."""
    definitions: dict[str, Json] = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(30)}
    graph = Graph({"$defs": {**definitions, "d30": {}}, "$ref": "#/$defs/d0"}, ())
    with pytest.raises(Undecided):
        Evaluation(graph, Budget(10_000)).judge(graph.root.raw)(1)


def test_evaluating_changes_nothing() -> None:
    """Neither schema nor value."""
    for case in list(cases())[::10]:
        before = json.dumps([case.schema, case.tests])
        graph = Graph(case.schema, ())
        if not graph.malformed and not graph.lost:
            for value, _ in case.tests:
                Evaluation(graph, Budget()).judge(graph.root.raw)(value)
        assert json.dumps([case.schema, case.tests]) == before
