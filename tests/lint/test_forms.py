"""The forms in which tools come, and that each is linted where it stands."""

from __future__ import annotations

import pytest

from catalog.lint.lint import lint
from catalog.lint.pointer import to_text
from catalog.nodes import Json

SCHEMA: Json = {"type": "object", "properties": {"a~/b": {"type": "string"}}}
WORDS: dict[str, Json] = {"name": "get_report", "description": "Returns one of the reports of last month."}
MCP: Json = {**WORDS, "inputSchema": SCHEMA}
SNAKE: Json = {**WORDS, "input_schema": SCHEMA}
FUNCTION: Json = {**WORDS, "parameters": SCHEMA}

FORMS: dict[str, tuple[Json, list[str]]] = {
    "mcp": (MCP, ["/inputSchema"]),
    "input_schema": (SNAKE, ["/input_schema"]),
    "function": ({"type": "function", "function": FUNCTION}, ["/function/parameters"]),
    "function without its type": ({"function": FUNCTION}, ["/function/parameters"]),
    "flat function": ({"type": "function", **WORDS, "parameters": SCHEMA}, ["/parameters"]),
    "list": ([MCP, {**WORDS, "name": "list_reports", "input_schema": SCHEMA}], ["/0/inputSchema", "/1/input_schema"]),
    "tools": ({"tools": [MCP], "nextCursor": "x"}, ["/tools/0/inputSchema"]),
    "answer": ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}}, ["/result/tools/0/inputSchema"]),
    "pages": (
        [
            {"result": {"tools": [MCP]}},
            {"result": {"tools": [{**WORDS, "name": "list_reports", "inputSchema": SCHEMA}]}},
        ],
        ["/0/result/tools/0/inputSchema", "/1/result/tools/0/inputSchema"],
    ),
    "named server": ({"name": "reports", "tools": [MCP]}, ["/tools/0/inputSchema"]),
    "catalog": (
        {"version": 1, "tools": [{"name": "reports", "kind": "mcp", "operations": [SNAKE]}]},
        ["/tools/0/operations/0/input_schema"],
    ),
    "request": (
        {"model": "m", "messages": [], "tools": [{"type": "function", "function": FUNCTION}]},
        ["/tools/0/function/parameters"],
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_schema_of_a_form_is_linted_where_it_stands(form: str) -> None:
    """An open object and a text without limit are found in each, by their JSON pointers."""
    value, places = FORMS[form]
    report = lint(value)
    assert report.structurally_valid
    found = [(finding.rule.id, to_text(finding.path)) for finding in report.findings]
    assert [path for rule, path in found if rule == "TSL208"] == places
    assert [path for rule, path in found if rule == "TSL209"] == [f"{place}/properties/a~0~1b" for place in places]


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"tools": []},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}},
        {"version": 1, "tools": [{"name": "hitl", "kind": "standard"}]},
        {"version": 1, "tools": [{"name": "added", "kind": "mcp"}]},
    ],
)
def test_where_there_are_no_tools_nothing_is_wrong(value: Json) -> None:
    """Standard tools and servers of unknown operations have no schemas."""
    report = lint(value)
    assert report.strict_pass
    assert report.findings == ()


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "", "tool", {}, [[]], [None], {"a": 1}])
def test_what_is_no_tool_is_structurally_invalid(value: Json) -> None:
    """A JSON value of any kind gets a result."""
    report = lint(value)
    assert not report.structurally_valid
    assert not report.strict_pass
    assert report.findings


def test_the_output_schema_must_be_well_formed() -> None:
    """It is none of the model's, so no rule of the review looks at it; its references and defaults must hold."""
    output: Json = {"type": "object", "properties": {"a": {"type": "string", "default": 5}, "b": {"$ref": "#/none"}}}
    closed: Json = {"type": "object", "additionalProperties": False}
    report = lint({**WORDS, "inputSchema": closed, "outputSchema": output, "annotations": {"readOnlyHint": True}})
    assert {(finding.rule.id, to_text(finding.path)) for finding in report.findings} == {
        ("TSL119", "/outputSchema/properties/a/default"),
        ("TSL121", "/outputSchema/properties/b/$ref"),
    }


def test_findings_stand_in_the_order_of_the_tools_then_of_the_rules() -> None:
    """The same input gives the same result."""
    value: Json = [{"name": "b"}, 5, {"description": "Returns the reports of last month."}]
    found = [(to_text(finding.path), finding.rule.id) for finding in lint(value).findings]
    assert found == [
        ("/1", "TSL101"),
        ("/0", "TSL103"),
        ("/0", "TSL104"),
        ("/0", "TSL213"),
        ("/0/name", "TSL302"),
        ("/2", "TSL102"),
        ("/2", "TSL104"),
        ("/2", "TSL213"),
    ]


def test_one_object_in_two_places_is_two_schemas() -> None:
    """As a program may build it."""
    text: Json = {"type": "string"}
    report = lint({**WORDS, "inputSchema": {"type": "object", "properties": {"a": text, "b": text}}})
    assert [to_text(f.path) for f in report.findings if f.rule.id == "TSL209"] == [
        "/inputSchema/properties/a",
        "/inputSchema/properties/b",
    ]


def test_a_value_that_holds_itself_is_too_deep() -> None:
    """Nothing that a program gives makes the lint loop."""
    value: list[Json] = []
    value.append(value)
    assert [finding.rule.id for finding in lint(value).findings] == ["TSL002"]
