"""The arguments are an object, and every schema in it is well-formed JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.assertions import type_of
from catalog.lint.tools import Tool

NOT_AN_OBJECT: Final = Rule(
    "TSL111",
    "schema-not-object",
    "structural",
    Text(
        "ツール「{tool}」の引数のスキーマが、type が object のスキーマではありません（{got}）。",
        "the schema of tool `{tool}`'s arguments is no schema of type object ({got}).",
    ),
    Text(
        'いちばん外側に "type": "object" と書き、引数を properties に並べてください。',
        'Write "type": "object" at its top, and the arguments as properties.',
    ),
)
MALFORMED: Final = Rule(
    "TSL112",
    "schema-malformed",
    "structural",
    Text(
        "「{keyword}」の値が JSON Schema {dialect} のとおりではありません。",
        "the value of `{keyword}` is not what JSON Schema {dialect} allows there.",
    ),
    Text(
        "{expected} を満たす値にしてください。",
        "Write a value that satisfies {expected}.",
    ),
)
DIALECT_OTHER: Final = Rule(
    "TSL307",
    "dialect-unsupported",
    "strict",
    Text(
        "$schema が {declared} です。{dialect} として調べました。",
        "$schema is {declared}; it was judged as {dialect}.",
    ),
    Text(
        "2020-12 か draft-07 で書き、$schema はそのどちらかにするか、消してください。",
        "Write it in 2020-12 or draft-07, and make $schema say so, or remove it.",
    ),
)

RULES: Final = (NOT_AN_OBJECT, MALFORMED, DIALECT_OTHER)


def check(tool: Tool) -> Iterator[Finding]:
    if tool.schema_keys:
        schema = tool.definition[tool.schema_keys[0]]
        kind = schema.get("type") if isinstance(schema, dict) else None
        if kind != "object":
            if not isinstance(schema, dict):
                got = type_of(schema)
            else:
                got = "type: " + (kind if isinstance(kind, str) else "—" if kind is None else type_of(kind))
            yield Finding(NOT_AN_OBJECT, tool.schema_path, {"tool": tool.label, "got": got})
    for graph in tool.graphs:
        dialect = graph.dialect.name
        if not graph.dialect_known:
            declared = str(graph.root.raw.get("$schema"))
            path = (*graph.root.path, "$schema")
            yield Finding(DIALECT_OTHER, path, {"declared": declared, "dialect": dialect})
        for fault in graph.malformed:
            yield Finding(
                MALFORMED, fault.path, {"keyword": fault.keyword, "dialect": dialect, "expected": fault.expected}
            )
