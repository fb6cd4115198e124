"""ATX headings. Corrects the library, which strips all white space off the text: CommonMark strips blanks (F3)."""

from __future__ import annotations

import re

from pipeline.document.block import Block, TextLine
from pipeline.document.rules.state import CODE_INDENT, Reading

_OPENING = re.compile(r"(#{1,6}+)(?:[ \t]++|\Z)")


def atx_heading(state: Reading, start: int, end: int, silent: bool) -> bool:
    row, first = state.row, state.first
    if row[first] != "#" or state.first_column - state.column >= CODE_INDENT:
        return False
    match = _OPENING.match(row, first)
    if match is None:
        return False
    if silent:
        return True
    text = row[match.end() :].rstrip(" \t")
    bare = text.rstrip("#")
    if not bare or bare[-1] in " \t":
        text = bare.rstrip(" \t")
    line = TextLine(start + 1, match.end() + 1, text)
    state.blocks.append(Block("heading", 0, state.depth, start + 1, start + 2, first + 1, len(match[1]), (line,)))
    state.reached = state.line = start + 1
    return True
