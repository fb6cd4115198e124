"""Indented code. Corrects the library in containers' tabs: the columns of a tab that a container's indentation cuts in two."""

from __future__ import annotations

from pipeline.document.block import Block, TextLine
from pipeline.document.rules.state import CODE_INDENT, Reading


def indented_code(state: Reading, startLine: int, endLine: int, silent: bool) -> bool:
    """Never asked about a line that could continue a paragraph: that one is asked before."""
    if silent or state.first_column - state.column < CODE_INDENT:
        return False
    column = state.first + 1
    lines = [_line(state, startLine)]
    length = 1
    number = startLine + 1
    while number < endLine and state.enter(number):
        if state.first == len(state.row):
            lines.append(_line(state, number))
        elif state.first_column - state.column >= CODE_INDENT:
            lines.append(_line(state, number))
            length = len(lines)
        else:
            break
        number += 1
    end = startLine + length
    state.blocks.append(Block("code", 0, state.depth, startLine + 1, end + 1, column, lines=tuple(lines[:length])))
    state.reached = state.line = end
    return True


def _line(state: Reading, number: int) -> TextLine:
    position, _ = state.cut(min(state.column + CODE_INDENT, state.first_column))
    return TextLine(number + 1, position + 1, state.row[position:])
