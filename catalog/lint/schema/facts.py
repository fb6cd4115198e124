"""Small questions to a schema's own keywords."""

from __future__ import annotations

from catalog.lint.schema.graph import Node
from catalog.nodes import Json


def types(schema: dict[str, Json]) -> tuple[str, ...]:
    """The types that it names itself; empty where it names none."""
    kind = schema.get("type")
    listed = kind if isinstance(kind, list) else [kind]
    return tuple(name for name in listed if isinstance(name, str))


def has_choices(schema: dict[str, Json]) -> bool:
    """Whether it names its values one by one."""
    return "enum" in schema or "const" in schema


def names(value: Json) -> tuple[str, ...]:
    """The strings of a list."""
    return tuple(entry for entry in value if isinstance(entry, str)) if isinstance(value, list) else ()


def members(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def is_object(schema: dict[str, Json]) -> bool:
    """Whether it describes objects: by its type, or by what it says of members where it names no type."""
    named = types(schema)
    if named:
        return "object" in named
    return any(keyword in schema for keyword in ("properties", "patternProperties", "additionalProperties"))


def text_of(node: Node) -> str:
    """What it says to people: title and description."""
    parts = (node.schema.get("title"), node.schema.get("description"))
    return " ".join(part for part in parts if isinstance(part, str))
