"""Making short examples: a tool is given by what is unlike `TOOL`."""

from __future__ import annotations

from typing import NamedTuple

from catalog.nodes import Json

TOOL: dict[str, Json] = {"name": "get_report", "description": "Returns one of the reports of last month."}
READS: dict[str, Json] = {"annotations": {"readOnlyHint": True}}


class Examples(NamedTuple):
    """`found` and `passing`: inputs."""

    found: list[Json]
    passing: list[Json]


def arguments(**properties: Json) -> dict[str, Json]:
    return schema(properties=properties)


def schema(**keywords: Json) -> dict[str, Json]:
    return {**TOOL, "inputSchema": {"type": "object", **keywords}, **READS}


def tool(name: str, **more: Json) -> dict[str, Json]:
    return {**TOOL, "name": name, "inputSchema": {"type": "object", "additionalProperties": False}, **more}


def text(**more: Json) -> dict[str, Json]:
    return {"type": "string", **more}


def texts(*names: str) -> list[Json]:
    """One tool for each name of a string argument."""
    return [arguments(**{name: text()}) for name in names]


def flags(*names: str) -> list[Json]:
    return [arguments(**{name: {"type": "boolean"}}) for name in names]


def numbers(*names: str) -> list[Json]:
    return [arguments(**{name: {"type": "integer"}}) for name in names]


def operation(**more: Json) -> Json:
    """In a catalog."""
    entry: Json = {**TOOL, "input_schema": {"type": "object", "additionalProperties": False}, **more}
    return {"version": 1, "tools": [{"name": "reports", "kind": "mcp", "operations": [entry]}]}


STRING = text()
LOOP = {"$ref": "#/$defs/a"}
