"""What a user wrote, made safe to show: nothing in it moves the cursor, reorders the line or hides."""

from __future__ import annotations

import re
from typing import Final

_CANCELLED_FLAG: Final = "\U0001f3f4[\U000e0020-\U000e007e]{1,7}\U000e007f"
"""The flags of England, Scotland, Wales: the only place where invisible tag characters mean something."""

_INVISIBLE: Final = (
    "\x00-\x1f\x7f-\x9f"  # controls, escape sequences among them
    "\xad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\ufffe\uffff"  # invisible, though they make two names differ
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # reorder the line
    "\u2028\u2029"  # some viewers break the line here
    "\ud800-\udfff"  # from file names that are not UTF-8; no output encoding takes them
    "\ufdd0-\ufdef"  # never characters
    "\U000e0000-\U000e007f"  # hidden text
)
_UNSAFE: Final = f"({_CANCELLED_FLAG})|[{_INVISIBLE}]"
"""Compiled by who first needs it: most texts are printable."""
_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(match: re.Match[str]) -> str:
    if match[1]:
        return match[1]
    return escape_character(match[0])


def escape_character(character: str) -> str:
    """`\\n`, `\\x1b`, `\\u202e` or `\\U000e0041`."""
    if character in _NAMED:
        return _NAMED[character]
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def visible(text: str) -> str:
    """`text` on one line, every control, bidi control and invisible character as its escape; emoji sequences stay."""
    return text if text.isprintable() else re.sub(_UNSAFE, _escape, text)


def shortened(text: str, limit: int) -> str:
    """`visible(text)` of at most `limit` of its code points; one `…` replaces what is left out, the end is kept."""
    if len(text) <= limit:
        return visible(text)
    tail = limit // 4
    return f"{visible(text[: limit - tail - 1])}…{visible(text[-tail:])}"
