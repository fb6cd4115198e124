"""Which parenthesis closes which; half- and full-width ones pair with each other (T1)."""

from __future__ import annotations

import re

_PARENTHESIS = re.compile(r"[()（）]")
OPENING = "(（"
CLOSING = ")）"


def match_parentheses(mask: str) -> dict[int, int]:
    """The offset of the closing parenthesis for each opening one that is closed. One pass, so that a million open
    ones cost no more.
    """
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for match in _PARENTHESIS.finditer(mask):
        if match.group() in OPENING:
            opened.append(match.start())
        elif opened:
            pairs[opened.pop()] = match.start()
    return pairs
