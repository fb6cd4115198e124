"""Objects take what they declare, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.regex.pattern import read_pattern
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.assertions import Undecided
from catalog.lint.schema.facts import has_choices, is_object, members
from catalog.lint.schema.graph import Graph, Node
from catalog.lint.schema.places import Certainty
from catalog.lint.tools import Tool
from catalog.nodes import Json

UNKNOWN_FIELDS: Final = Rule(
    "TSL208",
    "unknown-fields-allowed",
    "strict",
    Text(
        "このオブジェクトは、宣言していない項目を受け付けます（{why}）。",
        "this object takes members that it does not declare ({why}).",
    ),
    Text(
        '"additionalProperties": false と書いてください。allOf や $ref で組み立てるときは、外側に '
        '"unevaluatedProperties": false と書きます。',
        'Write "additionalProperties": false; around allOf or $ref, "unevaluatedProperties": false.',
    ),
)

RULES: Final = (UNKNOWN_FIELDS,)

_STRANGERS: Final = ("zz_unknown_1", "isAdmin", "未知の項目")
"""Names that no schema means; a pattern that takes all of them takes anything."""
_ASIDE: Final = frozenset({"not", "if", "contains", "propertyNames"})
"""What these say is a condition; what the value may be is said elsewhere."""


def check(tool: Tool) -> Iterator[Finding]:
    if tool.graph is None:
        return
    closed = Certainty(tool.graph, lambda schema: _is_closed(schema, tool))
    aside = _set_aside(tool.graph)
    for node in tool.graph.nodes:
        if node not in aside and is_object(node.schema) and not has_choices(node.schema) and not closed.holds(node):
            yield Finding(UNKNOWN_FIELDS, node.path, {"why": _why(node.schema)})


def _set_aside(graph: Graph) -> set[Node]:
    found: set[Node] = set()
    for node in graph.nodes:  # holders come before what they hold
        if node.holder is not None and (node.holder in found or node.keyword in _ASIDE):
            found.add(node)
    return found


def _is_closed(schema: dict[str, Json], tool: Tool) -> bool:
    named = schema.get("propertyNames")
    if schema.get("maxProperties") == 0 or (isinstance(named, dict) and has_choices(named)):
        return True
    if not (schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False):
        return False
    return not any(_takes_anything(pattern, tool) for pattern in members(schema.get("patternProperties")))


def _takes_anything(pattern: str, tool: Tool) -> bool:
    for name in _STRANGERS:
        matched, steps = read_pattern(pattern).search(name)
        try:
            tool.budgets.patterns.spend(steps)
        except Undecided:
            return True
        if matched is False:
            return False
    return True


def _why(schema: dict[str, Json]) -> str:
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if keyword in schema:
            value = schema[keyword]
            return f"{keyword}: {'true' if value is True else 'false' if value is False else '{…}'}"
    return "additionalProperties: —"
