"""Every value has a type, every choice stands once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.equality import first_repeated
from catalog.lint.schema.graph import Graph, Node
from catalog.lint.tools import Tool

UNTYPED: Final = Rule(
    "TSL309",
    "value-untyped",
    "strict",
    Text("どんな値でも受け付けます（型が書かれていません）。", "any value is allowed: no type is given."),
    Text(
        "type か enum を書いてください。形が分かれるなら anyOf で並べます。",
        "Give it a type or an enum; where there are several forms, list them with anyOf.",
    ),
)
ENUM_REPEATED: Final = Rule(
    "TSL312",
    "enum-repeated",
    "strict",
    Text("enum に同じ値が 2 回あります。", "enum holds a value twice."),
    Text("1 つにしてください。", "Keep one."),
)

RULES: Final = (UNTYPED, ENUM_REPEATED)

_SAYING: Final = frozenset(
    {"type", "enum", "const", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "properties", "items"}
    | {"patternProperties", "additionalProperties", "prefixItems"}
)
_CONDITIONAL: Final = frozenset({"if", "then", "else", "not", "allOf", "dependentSchemas"})
"""What stands in these adds to what is said elsewhere."""


def check(tool: Tool) -> Iterator[Finding]:
    graph = tool.graph
    if graph is None:
        return
    yield from _untyped(graph)
    for node in graph.nodes:
        listed = node.schema.get("enum")
        if isinstance(listed, list) and (index := first_repeated(listed)) is not None:
            yield Finding(ENUM_REPEATED, (*node.path, "enum", index))


def _untyped(graph: Graph) -> Iterator[Finding]:
    adding: set[Node] = set()
    for node in graph.nodes:  # holders come before what they hold
        if node.holder in adding or node.keyword in _CONDITIONAL:
            adding.add(node)
            continue
        if node.keyword in ("properties", "items", "prefixItems") and _SAYING.isdisjoint(node.schema):
            yield Finding(UNTYPED, node.path)
        declared = node.schema.get("properties")
        if isinstance(declared, dict):
            yield from (
                Finding(UNTYPED, (*node.path, "properties", name)) for name, entry in declared.items() if entry is True
            )
        if node.schema.get("items") is True:
            yield Finding(UNTYPED, (*node.path, "items"))
