"""Which parenthesis closes which; half- and full-width ones pair with each other (T1)."""

from __future__ import annotations

import re

_PARENTHESIS = re.compile(r"[()（）]")
OPENING = "(（"
CLOSING = ")）"


def match_parentheses(mask: str) -> dict[int, int]:
    """The offset of the closing parenthesis for each opening one that is closed; in one pass, however many are open."""
    return _match(mask, _PARENTHESIS, OPENING)


def match_brackets(mask: str, opening: str, closing: str) -> dict[int, int]:
    """The same for one kind of bracket."""
    return _match(mask, re.compile(f"[{re.escape(opening + closing)}]"), opening)


def _match(mask: str, bracket: re.Pattern[str], opening: str) -> dict[int, int]:
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in bracket.finditer(mask):
        at = match.start()
        if mask[at] in opening:
            opened.append(at)
        elif opened:
            pairs[opened.pop()] = at
    return pairs
