"""Block quotes and list items: which open ones a line is inside of, and which ones it opens.

Replaces the library's `blockquote` and `list`, which recurse (a RecursionError, or nothing read beyond `maxNesting`),
cost depth times lines, and judge a lazy line by a container that it is not inside of.
"""

from __future__ import annotations

import re

from pipeline.document.rules.state import CODE_INDENT, MAX_NESTING, Reading
from pipeline.document.rules.thematic_break import obstacle

_ITEM = re.compile(r"(?:[*+-]|[0-9]{1,9}+[.)])(?=[ \t]|\Z)")
_ITEM_START = frozenset("-*+0123456789")
_BLANK_OR_MARK = frozenset(" \t>") | _ITEM_START
_MAX_MARKER_BLANKS = 4


def containers(state: Reading, start: int, end: int, silent: bool) -> bool:
    """Asked first, about each line that continues no leaf block.

    If there is nothing behind the containers' marks the line is read; else the state is left there, and the leaf's rule
    goes on.
    """
    if silent:
        return _begins(state)
    if state.indents:
        if start > state.reached:  # over blank lines
            if state.quotes:
                state.close(state.quotes[0])
            state.pass_blank_line()
    elif state.rows[start][0] not in _BLANK_OR_MARK:
        state.enter_unmarked(start)
        return False
    if state.entered != start:
        state.enter(start)
    opened = _open(state, start)
    if state.first == len(state.row):
        if not opened:
            state.close(state.matched)
            state.pass_blank_line()
        state.reached = state.line = start + 1
        return True
    if not opened:
        state.close(state.matched)
    state.childless = False
    return False


def _open(state: Reading, number: int) -> bool:
    """Open the containers that begin on the current line; whether there are any."""
    row = state.row
    size = len(row)
    index = before = state.matched
    stuck = 0
    while index < MAX_NESTING and (first := state.first) < size and state.first_column - state.column < CODE_INDENT:
        char = row[first]
        if char == ">":
            state.close(index)
            state.open_quote(number)
            state.pass_quote_mark()
        elif char in _ITEM_START:
            # Where a look for a thematic break got stuck, the next one would, too. This keeps `- - - … a` linear.
            if char in "-*" and first >= stuck:
                at = obstacle(row, first)
                if at is None:
                    break
                stuck = at
            match = _ITEM.match(row, first)
            if match is None:
                break
            marker = match[0]
            sibling = index < len(state.indents) and state.openings[index].marker[-1:] == marker[-1]
            state.close(index + 1 if sibling else index)
            _open_item(state, number, marker, sibling)
        else:
            break
        index += 1
    return index > before


def _open_item(state: Reading, number: int, marker: str, sibling: bool) -> None:
    offset = state.first_column - state.column
    state.open_item(number, state.first + 1, marker, sibling=sibling)
    state.advance(state.first + len(marker), state.first_column + len(marker))
    blanks = state.first_column - state.column
    state.childless = state.first == len(state.row)
    if state.childless or blanks > _MAX_MARKER_BLANKS:
        blanks = 1
    state.indents[-1] = offset + len(marker) + blanks
    state.column += blanks


def _begins(state: Reading) -> bool:
    """Whether a container begins at the current line's first character.

    An item interrupts a paragraph only if it is not empty and its number, if any, is 1.
    """
    row, first = state.row, state.first
    if state.matched >= MAX_NESTING:
        return False
    if row[first] == ">":
        return True
    match = _ITEM.match(row, first)
    if match is None:
        return False
    if not state.interrupting:
        return True
    number = match[0][:-1]
    return (not number or int(number) == 1) and bool(row[match.end() :].strip(" \t"))
