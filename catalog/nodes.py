"""A value read from YAML or JSON with the lines on which it stands, so that every fault can be shown in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

MAX_DEPTH = 64
MAX_NODES = 500_000
MAX_DIGITS = 300
"""Characters of a number."""

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


def type_name(value: object) -> str:
    """What a value is called in messages."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list", dict: "mapping"}
    return names.get(type(value), "null")


def walk(value: Json) -> Iterator[tuple[Json, int]]:
    """Every value within and how deep it stands, without recursion."""
    pending: list[tuple[Json, int]] = [(value, 0)]
    while pending:
        current, depth = pending.pop()
        yield current, depth
        if isinstance(current, dict | list):
            inner = current.values() if isinstance(current, dict) else current
            pending += [(entry, depth + 1) for entry in inner]


def deeper(value: Json, levels: int) -> bool:
    return any(depth > levels for _, depth in walk(value))


class Fault(Exception):
    """A fault at a line of the text being read; the caller knows the file and raises `CatalogError`."""

    def __init__(self, line: int, reason: str, **arguments: str | int) -> None:
        super().__init__(line, reason, arguments)
        self.line = line
        self.reason = reason
        self.arguments = arguments


@dataclass(slots=True)
class Node:
    """`line` is 1-based; `key_lines` holds the lines of a mapping's keys."""

    line: int
    value: str | int | float | bool | list[Node] | dict[str, Node] | None
    key_lines: dict[str, int] | None = None

    def json(self) -> Json:
        """The value without its lines. Recursion is bounded by MAX_DEPTH."""
        value = self.value
        if isinstance(value, dict):
            return {key: entry.json() for key, entry in value.items()}
        if isinstance(value, list):
            return [entry.json() for entry in value]
        return value


class Builder:
    """Puts nodes together from a stream of events, without recursion, within MAX_DEPTH and MAX_NODES."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._open: list[Node] = []
        self._keys: list[tuple[str, int] | None] = []
        self._count = 0

    @property
    def awaits_key(self) -> bool:
        """Whether the next scalar is a mapping's key."""
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._keys[-1] is None

    @property
    def container(self) -> Node | None:
        """The innermost open list or mapping."""
        return self._open[-1] if self._open else None

    def key(self, name: str, line: int) -> None:
        first = (self._open[-1].key_lines or {}).get(name)
        if first is not None:
            raise Fault(line, "key-duplicate", key=name, first=first)
        self._keys[-1] = (name, line)

    def add(self, node: Node) -> None:
        self._count += 1
        if self._count > MAX_NODES:
            raise Fault(node.line, "too-many", limit=MAX_NODES)
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if isinstance(parent.value, dict):
            pending = self._keys[-1]
            if pending is None:
                raise Fault(node.line, "yaml-key")
            name, line = pending
            parent.value[name] = node
            if parent.key_lines is None:
                parent.key_lines = {}
            parent.key_lines[name] = line
            self._keys[-1] = None
        elif isinstance(parent.value, list):
            parent.value.append(node)

    def open(self, node: Node) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise Fault(node.line, "too-deep", limit=MAX_DEPTH)
        self.add(node)
        self._open.append(node)
        self._keys.append(None)

    def close(self) -> None:
        self._open.pop()
        self._keys.pop()
