"""Equality as JSON has it: 1 is 1.0, but true is not 1."""

from __future__ import annotations

from collections.abc import Hashable

from catalog.nodes import Json


def key(value: Json) -> Hashable:
    """Equal for equal values. Recurses as deep as the value is nested."""
    if isinstance(value, bool):
        return ("truth", value)
    if isinstance(value, list):
        return ("list", tuple(key(entry) for entry in value))
    if isinstance(value, dict):
        return ("object", frozenset((name, key(entry)) for name, entry in value.items()))
    return value


def first_repeated(values: list[Json]) -> int | None:
    """The index of the first value that stood before; None where all differ."""
    seen: set[Hashable] = set()
    for index, value in enumerate(values):
        found = key(value)
        if found in seen:
            return index
        seen.add(found)
    return None
