"""Texts of an input made safe to show: on one line, without what moves the cursor, reorders or hides."""

from __future__ import annotations

MAX_SHOWN = 100
"""Characters of one text in a message."""


def shown(text: str, limit: int = MAX_SHOWN) -> str:
    """Everything that is not printable as an escape; the middle of a long text is left out."""
    if len(text) > limit:
        tail = limit // 4
        text = f"{text[: limit - tail - 1]}…{text[-tail:]}"
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def _escape(character: str) -> str:
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
