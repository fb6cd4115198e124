"""Texts, lists and numbers have limits that mean something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.regex.pattern import read_pattern
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.facts import has_choices, types
from catalog.lint.schema.graph import Graph, Node
from catalog.lint.schema.places import Certainty
from catalog.lint.tools import Tool
from catalog.nodes import Json

TEXT: Final = Rule(
    "TSL209",
    "string-unbounded",
    "strict",
    Text("文字列の長さに上限がありません。", "the string may be of any length."),
    Text(
        "maxLength を書いてください。選択肢が決まっていれば enum、日時などは format、"
        "形が決まっていれば長さの限られた pattern でもかまいません。",
        "Give it a maxLength; or an enum, a format, or a pattern of limited length.",
    ),
)
LIST: Final = Rule(
    "TSL210",
    "array-unbounded",
    "strict",
    Text("配列の要素の数に上限がありません。", "the array may hold any number of entries."),
    Text("maxItems を書いてください。", "Give it a maxItems."),
)
NUMBER: Final = Rule(
    "TSL211",
    "number-unbounded",
    "strict",
    Text("数値の範囲に{side}ありません。", "the number has no {side_en} bound."),
    Text("minimum と maximum を書いてください。", "Give it a minimum and a maximum."),
)
WITHOUT_EFFECT: Final = Rule(
    "TSL212",
    "limit-without-effect",
    "strict",
    Text(
        "「{keyword}」は type が {kind} の値には何も定めません。",
        "`{keyword}` says nothing of a value of type {kind}.",
    ),
    Text(
        "{right} の条件です。type か、条件のほうを直してください。",
        "It limits values of type {right}: correct the type, or use a limit for it.",
    ),
)

RULES: Final = (TEXT, LIST, NUMBER, WITHOUT_EFFECT)

LONGEST_PATTERN: Final = 10_000
FORMATS: Final = frozenset(
    {"date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri"}
    | {
        "uri-reference",
        "iri",
        "iri-reference",
        "uuid",
        "uri-template",
        "json-pointer",
        "relative-json-pointer",
        "regex",
    }
)
"""Those of JSON Schema 2020-12: a server that checks them limits what comes through."""
_OF: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), ("string",)),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems"), ("array",)),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), ("number", "integer")
    ),
    **dict.fromkeys(("minProperties", "maxProperties", "required"), ("object",)),
}
_ASIDE: Final = frozenset({"not", "if", "contains", "propertyNames"})


def check(tool: Tool) -> Iterator[Finding]:
    graph = tool.graph
    if graph is None:
        return
    text, entries = Certainty(graph, _limits_text), Certainty(graph, _limits_list)
    low, high = Certainty(graph, _limits_below), Certainty(graph, _limits_above)
    for node in _demanding(graph):
        kinds = types(node.schema)
        if "string" in kinds and not text.holds(node):
            yield Finding(TEXT, node.path)
        if "array" in kinds and not entries.holds(node):
            yield Finding(LIST, node.path)
        if {"number", "integer"} & set(kinds):
            yield from _number(node, low.holds(node), high.holds(node))
        for keyword, right in _OF.items():
            if keyword in node.schema and kinds and not set(right) & set(kinds):
                arguments: dict[str, str | int] = {"keyword": keyword, "kind": ", ".join(kinds), "right": right[0]}
                yield Finding(WITHOUT_EFFECT, (*node.path, keyword), arguments)


def _demanding(graph: Graph) -> Iterator[Node]:
    """The schemas that say what a value may be, and not merely when something else holds."""
    aside: set[Node] = set()
    for node in graph.nodes:
        if node.holder is not None and (node.holder in aside or node.keyword in _ASIDE):
            aside.add(node)
        else:
            yield node


def _number(node: Node, low: bool, high: bool) -> Iterator[Finding]:
    if not (low and high):
        japanese = "上限が" if low else "下限が" if high else "下限も上限も"
        english = "upper" if low else "lower" if high else "lower or upper"
        yield Finding(NUMBER, node.path, {"side": japanese, "side_en": english})


def _limits_text(schema: dict[str, Json]) -> bool:
    if has_choices(schema) or "maxLength" in schema or schema.get("format") in FORMATS:
        return True
    pattern = schema.get("pattern")
    longest = read_pattern(pattern).longest if isinstance(pattern, str) else None
    return longest is not None and longest <= LONGEST_PATTERN


def _limits_list(schema: dict[str, Json]) -> bool:
    if has_choices(schema) or "maxItems" in schema or schema.get("items") is False:
        return True
    entries = schema.get("items")
    return schema.get("uniqueItems") is True and isinstance(entries, dict) and has_choices(entries)


def _limits_below(schema: dict[str, Json]) -> bool:
    return has_choices(schema) or "minimum" in schema or "exclusiveMinimum" in schema


def _limits_above(schema: dict[str, Json]) -> bool:
    return has_choices(schema) or "maximum" in schema or "exclusiveMaximum" in schema
