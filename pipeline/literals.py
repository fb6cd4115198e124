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
AWKWARD = re.compile(
    "[\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
    + "]"
)


def _escape(match: re.Match[str]) -> str:
    return escape_character(match[0])


def literal(text: str) -> str:
    """One double-quoted literal on one line. Japanese and emoji stay readable."""
    # As JSON writes it: quotes, backslashes and C0 are escaped, in Python's own spelling.
    quoted = encode_basestring(text)
    if text.isprintable():
        return quoted
    return AWKWARD.sub(_escape, quoted)


def lines(text: str, indent: str) -> str:
    """Adjacent literals, one for each line of `text`, joined by a line end and `indent`; of no text an empty one."""
    if "\\" not in text:
        quoted = encode_basestring(text)
        body = quoted.replace("\\n", f'\\n"\n{indent}"')
        if text.endswith("\n"):
            body = body[: -len(indent) - 3]
        # The blank of Japanese text is not printable to Python, but not awkward either.
        if text.replace("\n", "").replace("\u3000", "").isprintable():
            return body
        return AWKWARD.sub(_escape, body)
    # A backslash before an n would look like a line end above.
    return f"\n{indent}".join([literal(line) for line in re.findall(r"[^\n]*\n|[^\n]+$", text)])


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
