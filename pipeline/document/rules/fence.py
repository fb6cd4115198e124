"""Fenced code blocks. Corrects the library, which does not say whether a closing fence ended the block (F2)."""

from __future__ import annotations

import re

from pipeline.document.block import Block
from pipeline.document.rules.state import CODE_INDENT, Reading

_OPENING = re.compile(r"(`{3,}+)([^`]*)\Z|(~{3,}+)(.*)", re.DOTALL)


def fence(state: Reading, start: int, end: int, silent: bool) -> bool:
    first = state.first
    offset = state.first_column - state.column
    if state.row[first] not in "`~" or offset >= CODE_INDENT:
        return False
    match = _OPENING.match(state.row, first)
    if match is None:
        return False
    if silent:
        return True
    marks = match[1] or match[3]
    info = (match[2] or match[4] or "").strip(" \t")
    texts: list[str] = []
    closed = False
    nested = bool(state.indents)
    number = start + 1
    while number < end:
        row = state.rows[number]
        if nested or offset or marks in row:
            if not state.enter(number):
                break
            if _closes(state, marks):
                closed = True
                number += 1
                break
            position, blanks = state.cut(min(state.column + offset, state.first_column))
            row = " " * blanks + row[position:] if blanks else row[position:]
        texts.append(row)
        number += 1
    text = "\n".join(texts) + "\n" if texts else ""
    state.blocks.append(
        Block("fence", 0, state.depth, start + 1, number + 1, first + 1, text=text, info=info, closed=closed)
    )
    state.reached = state.line = number
    return True


def _closes(state: Reading, marks: str) -> bool:
    row, first = state.row, state.first
    return (
        row.startswith(marks, first)
        and state.first_column - state.column < CODE_INDENT
        and not row[first:].rstrip(" \t").strip(marks[0])
    )
