"""What others say, made fit for one line of ours."""

from __future__ import annotations

import unicodedata


def one_line(text: str, most: int) -> str:
    """`text` in at most `most` code points, blanks and line ends as single blanks, without what acts on a terminal."""
    shown = "".join(char for char in text[: 4 * most] if char.isspace() or unicodedata.category(char)[0] != "C")
    shown = " ".join(shown.split())
    return shown if len(shown) <= most and len(text) <= 4 * most else f"{shown[: most - 1]}…"
