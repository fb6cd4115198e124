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
_BOUNDS: Final = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
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

    schema = _modern(schema)
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


def _modern(schema: dict[str, Json]) -> dict[str, Json]:
    """What earlier drafts wrote otherwise, as 2020-12 writes it; many servers still list such schemas."""
    items, dependencies = schema.get("items"), schema.get("dependencies")
    bounds = [bound for bound in _BOUNDS if isinstance(schema.get(bound), bool)]
    if not isinstance(items, list) and not isinstance(dependencies, dict) and not bounds and "$schema" not in schema:
        return schema
    result = {name: value for name, value in schema.items() if name not in ("$schema", "dependencies", *bounds)}
    if isinstance(items, list):
        del result["items"]
        if items:
            result["prefixItems"] = items
        if "additionalItems" in schema:
            result["items"] = result.pop("additionalItems")
    for bound in bounds:
        plain = _BOUNDS[bound]
        if schema[bound] is True and plain in result:
            result[bound] = result.pop(plain)
    if isinstance(dependencies, dict):
        required = {name: value for name, value in dependencies.items() if isinstance(value, list)}
        schemas = {name: value for name, value in dependencies.items() if not isinstance(value, list)}
        result |= {"dependentRequired": dict(required)} if required else {}
        result |= {"dependentSchemas": dict(schemas)} if schemas else {}
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
