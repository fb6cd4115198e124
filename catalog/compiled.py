"""The compiled form of a catalog: what is looked up often in one small header, each tool as a line of JSON of its own.

    sha256 of the rest, hexadecimal \\n
    header: a JSON list of entries \\n
    one line of JSON a tool, in the header's order

Reading it costs one hash and one small `json.loads`; a tool's line is parsed when somebody asks for the tool.
`catalog.compile` writes it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import NamedTuple

from catalog.model import Category, Operation, Tool, ToolKind


class Entry(NamedTuple):
    """A tool whose operations are still packed in `payload`, the tool's line.

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
        """Unpack it."""
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


def encode(header: str, entries: list[Entry]) -> bytes:
    """`header`: JSON of the entries without their payloads, fields in the order of `Entry`."""
    rest = b"\n".join([header.encode(), *(entry.payload for entry in entries)])
    return sha256(rest).hexdigest().encode() + b"\n" + rest


def decode(data: bytes) -> list[Entry] | None:
    """None where the bytes are not exactly what `encode` made: damaged, cut short, or foreign."""
    seal, _, rest = data.partition(b"\n")
    if seal != sha256(rest).hexdigest().encode():
        return None
    header, *payloads = rest.split(b"\n")
    rows: list[tuple[str, ToolKind, str, list[str], list[tuple[str, str, list[str]]], bool, bool, str]]
    rows = json.loads(header)
    return [
        Entry(row[0], row[1], row[2], tuple(row[3]), _categories(row[4]), row[5], row[6], row[7], payload)
        for row, payload in zip(rows, payloads, strict=True)
    ]


def _categories(rows: list[tuple[str, str, list[str]]]) -> tuple[Category, ...]:
    return tuple(Category(name, title, tuple(hints)) for name, title, hints in rows)
