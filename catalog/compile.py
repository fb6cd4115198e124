"""From checked definitions to the compiled form, which `catalog.compiled` describes and reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256

from catalog.compiled import Entry
from catalog.definition import OperationDefinition, Removal, ToolDefinition
from catalog.model import Category
from catalog.nodes import Json


def canonical(value: Json) -> str:
    """One spelling for equal values: keys sorted, no blanks, characters as they are."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def compile_removal(removal: Removal, file: int = 0) -> Entry:
    """`file`: an index, as in `Entry`."""
    return Entry(
        name=removal.name,
        kind="mcp",
        title="",
        hints=(),
        categories=(),
        reads_text=False,
        writes_text=False,
        digest="",
        seal=sha256(b"").hexdigest(),
        packed=bytes,
        file=file,
        line=removal.line,
    )


def compile_tool(tool: ToolDefinition, file: int = 0) -> Entry:
    """`file`: an index, as in `Entry`."""
    content: Json = [
        list(tool.options),
        [[word, list(allowed)] for word, allowed in tool.grants],
        None if tool.operations is None else [_operation(entry) for entry in tool.operations],
        canonical(tool.extras),
    ]
    schemas = ["" if entry.input_schema is None else canonical(entry.input_schema) for entry in tool.operations or ()]
    section = "".join(f"{line}\n" for line in (canonical(content), *schemas)).encode()
    identity = canonical([tool.name, tool.kind, tool.title, list(tool.hints), _categories(tool.categories)])
    texts = {entry.effect for entry in tool.operations or () if entry.text_argument is not None}
    return Entry(
        name=tool.name,
        kind=tool.kind,
        title=tool.title,
        hints=tool.hints,
        categories=tool.categories,
        reads_text="read" in texts,
        writes_text="write" in texts,
        digest=sha256(identity.encode() + b"\n" + section).hexdigest(),
        seal=sha256(section).hexdigest(),
        packed=partial(bytes, section),
        file=file,
        line=tool.line,
    )


def encode(entries: Sequence[Entry]) -> bytes:
    """The compiled form of freshly compiled entries."""
    sections = [entry.packed() for entry in entries]
    rows = [_row(entry, len(section)) for entry, section in zip(entries, sections, strict=True)]
    head = canonical(rows).encode() + b"\n"
    frame = f"{sha256(head).hexdigest()} {len(head):010}\n".encode()
    return b"".join([frame, head, *sections])


def _row(entry: Entry, size: int) -> Json:
    """In the order in which `compiled.decode` takes it apart."""
    return [
        entry.name,
        entry.kind,
        entry.title,
        list(entry.hints),
        _categories(entry.categories),
        entry.reads_text,
        entry.writes_text,
        entry.digest,
        entry.seal,
        size,
        entry.file,
        entry.line,
    ]


def _operation(operation: OperationDefinition) -> Json:
    """Without its schema, in the order in which `compiled` takes it apart."""
    return [
        operation.name,
        operation.category,
        operation.effect,
        operation.description,
        operation.text_argument,
        canonical(operation.extras),
    ]


def _categories(categories: Iterable[Category]) -> Json:
    return [[entry.name, entry.title, list(entry.hints)] for entry in categories]
