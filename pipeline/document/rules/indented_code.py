"""Indented code. The library reads it right; this rule places each line in the source, behind our containers' marks."""

from __future__ import annotations

from pipeline.document.block import Block, TextLine
from pipeline.document.rules.state import CODE_INDENT, Reading


def indented_code(state: Reading, start: int, end: int, silent: bool) -> bool:
    """Never asked about a line that could continue a paragraph: that one is asked before."""
    if silent or state.first_column - state.column < CODE_INDENT:
        return False
    column = state.first + 1
    lines = [_line(state, start)]
    length = 1
    number = start + 1
    while number < end and state.enter(number):
        if state.first == len(state.row):
            lines.append(_line(state, number))
        elif state.first_column - state.column >= CODE_INDENT:
            lines.append(_line(state, number))
            length = len(lines)
        else:
            break
        number += 1
    end = start + length
    state.blocks.append(Block("code", 0, state.depth, start + 1, end + 1, column, lines=tuple(lines[:length])))
    state.reached = state.line = end
    return True


def _line(state: Reading, number: int) -> TextLine:
    position, _ = state.cut(min(state.column + CODE_INDENT, state.first_column))
    return TextLine(number + 1, position + 1, state.row[position:])
