"""References lead to a schema of the same tool, and not only back to themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.graphs import components
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.graph import Graph, Node
from catalog.lint.tools import Tool

UNRESOLVED: Final = Rule(
    "TSL121",
    "ref-unresolved",
    "structural",
    Text(
        "参照「{reference}」の先にスキーマがありません。",
        "the reference `{reference}` leads to no schema.",
    ),
    Text(
        "$defs に定義を加えるか、JSON ポインター（#/$defs/名前）かアンカーを直してください。",
        "Add the definition to $defs, or correct the JSON pointer (#/$defs/NAME) or anchor.",
    ),
)
REMOTE: Final = Rule(
    "TSL122",
    "ref-remote",
    "structural",
    Text(
        "参照「{reference}」はこのスキーマの外を指しています。外のスキーマは読みません。",
        "the reference `{reference}` leads out of this schema; others are not fetched.",
    ),
    Text(
        "定義を $defs に写し、#/$defs/名前 で参照してください。",
        "Copy the definition into $defs, and refer to it as #/$defs/NAME.",
    ),
)
CIRCULAR: Final = Rule(
    "TSL123",
    "ref-circular",
    "structural",
    Text(
        "参照「{reference}」は同じ値の上で自分自身に戻り、何も定めません。",
        "the reference `{reference}` comes back to itself on the same value, and says nothing.",
    ),
    Text(
        "参照の先に type などの中身を書いてください。再帰は properties や items の中からだけにしてください。",
        "Give what it refers to a type of its own. Recurse from within properties or items only.",
    ),
)
ENDLESS: Final = Rule(
    "TSL124",
    "ref-endless",
    "structural",
    Text(
        "このスキーマを満たす値は、同じスキーマの値を必ず中に含むので、書き終えられません。",
        "a value of this schema must hold a value of the same schema, so none can ever be finished.",
    ),
    Text(
        "再帰する項目を required から外すか、minItems を 0 にするか、null を許してください。",
        "Take the recursive part out of required, let minItems be 0, or allow null.",
    ),
)

RULES: Final = (UNRESOLVED, REMOTE, CIRCULAR, ENDLESS)

_KEYWORDS: Final = ("$ref", "$dynamicRef")


def check(tool: Tool) -> Iterator[Finding]:
    for graph in tool.graphs:
        for lost in graph.lost:
            yield Finding(REMOTE if lost.outside else UNRESOLVED, lost.path, {"reference": lost.reference})
        if graph.targets:
            yield from _loops(graph)


def _loops(graph: Graph) -> Iterator[Finding]:
    order = {node: index for index, node in enumerate(graph.nodes)}
    circular: set[Node] = set()
    for loop in components(graph.nodes, lambda node: _on_the_same_value(graph, node)):
        circular.update(loop)
        members = set(loop)
        first = min((node for node in loop if _refers_into(graph, node, members)), key=order.__getitem__)
        keyword = next(keyword for keyword in _KEYWORDS if graph.target(first, keyword) in members)
        yield Finding(CIRCULAR, (*first.path, keyword), {"reference": str(first.schema[keyword])})
    for loop in components(graph.nodes, lambda node: _always_within(graph, node)):
        if circular.isdisjoint(loop):
            yield Finding(ENDLESS, min(loop, key=order.__getitem__).path)


def _refers_into(graph: Graph, node: Node, members: set[Node]) -> bool:
    return any(graph.target(node, keyword) in members for keyword in _KEYWORDS)


def _targets(graph: Graph, node: Node) -> Iterator[Node]:
    for keyword in _KEYWORDS:
        target = graph.target(node, keyword)
        if isinstance(target, Node):
            yield target


def _on_the_same_value(graph: Graph, node: Node) -> Iterator[Node]:
    yield from _targets(graph, node)
    yield from (child for child in node.children if child.same_place)


def _always_within(graph: Graph, node: Node) -> Iterator[Node]:
    """The schemas that every value of `node` must satisfy, itself or a part of it."""
    yield from _targets(graph, node)
    schema = node.schema
    required = schema.get("required")
    names = set(required) if isinstance(required, list) and schema.get("type") == "object" else set()
    least = schema.get("minItems")
    items = int(least) if isinstance(least, int | float) and schema.get("type") == "array" else 0
    for child in node.children:
        match child.keyword:
            case "allOf":
                yield child
            case "anyOf" | "oneOf":
                branches = schema[child.keyword]
                if isinstance(branches, list) and len(branches) == 1:
                    yield child
            case "properties":
                if child.key in names:
                    yield child
            case "prefixItems":
                if isinstance(child.key, int) and child.key < items:
                    yield child
            case "items":
                if child.key is None and items > 0 and "prefixItems" not in schema:
                    yield child
            case _:
                pass
