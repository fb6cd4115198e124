"""What a schema requires it declares, and a list has a shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.regex.pattern import read_pattern
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.facts import has_choices, members, names, types
from catalog.lint.schema.graph import Graph, Node
from catalog.lint.schema.places import Neighbourhoods
from catalog.lint.tools import Tool

UNDECLARED: Final = Rule(
    "TSL113",
    "required-undeclared",
    "structural",
    Text(
        "必須の「{name}」が properties で宣言されていません。",
        "`{name}` is required, but not declared in properties.",
    ),
    Text(
        "properties に「{name}」を加えるか、required から外してください。",
        "Declare `{name}` in properties, or take it out of required.",
    ),
)
DUPLICATE: Final = Rule(
    "TSL114",
    "required-duplicate",
    "structural",
    Text("required に「{name}」が 2 回あります。", "required holds `{name}` twice."),
    Text("1 つにしてください。", "Keep one."),
)
NO_ITEMS: Final = Rule(
    "TSL117",
    "array-without-items",
    "structural",
    Text("配列の要素の形が定義されていません。", "nothing says what the array holds."),
    Text(
        '要素のスキーマを items に書いてください。例: "items": {{"type": "string", "maxLength": 100}}',
        'Write the schema of its entries as items: "items": {{"type": "string", "maxLength": 100}}',
    ),
)

RULES: Final = (UNDECLARED, DUPLICATE, NO_ITEMS)


def check(tool: Tool) -> Iterator[Finding]:
    for graph in tool.graphs:
        places = Neighbourhoods(graph)
        yield from _required(graph, places)
        for node in graph.nodes:
            if "array" in types(node.schema) and not has_choices(node.schema) and not _has_items(node, places):
                yield Finding(NO_ITEMS, node.path)


def _has_items(node: Node, places: Neighbourhoods) -> bool:
    return any("items" in other.schema or "prefixItems" in other.schema for other in places.of(node))


def _required(graph: Graph, places: Neighbourhoods) -> Iterator[Finding]:
    declared: dict[Node, _Declared] = {}
    for node in graph.nodes:
        listed = names(node.schema.get("required"))
        if not listed:
            continue
        group = places.key(node)
        if group not in declared:
            declared[group] = _Declared(places.of(node))
        seen: set[str] = set()
        for index, name in enumerate(listed):
            if name in seen:
                yield Finding(DUPLICATE, (*node.path, "required", index), {"name": name})
            elif not declared[group].has(name):
                yield Finding(UNDECLARED, (*node.path, "required", index), {"name": name})
            seen.add(name)


class _Declared:
    """The names that the schemas of one place declare between them."""

    def __init__(self, nodes: list[Node]) -> None:
        self._names: set[str] = set()
        self._patterns: list[str] = []
        self._any = False
        for node in nodes:
            self._names.update(members(node.schema.get("properties")))
            self._patterns += members(node.schema.get("patternProperties"))
            # A map declares whatever name it is given.
            self._any = self._any or isinstance(node.schema.get("additionalProperties"), dict)

    def has(self, name: str) -> bool:
        if self._any or name in self._names:
            return True
        return any(read_pattern(pattern).matches(name) is not False for pattern in self._patterns)
