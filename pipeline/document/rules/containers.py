"""Block quotes and list items: which open ones a line is inside of, and which it opens.

Replaces the library's `blockquote` and `list`, which recurse once a level (RecursionError, and nothing read beyond `maxNesting`), cost
depth times lines, take a lazy line's indentation from the container that it is outside of, and lose the columns
of a tab that a mark cuts in two.
"""

from __future__ import annotations

import re

from pipeline.document.rules.state import CODE_INDENT, Container, Reading
from pipeline.document.rules.thematic_break import OTHER_THAN, is_thematic_break

_ITEM = re.compile(r"(?:[*+-]|[0-9]{1,9}+[.)])(?=[ \t]|\Z)")
_ITEM_START = frozenset("-*+0123456789")
_MAX_MARKER_BLANKS = 4


def containers(state: Reading, startLine: int, endLine: int, silent: bool) -> bool:
    """Asked first for every line that is not the continuation of a leaf block. Handles a line without a leaf block by itself;
    for others it leaves the state behind the containers' marks, and the leaf's rule goes on from there."""
    if silent:
        return _begins(state)
    if startLine > state.reached and state.containers:  # over blank lines
        if state.quotes:
            state.close(state.quotes[0])
        state.pass_blank_line()
    state.enter(startLine)
    index = state.matched
    opened = _open(state, startLine, index)
    if not opened:
        state.close(index)
    if state.first == len(state.row):
        if not opened:
            state.pass_blank_line()
        state.reached = state.line = startLine + 1
        return True
    if state.containers:
        state.containers[-1].childless = False
    return False


def _open(state: Reading, number: int, index: int) -> bool:
    """Open the containers that begin on the current line inside of the first `index` ones; whether there are any."""
    row = state.row
    size = len(row)
    before = index
    ruled = 0
    while (first := state.first) < size and state.first_column - state.column < CODE_INDENT:
        char = row[first]
        if char == ">":
            sibling = None
        elif char in _ITEM_START:
            if char in "-*" and first >= ruled:
                # Wherever a look for a thematic break got stuck, the next one would, too. This keeps `- - - - … a` linear.
                if is_thematic_break(row, first):
                    break
                other = OTHER_THAN[char].search(row, first)
                ruled = other.start() if other else size
            match = _ITEM.match(row, first)
            if match is None:
                break
            marker = match[0]
            ended = state.containers[index] if index < len(state.containers) else None
            sibling = ended if ended and ended.list_kind == marker[-1] else None
        else:
            break
        state.close(index + 1 if sibling else index)
        if index and not sibling:
            state.containers[index - 1].childless = False
        if char == ">":
            state.open_quote(number)
            state.pass_quote_mark()
        else:
            _open_item(state, number, marker, sibling)
        index += 1
    return index > before


def _open_item(state: Reading, number: int, marker: str, sibling: Container | None) -> None:
    offset = state.first_column - state.column
    state.open_item(number, marker, 0, sibling)
    state.advance(state.first + len(marker), state.first_column + len(marker))
    blanks = state.first_column - state.column
    item = state.containers[-1]
    if state.first == len(state.row):
        item.childless = True
        blanks = 1
    elif blanks > _MAX_MARKER_BLANKS:
        blanks = 1
    item.indent = offset + len(marker) + blanks
    state.column += blanks


def _begins(state: Reading) -> bool:
    """Whether a container begins at the current line's first character. An item interrupts a paragraph only if it
    is not empty and no later number than 1."""
    row, first = state.row, state.first
    if row[first] == ">":
        return True
    match = _ITEM.match(row, first)
    if match is None:
        return False
    if not state.interrupting:
        return True
    number = match[0][:-1]
    return (not number or int(number) == 1) and bool(row[match.end() :].strip(" \t"))
