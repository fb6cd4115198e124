"""Text as Python string literals that evaluate to exactly it, and that editors, diffs and terminals show harmlessly."""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from math import isfinite

from pipeline.diagnostics.visible import escape_character

# What Python refuses in source, what editors and terminals hide or obey, and blanks that look like another blank: DEL
# and C1, soft hyphen, joiners, directional marks and overrides, line and paragraph separators, BOM, noncharacters,
# surrogates, tags. Fixed ranges, none of them ever printable to `str.isprintable`: every Python must write the same
# module (R4), whatever its edition of Unicode. U+3000, emoji and ideographs with variation selectors stay.
# Compiled by who first needs it: most documents have none of them.
AWKWARD = (
    "[\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
    + "]"
)


_LINE_END = r'"\n"'
_EMPTY_LINE = f'"" {_LINE_END}'
"""What is written of an empty line, and of the end of one whose last sign is a quote: `\\"" "\\n"`. The line end is put
into the literal before it, which in the second case has an escape anyway."""


def _escape(match: re.Match[str]) -> str:
    return escape_character(match[0])


def literal(text: str) -> str:
    """One double-quoted literal on one line. Japanese and emoji stay readable."""
    return _shown(encode_basestring(text))


def _shown(quoted: str) -> str:
    """`quoted`: as JSON writes it, quotes, backslashes and C0 escaped in Python's own spelling."""
    # The blank of Japanese text is not printable to Python, but not awkward either.
    if quoted.replace("\u3000", "").isprintable():
        return quoted
    return re.sub(AWKWARD, _escape, quoted)


def lines(text: str, indent: str) -> str:
    """Adjacent literals, each line of `text` on a line of its own, joined by a line end and `indent`; of no text an
    empty one.

    A line's end is a literal beside it: a literal with an escape and with text beyond ASCII takes CPython several times
    as long to read, and hardly any line of a procedure has another escape.
    """
    if "\\" not in text:
        body = _shown(encode_basestring(text)).replace("\\n", f'" "\\n"\n{indent}"')
        if text.endswith("\n"):
            body = body[: -len(indent) - 3]
        return body.replace(_EMPTY_LINE, _LINE_END)
    # A backslash before an n would look like a line end above.
    *ended, last = text.split("\n")
    written = [f"{literal(line)} {_LINE_END}".replace(_EMPTY_LINE, _LINE_END) for line in ended]
    return f"\n{indent}".join([*written, literal(last)] if last else written)


def value(data: object) -> str:
    """A JSON value as a Python literal: the same strings, numbers, lists and dicts."""
    if isinstance(data, str):
        return literal(data)
    if isinstance(data, dict):
        return "{" + ", ".join([f"{literal(key)}: {value(entry)}" for key, entry in data.items()]) + "}"
    if isinstance(data, list):
        return "[" + ", ".join([value(entry) for entry in data]) + "]"
    if isinstance(data, float) and not isfinite(data):
        return "1e999" if data > 0 else "-1e999"  # repr would be a name
    return repr(data)
