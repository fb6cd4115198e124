"""What somebody else wrote, made safe to show in a terminal."""

from __future__ import annotations


def visible(text: str) -> str:
    """`text` on one line, without anything that a terminal would obey: that is shown as its escape."""
    if text.isprintable():
        return text
    return "".join(
        [sign if sign.isprintable() or sign == "\u3000" else sign.encode("unicode_escape").decode() for sign in text]
    )
