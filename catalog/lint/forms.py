"""Finding the tools in whatever was given: one tool, a list, an MCP `tools/list` result, a catalog."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.pointer import Pointer
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.assertions import type_of
from catalog.lint.tools import SCHEMA_KEYS, Budgets, Form, Tool
from catalog.nodes import Json

NOT_AN_OBJECT: Final = Rule(
    "TSL101",
    "tool-not-object",
    "structural",
    Text(
        "ツールがオブジェクトではありません（{kind} です）。",
        "a tool is no object (it is of type {kind}).",
    ),
    Text(
        "ツールを name、description、inputSchema を持つオブジェクトとして書いてください。",
        "Write the tool as an object with name, description and inputSchema.",
    ),
)
NOT_A_LIST: Final = Rule(
    "TSL107",
    "tools-not-list",
    "structural",
    Text(
        "「{key}」がツールの一覧になっていません（{kind} です）。",
        "`{key}` is no list of tools (it is of type {kind}).",
    ),
    Text(
        "「{key}」にはツールのオブジェクトを並べた配列を書いてください。",
        "Write an array of tool objects as `{key}`.",
    ),
)

RULES: Final = (NOT_AN_OBJECT, NOT_A_LIST)

_OWN_KEYS: Final = frozenset({"function", *SCHEMA_KEYS})
"""An object with one of these is a tool, whatever else it holds."""


def tools_in(value: Json, budgets: Budgets) -> tuple[list[Tool], list[Finding]]:
    """The tools in document order, and what stands in the place of a tool and is none."""
    tools: list[Tool] = []
    findings: list[Finding] = []
    for found in _found(value, budgets):
        if isinstance(found, Tool):
            tools.append(found)
        else:
            findings.append(found)
    return tools, findings


def _found(value: Json, budgets: Budgets) -> Iterator[Tool | Finding]:
    if not isinstance(value, list):
        yield from _entry(value, (), budgets)
        return
    for index, entry in enumerate(value):
        yield from _entry(entry, (index,), budgets)


def _entry(value: Json, path: Pointer, budgets: Budgets) -> Iterator[Tool | Finding]:
    """A tool, or what holds a list of them."""
    if not isinstance(value, dict):
        yield Finding(NOT_AN_OBJECT, path, {"kind": type_of(value)})
        return
    result, tools = value.get("result"), value.get("tools")
    if not _OWN_KEYS.isdisjoint(value):
        yield from _tool(value, path, budgets)
    elif isinstance(result, dict) and "tools" in result:  # the answer to a `tools/list` request
        yield from _listed(result, (*path, "result"), budgets)
    elif "jsonrpc" in value:
        yield Finding(NOT_A_LIST, path, {"key": "result.tools", "kind": type_of(result)})
    elif isinstance(tools, list) or ("tools" in value and "name" not in value):
        yield from _listed(value, path, budgets)
    else:
        yield from _tool(value, path, budgets)


def _listed(holder: dict[str, Json], path: Pointer, budgets: Budgets) -> Iterator[Tool | Finding]:
    entries = holder["tools"]
    path = (*path, "tools")
    if not isinstance(entries, list):
        yield Finding(NOT_A_LIST, path, {"key": "tools", "kind": type_of(entries)})
        return
    for index, entry in enumerate(entries):
        if isinstance(entry, dict) and _is_connector(entry, versioned="version" in holder):
            yield from _operations(entry, (*path, index), budgets)
        elif isinstance(entry, dict):
            yield from _tool(entry, (*path, index), budgets)
        else:
            yield Finding(NOT_AN_OBJECT, (*path, index), {"kind": type_of(entry)})


def _is_connector(entry: dict[str, Json], *, versioned: bool) -> bool:
    """A tool of our catalog, whose operations are what a model calls."""
    return "operations" in entry or (versioned and entry.get("kind") in ("mcp", "http", "standard"))


def _operations(connector: dict[str, Json], path: Pointer, budgets: Budgets) -> Iterator[Tool | Finding]:
    if "operations" not in connector:
        return  # a standard tool, or a server whose operations are unknown
    operations = connector["operations"]
    path = (*path, "operations")
    if not isinstance(operations, list):
        yield Finding(NOT_A_LIST, path, {"key": "operations", "kind": type_of(operations)})
        return
    for index, entry in enumerate(operations):
        if isinstance(entry, dict):
            yield Tool(entry, (*path, index), "catalog", path, budgets)
        else:
            yield Finding(NOT_AN_OBJECT, (*path, index), {"kind": type_of(entry)})


def _tool(value: dict[str, Json], path: Pointer, budgets: Budgets) -> Iterator[Tool | Finding]:
    nested = value.get("function")
    if "function" in value and (value.get("type") == "function" or "name" not in value):
        path = (*path, "function")
        if isinstance(nested, dict):
            yield Tool(nested, path, "function", (), budgets)
        else:
            yield Finding(NOT_AN_OBJECT, path, {"kind": type_of(nested)})
        return
    form: Form = "function" if value.get("type") == "function" or "parameters" in value else "mcp"
    yield Tool(value, path, form, (), budgets)
