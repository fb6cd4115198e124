"""ATX headings. Corrects the library, which strips all Unicode white space off a heading's text: CommonMark strips spaces and tabs."""

from __future__ import annotations

import re

from pipeline.document.block import Block, TextLine
from pipeline.document.rules.state import CODE_INDENT, Reading

_OPENING = re.compile(r"(#{1,6}+)(?:[ \t]++|\Z)")


def atx_heading(state: Reading, startLine: int, endLine: int, silent: bool) -> bool:
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
    line = TextLine(startLine + 1, match.end() + 1, text)
    state.blocks.append(
        Block("heading", 0, state.depth, startLine + 1, startLine + 2, first + 1, len(match[1]), (line,))
    )
    state.reached = state.line = startLine + 1
    return True
