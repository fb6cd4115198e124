"""A lower bound does not lie above the upper one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.facts import members, names, types
from catalog.lint.tools import Tool
from catalog.nodes import Json

CONTRADICTORY: Final = Rule(
    "TSL118",
    "bounds-contradictory",
    "structural",
    Text(
        "範囲が矛盾していて、満たす値がありません（{first} と {second}）。",
        "the bounds contradict each other: no value satisfies both {first} and {second}.",
    ),
    Text("どちらかの値を直してください。", "Correct one of the two."),
)

RULES: Final = (CONTRADICTORY,)

_PAIRS: Final = (
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)


def check(tool: Tool) -> Iterator[Finding]:
    for graph in tool.graphs:
        for node in graph.nodes:
            for keyword, first, second in _contradictions(node.schema):
                yield Finding(CONTRADICTORY, (*node.path, keyword), {"first": first, "second": second})


def _contradictions(schema: dict[str, Json]) -> Iterator[tuple[str, str, str]]:
    """(the keyword to point at, one bound, the other bound)."""
    for lower, upper in _PAIRS:
        least, most = _number(schema, lower), _number(schema, upper)
        if least is not None and most is not None and least > most:
            yield lower, _said(schema, lower), _said(schema, upper)
    yield from _numeric(schema)
    yield from _items(schema)
    yield from _properties(schema)


def _numeric(schema: dict[str, Json]) -> Iterator[tuple[str, str, str]]:
    lowers = [(value, name) for name in ("minimum", "exclusiveMinimum") if (value := _number(schema, name)) is not None]
    uppers = [(value, name) for name in ("maximum", "exclusiveMaximum") if (value := _number(schema, name)) is not None]
    if not lowers or not uppers:
        return
    # Of two equal bounds the excluding one is the narrower.
    least, lower = max(lowers, key=lambda bound: (bound[0], bound[1] == "exclusiveMinimum"))
    most, upper = min(uppers, key=lambda bound: (bound[0], bound[1] == "maximum"))
    excluding = lower == "exclusiveMinimum" or upper == "exclusiveMaximum"
    if least > most or (least == most and excluding):
        yield lower, _said(schema, lower), _said(schema, upper)
        return
    step = _step(schema)
    if step is None or math.isinf(least) or math.isinf(most):
        return
    count = Fraction(str(least)) / step
    first = (math.floor(count) + 1 if lower == "exclusiveMinimum" else math.ceil(count)) * step
    if first > Fraction(str(most)) or (upper == "exclusiveMaximum" and first == Fraction(str(most))):
        keyword = "multipleOf" if "multipleOf" in schema else "type"
        yield keyword, _said(schema, keyword), f"{_said(schema, lower)}, {_said(schema, upper)}"


def _step(schema: dict[str, Json]) -> Fraction | None:
    """What the number must be a multiple of."""
    step = _number(schema, "multipleOf")
    if step is not None:
        return None if math.isinf(step) else Fraction(repr(step))
    return Fraction(1) if types(schema) == ("integer",) else None


def _items(schema: dict[str, Json]) -> Iterator[tuple[str, str, str]]:
    least = _number(schema, "minItems")
    prefix = schema.get("prefixItems")
    if least is not None and schema.get("items") is False:
        room = len(prefix) if isinstance(prefix, list) else 0
        if least > room:
            yield "minItems", _said(schema, "minItems"), f"prefixItems ({room}), items: false"
    most, contained = _number(schema, "maxItems"), _number(schema, "minContains")
    if "contains" in schema and most is not None and contained is not None and contained > most:
        yield "minContains", _said(schema, "minContains"), _said(schema, "maxItems")


def _properties(schema: dict[str, Json]) -> Iterator[tuple[str, str, str]]:
    required = set(names(schema.get("required")))
    most = _number(schema, "maxProperties")
    if most is not None and len(required) > most:
        yield "maxProperties", _said(schema, "maxProperties"), f"required ({len(required)})"
    declared = members(schema.get("properties"))
    for name in sorted(required):
        if declared.get(name) is False:
            yield "required", f"required: {name}", f"properties.{name}: false"
    least = _number(schema, "minProperties")
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    if least is not None and closed and least > len(declared):
        yield "minProperties", _said(schema, "minProperties"), f"properties ({len(declared)})"


def _number(schema: dict[str, Json], keyword: str) -> int | float | None:
    value = schema.get(keyword)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _said(schema: dict[str, Json], keyword: str) -> str:
    value = schema.get(keyword)
    return f"{keyword}: {value}"
