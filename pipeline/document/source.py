"""From bytes to text and lines (F3). Everything behind this module works on text whose only line end is LF."""

from __future__ import annotations

from typing import Literal, NamedTuple

DEFAULT_MAX_BYTES = 1 << 20
"""The size limit of a document (`--max-bytes`), in bytes as saved."""


class Source(NamedTuple):
    """`text`: the document with LF line ends and without a leading BOM; `lines`: its lines without their ends.

    A text that ends in a line end has no empty line behind it.
    """

    text: str
    lines: list[str]


class Unreadable(NamedTuple):
    """Why there is no text. `line` and `column` are a NUL's, 1-based; None elsewhere."""

    reason: Literal["size", "encoding", "nul", "empty"]
    line: int | None = None
    column: int | None = None


def read_source(data: bytes, max_bytes: int = DEFAULT_MAX_BYTES) -> Source | Unreadable:
    """Decode a document; never raises for what the bytes hold."""
    if len(data) > max_bytes:
        return Unreadable("size")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return Unreadable("encoding")
    if text.startswith("\ufeff"):
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    nul = text.find("\0")
    if nul >= 0:
        return Unreadable("nul", text.count("\n", 0, nul) + 1, nul - text.rfind("\n", 0, nul))
    if not text.strip():
        return Unreadable("empty")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return Source(text, lines)
