"""The compiled form of a catalog: what is looked up often in one small header, each tool as a line of JSON of its own.

    sha256 of the rest, hexadecimal \\n
    header: a JSON list of entries \\n
    one line of JSON a tool, in the header's order

Reading it costs one hash and one small `json.loads`; a tool's line is parsed when somebody asks for the tool.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from catalog.definition import OperationDefinition, ToolDefinition
from catalog.model import Category, Operation, Tool, ToolKind
from catalog.nodes import Json

_Row: TypeAlias = "tuple[str, ToolKind, str, list[str], list[tuple[str, str, list[str]]], bool, bool, str]"

LOADER_VERSION = "1"
"""Raise it when the same catalog file would be compiled into something else."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool whose operations are still packed.

    `reads_text`/`writes_text`: one of them reads/writes and has a text argument (V4).
    """

    name: str
    kind: ToolKind
    title: str
    hints: tuple[str, ...]
    categories: tuple[Category, ...]
    reads_text: bool
    writes_text: bool
    digest: str
    payload: bytes

    def tool(self) -> Tool:
        """Parse the payload."""
        options, grants, operations, definition = json.loads(self.payload)
        return Tool(
            name=self.name,
            kind=self.kind,
            title=self.title,
            hints=self.hints,
            categories=self.categories,
            operations=None if operations is None else tuple(Operation(*fields) for fields in operations),
            options=tuple(options),
            grants=tuple((word, tuple(allowed)) for word, allowed in grants),
            digest=self.digest,
            definition=definition,
        )


def canonical(value: Json) -> str:
    """One spelling for equal values: keys sorted, no blanks, characters as they are."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def compile_tool(tool: ToolDefinition) -> Entry:
    operations: Json = None if tool.operations is None else [_operation(entry) for entry in tool.operations]
    payload: Json = [
        list(tool.options),
        [[word, list(allowed)] for word, allowed in tool.grants],
        operations,
        canonical(tool.extras),
    ]
    line = canonical(payload).encode()
    categories = tuple(Category(entry.name, entry.title, entry.hints) for entry in tool.categories)
    identity = canonical([tool.name, tool.kind, tool.title, list(tool.hints), _categories(categories)])
    texts = {entry.effect for entry in tool.operations or () if entry.text_argument is not None}
    return Entry(
        name=tool.name,
        kind=tool.kind,
        title=tool.title,
        hints=tool.hints,
        categories=categories,
        reads_text="read" in texts,
        writes_text="write" in texts,
        digest=sha256(identity.encode() + b"\n" + line).hexdigest(),
        payload=line,
    )


def _operation(operation: OperationDefinition) -> Json:
    """In the order of `Operation`'s fields."""
    return [
        operation.name,
        operation.category,
        operation.effect,
        operation.description,
        "" if operation.input_schema is None else canonical(operation.input_schema),
        operation.text_argument,
        canonical(operation.extras),
    ]


def _categories(categories: tuple[Category, ...]) -> Json:
    return [[entry.name, entry.title, list(entry.hints)] for entry in categories]


def encode(entries: Iterable[Entry]) -> bytes:
    listed = list(entries)
    header: Json = [
        [
            entry.name,
            entry.kind,
            entry.title,
            list(entry.hints),
            _categories(entry.categories),
            entry.reads_text,
            entry.writes_text,
            entry.digest,
        ]
        for entry in listed
    ]
    rest = b"\n".join([canonical(header).encode(), *(entry.payload for entry in listed)])
    return sha256(rest).hexdigest().encode() + b"\n" + rest


def decode(data: bytes) -> tuple[Entry, ...] | None:
    """None where the bytes are not exactly what `encode` made: damaged, cut short, or foreign."""
    seal, _, rest = data.partition(b"\n")
    if seal != sha256(rest).hexdigest().encode():
        return None
    header, *payloads = rest.split(b"\n")
    rows: list[_Row] = json.loads(header)
    return tuple(
        Entry(row[0], row[1], row[2], tuple(row[3]), _unpack(row[4]), row[5], row[6], row[7], payload)
        for row, payload in zip(rows, payloads, strict=True)
    )


def _unpack(categories: list[tuple[str, str, list[str]]]) -> tuple[Category, ...]:
    return tuple(Category(name, title, tuple(hints)) for name, title, hints in categories)
