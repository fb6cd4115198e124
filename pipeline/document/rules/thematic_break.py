"""Thematic breaks. The library reads them right; this rule makes a `Block` of one, behind our containers' marks."""

from __future__ import annotations

import re

from pipeline.document.block import Block
from pipeline.document.rules.state import CODE_INDENT, Reading

_OTHER = {char: re.compile(f"[^{re.escape(char)} \t]") for char in "-*_"}


def obstacle(row: str, first: int) -> int | None:
    """Where the line, which has one of `-*_` at `first`, stops being a thematic break; None if it is one.

    That is at another character, or at its end if there are too few marks.
    """
    char = row[first]
    other = _OTHER[char].search(row, first)
    if other is not None:
        return other.start()
    return None if row.count(char, first) >= 3 else len(row)


def thematic_break(state: Reading, start: int, end: int, silent: bool) -> bool:
    row, first = state.row, state.first
    if row[first] not in _OTHER or state.first_column - state.column >= CODE_INDENT or obstacle(row, first) is not None:
        return False
    if not silent:
        state.blocks.append(Block("rule", 0, state.depth, start + 1, start + 2, first + 1))
        state.reached = state.line = start + 1
    return True
