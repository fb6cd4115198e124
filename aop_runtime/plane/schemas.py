"""Input schemas as the plane holds calls to them: closed at every level where they name fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aop_runtime.declarations import Json

_ALWAYS: Final = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONAL: Final = ("if", "then", "else", "not")
_ONE: Final = ("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains")
_DEFINITIONS: Final = ("$defs", "definitions")
_DEEPEST: Final = 200


class TooDeep(ValueError):
    """A schema that is nested beyond any use."""


def closed(schema: Json, *, level: int = 0, branch: bool = False) -> Json:
    """`schema` where every object that names fields refuses others, unless it says itself that it takes them.

    `branch`: a part that judges the same value as the schema around it. It is closed there, where all parts are seen.
    Raises TooDeep.
    """
    if level > _DEEPEST:
        raise TooDeep(f"schema nested deeper than {_DEEPEST} levels")
    if not isinstance(schema, dict):
        return schema

    def inside(value: Json, *, branch: bool = False) -> Json:
        return closed(value, level=level + 1, branch=branch)

    result = dict(schema)
    composed = branch or "unevaluatedProperties" in schema or any(key in schema for key in _ALWAYS)
    by_pattern = "patternProperties" in schema
    if by_pattern and composed:
        # The search for unevaluated fields would use these patterns without an end. What only they allow is refused.
        del result["patternProperties"]
    elif isinstance(entries := schema.get("patternProperties"), dict):
        result["patternProperties"] = {pattern: inside(entry) for pattern, entry in entries.items()}
    if isinstance(entries := schema.get("properties"), dict):
        result["properties"] = {name: inside(entry) for name, entry in entries.items()}
    for key in _ONE:
        if key in schema:
            result[key] = inside(schema[key])
    if isinstance(items := schema.get("prefixItems"), list):
        result["prefixItems"] = [inside(entry) for entry in items]
    for key in _BRANCHES:
        if isinstance(entries := schema.get(key), list):
            result[key] = [inside(entry, branch=True) for entry in entries]
    for key in _CONDITIONAL:
        # What `not` refuses is not closed: it would refuse less.
        if key in schema and key != "not":
            result[key] = inside(schema[key], branch=True)
    for key in (*_DEFINITIONS, "dependentSchemas"):
        # What is defined is referred to from places that are closed themselves.
        if isinstance(entries := schema.get(key), dict):
            result[key] = {name: inside(entry, branch=True) for name, entry in entries.items()}
    if not branch and "additionalProperties" not in schema and "unevaluatedProperties" not in schema:
        if not any(key in schema for key in _ALWAYS):
            if "properties" in schema or by_pattern:
                result["additionalProperties"] = False
        elif "$ref" in schema or _names_fields(schema):
            result["unevaluatedProperties"] = False
    return result


def _names_fields(schema: Mapping[str, Json]) -> bool:
    """Whether it or a part of it that judges the same value has `properties`."""
    if "properties" in schema:
        return True
    parts: list[Json] = []
    for key in _BRANCHES:
        if isinstance(entries := schema.get(key), list):
            parts += entries
    parts += [schema[key] for key in _CONDITIONAL if key in schema]
    return any(isinstance(part, dict) and ("$ref" in part or _names_fields(part)) for part in parts)
