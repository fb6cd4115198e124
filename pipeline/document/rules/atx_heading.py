"""ATX headings. Corrects the library, which strips all white space off the text: CommonMark strips blanks (F3)."""

from __future__ import annotations

import re

from pipeline.document.block import Block, text_line
from pipeline.document.rules.state import CODE_INDENT, Reading

_OPENING = re.compile(r"(#{1,6}+)(?:[ \t]++|\Z)")


def atx_heading(state: Reading, start: int, end: int, silent: bool) -> bool:
    row, first = state.row, state.first
    if row[first] != "#" or state.first_column - state.column >= CODE_INDENT:
        return False
    if silent:
        return _OPENING.match(row, first) is not None
    heading = read_heading(row, first, state.depth, start)
    if heading is None:
        return False
    state.blocks.append(heading)
    state.reached = state.line = start + 1
    return True


def read_heading(row: str, first: int, depth: int, number: int) -> Block | None:
    """The heading whose mark stands at `first` of line `number` (from 0); None if it is none."""
    match = _OPENING.match(row, first)
    if match is None:
        return None
    begin = match.end()
    text = row[begin:].rstrip(" \t")
    if text.endswith("#"):
        bare = text.rstrip("#")
        if not bare or bare[-1] in " \t":
            text = bare.rstrip(" \t")
    number += 1
    line = text_line((number, begin + 1, text))
    return Block("heading", 0, depth, number, number + 1, first + 1, match.end(1) - first, (line,))
