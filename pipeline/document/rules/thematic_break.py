"""Thematic breaks. The library reads them right; this rule makes a `Block` of them, behind our containers."""

from __future__ import annotations

import re

from pipeline.document.block import Block
from pipeline.document.rules.state import CODE_INDENT, Reading

OTHER_THAN = {char: re.compile(f"[^{re.escape(char)} \t]") for char in "-*_"}
"""By a thematic break's character: what ends it."""


def is_thematic_break(row: str, first: int) -> bool:
    """Whether the line is one from its first character that is no blank (one of `OTHER_THAN`) on."""
    char = row[first]
    return OTHER_THAN[char].search(row, first) is None and row.count(char, first) >= 3


def thematic_break(state: Reading, start: int, end: int, silent: bool) -> bool:
    row, first = state.row, state.first
    if (
        row[first] not in OTHER_THAN
        or state.first_column - state.column >= CODE_INDENT
        or not is_thematic_break(row, first)
    ):
        return False
    if not silent:
        state.blocks.append(Block("rule", 0, state.depth, start + 1, start + 2, first + 1))
        state.reached = state.line = start + 1
    return True
