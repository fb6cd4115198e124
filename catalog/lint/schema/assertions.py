"""The keywords that look at a value alone: (what the schema says, the value) to whether it is allowed.

A keyword says nothing about values of other types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Final

from catalog.lint.schema.equality import first_repeated
from catalog.nodes import Json


class Undecided(Exception):
    """We cannot tell whether a schema allows a value."""


def is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Json) -> bool:
    """1.0 is one."""
    return is_number(value) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


def type_of(value: Json) -> str:
    """The narrowest name."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if is_integer(value) else "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


def has_type(expected: Json, value: Json) -> bool:
    names = expected if isinstance(expected, list) else [expected]
    kind = type_of(value)
    return kind in names or (kind == "integer" and "number" in names)


def _multiple_of(expected: Json, value: Json) -> bool:
    """Of the decimal numbers that are written: 0.3 is a multiple of 0.1."""
    if not is_number(value):
        return True
    if not (_finite(value) and _finite(expected)):
        raise Undecided
    return (Fraction(Decimal(repr(value))) / Fraction(Decimal(repr(expected)))).denominator == 1


def _finite(value: Json) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def _compared(holds: Callable[[int | float, int | float], bool]) -> Callable[[Json, Json], bool]:
    def check(expected: Json, value: Json) -> bool:
        if not isinstance(value, int | float) or isinstance(value, bool) or not isinstance(expected, int | float):
            return True
        return holds(value, expected)

    return check


def _sized(kind: type, holds: Callable[[int, int | float], bool]) -> Callable[[Json, Json], bool]:
    def check(expected: Json, value: Json) -> bool:
        if not isinstance(value, kind) or not isinstance(value, str | list | dict):
            return True
        return not isinstance(expected, int | float) or holds(len(value), expected)

    return check


def _required(expected: Json, value: Json) -> bool:
    return not isinstance(value, dict) or not isinstance(expected, list) or all(name in value for name in expected)


def _dependent_required(expected: Json, value: Json) -> bool:
    if not isinstance(value, dict) or not isinstance(expected, dict):
        return True
    return all(_required(expected[name], value) for name in value if name in expected)


def _unique(expected: Json, value: Json) -> bool:
    return expected is not True or not isinstance(value, list) or first_repeated(value) is None


ASSERTIONS: Final[Mapping[str, Callable[[Json, Json], bool]]] = {
    "type": has_type,
    "multipleOf": _multiple_of,
    "minimum": _compared(lambda value, bound: value >= bound),
    "maximum": _compared(lambda value, bound: value <= bound),
    "exclusiveMinimum": _compared(lambda value, bound: value > bound),
    "exclusiveMaximum": _compared(lambda value, bound: value < bound),
    "minLength": _sized(str, lambda size, bound: size >= bound),
    "maxLength": _sized(str, lambda size, bound: size <= bound),
    "minItems": _sized(list, lambda size, bound: size >= bound),
    "maxItems": _sized(list, lambda size, bound: size <= bound),
    "minProperties": _sized(dict, lambda size, bound: size >= bound),
    "maxProperties": _sized(dict, lambda size, bound: size <= bound),
    "uniqueItems": _unique,
    "required": _required,
    "dependentRequired": _dependent_required,
}
