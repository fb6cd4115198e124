"""The compiled form of a catalog: a head that is read at once, and a section a tool that is read when asked for.

    sha256 of the head, hexadecimal; a blank; the head's length in bytes, ten digits \\n
    head: a JSON list of rows, with the length and the sha256 of each tool's section \\n
    one section a tool, in the head's order: a line of JSON, then the schema of each operation, a line each

So a load costs the small head, and a tool its own section: both are checked before they are believed.
`catalog.compile` writes it.
"""

import json
import re
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from catalog.model import Category, Effect, Operation, Tool, ToolKind

Section = Callable[[int, int], bytes]
"""Bytes of the compiled form: from an offset, at most so many. Raises OSError."""

FRAME_LENGTH = 76
_FRAME = re.compile(rb"([0-9a-f]{64}) ([0-9]{10})\n")


_Row = tuple[str, ToolKind, str, list[str], list[tuple[str, str, list[str]]], bool, bool, str, str, int, int, int]
"""The head's line about a tool: the fields of an `Entry`, with the length of its section before the last two."""


class Damaged(Exception):
    """A section is not what was compiled: compile again."""


class Entry(NamedTuple):
    """A tool whose operations are still packed. `packed` reads its section, whose sha256 is `seal`; raises OSError.

    `reads_text`/`writes_text`: one of them reads/writes and has a text argument (V4). `file`: which of the files that
    were compiled together it stands in, `line`: where. One without a digest is no tool: it `removes` the one of its
    name from the layers below.
    """

    name: str
    kind: ToolKind
    title: str
    hints: tuple[str, ...]
    categories: tuple[Category, ...]
    reads_text: bool
    writes_text: bool
    digest: str
    seal: str
    packed: Callable[[], bytes]
    file: int = 0
    line: int = 1

    @property
    def removes(self) -> bool:
        return not self.digest

    def tool(self) -> Tool:
        """Unpack it. Raises Damaged."""
        try:
            section = self.packed()
        except OSError as error:
            raise Damaged(self.name) from error
        if sha256(section).hexdigest() != self.seal:
            raise Damaged(self.name)
        # The schemas stand apart: most of the bytes need not be taken apart, only carried on.
        first, *schemas = section.decode().split("\n")
        options, grants, operations, definition = json.loads(first)
        return Tool(
            name=self.name,
            kind=self.kind,
            title=self.title,
            hints=self.hints,
            categories=self.categories,
            operations=None if operations is None else tuple(map(_operation, operations, schemas)),
            options=tuple(options),
            grants=tuple((word, tuple(allowed)) for word, allowed in grants),
            digest=self.digest,
            definition=definition,
        )


def decode(section: Section) -> list[Entry] | None:
    """None where there is nothing, or not exactly what `catalog.compile.encode` made: damaged, cut short, foreign."""
    try:
        frame = _FRAME.fullmatch(section(0, FRAME_LENGTH))
        if frame is None:
            return None
        length = int(frame[2])
        head = section(FRAME_LENGTH, length)
    except OSError:
        return None
    if frame[1] != sha256(head).hexdigest().encode():
        return None
    rows: list[_Row] = json.loads(head)
    entries: list[Entry] = []
    offset = FRAME_LENGTH + length
    for name, kind, title, hints, categories, reads, writes, digest, seal, size, file, line in rows:
        packed = partial(section, offset, size)
        offset += size
        found = _categories(categories)
        entries.append(Entry(name, kind, title, tuple(hints), found, reads, writes, digest, seal, packed, file, line))
    return entries


def _operation(fields: tuple[str, str | None, Effect, str, str | None, str], schema: str) -> Operation:
    name, category, effect, description, text_argument, definition = fields
    return Operation(name, category, effect, description, schema, text_argument, definition)


def _categories(rows: list[tuple[str, str, list[str]]]) -> tuple[Category, ...]:
    return tuple(Category(name, title, tuple(hints)) for name, title, hints in rows)
