"""Paragraphs, and what their text turns out to be: setext headings, link reference definitions.

Replaces the library's `paragraph`, `lheading` and `reference`, which each look for the paragraph's end, strip all white
space off its text (CommonMark strips blanks, F3), and judge a lazy line by a container that it is not inside of.
"""

from __future__ import annotations

import re
from typing import Literal

from pipeline.document.block import Block, TextLine, text_line
from pipeline.document.rules.atx_heading import read_heading
from pipeline.document.rules.definition import read_definition
from pipeline.document.rules.fence import fence
from pipeline.document.rules.state import CODE_INDENT, Reading

_MARKS = frozenset("#`~>*+-=_<0123456789")
"""What a line begins with that may be more than a paragraph's text."""

_BLANK_OR_MARK = _MARKS | frozenset(" \t")
_UNDERLINE = re.compile(r"(?:=++|-++)[ \t]*+\Z")
_TEXT = re.compile(r"(?:([-*+]|[0-9]{1,9}+[.)]) )?+(?=[^- \t#`~>*+=_<0-9]|\*\*[^ \t*]|`[^`]|[0-9]++[^.)])")
"""An item's marker and one blank, if there are any, where what is behind them can only begin a paragraph: a character
that is no mark, strong emphasis, a code span, or digits that number no item."""


def unmarked_blocks(state: Reading, start: int, end: int, silent: bool) -> bool:
    """Asked first, and spares most lines all other rules: paragraphs, headings, items of text and fences that stand at
    the very beginning of a line, one after another up to a line that begins with anything else.

    Such a line is inside no container, whichever are open: an item's content is indented, a quote's behind its mark.
    """
    if silent:
        return False
    rows, blocks = state.rows, state.blocks
    number = start
    text: re.Match[str] | None = None  # of the line, where the one above it has asked
    while number < end:
        row = rows[number]
        if not row:
            number += 1
            continue
        char = row[0]
        first = 0
        if char not in _BLANK_OR_MARK:
            if state.indents:
                state.close(0)
        elif char == "#":
            heading = read_heading(row, 0, 0, number)
            if heading is None:
                break
            if state.indents:
                state.close(0)
            blocks.append(heading)
            number += 1
            state.reached = number
            continue
        elif char in " >\t":
            break
        elif text := text or _TEXT.match(row):
            first = text.end()
            if first:
                _open_item(state, number, text[1])
                row = row[first:]
            else:
                state.close(0)
        elif row.startswith(("```", "~~~")):
            state.close(0)
            state.enter_unmarked(number)
            if not fence(state, number, end, False):
                break
            number = state.line
            continue
        else:
            break
        number += 1
        line = text_line((number, first + 1, row))
        behind = rows[number] if number < end else ""
        # The next item ends this one's paragraph, whatever its number: it stands outside. Other text may go on lazily.
        text = _TEXT.match(behind) if first and behind else None
        if text is not None and not text.end():
            text = None
        # As `_ended` has it, of the one line that most are: no definition, and no blanks to take off.
        if (not behind or text) and row[0] != "[" and row[-1] not in " \t":
            blocks.append(Block("paragraph", 0, state.depth, number, number + 1, first + 1, 0, (line,)))
            state.reached = number
            continue
        lines = [line]
        while behind and behind[0] not in _BLANK_OR_MARK:
            number += 1
            lines.append(text_line((number, 1, behind)))
            behind = rows[number] if number < end else ""
        if behind and not text:
            return _continued(state, lines, number, end)
        _ended(state, lines, number)
    state.line = number
    return number > start


def _open_item(state: Reading, number: int, marker: str) -> None:
    """Open an item at the beginning of line `number`: in the outermost list, if it is one of its items."""
    openings = state.openings
    sibling = bool(openings) and openings[0].marker[-1:] == marker[-1]
    state.close(1 if sibling else 0)
    state.open_item(number, 1, marker, sibling=sibling)
    state.indents[-1] = len(marker) + 1
    state.childless = False


def plain_paragraph(state: Reading, start: int, end: int, silent: bool) -> bool:
    """Spares most other lines the rules below: no block but a paragraph begins with this character."""
    if silent or state.row[state.first] in _MARKS or state.first_column - state.column >= CODE_INDENT:
        return False
    first = state.first
    return _continued(state, [text_line((start + 1, first + 1, state.row[first:]))], start + 1, end)


def paragraph(state: Reading, start: int, end: int, silent: bool) -> bool:
    first = state.first
    return not silent and _continued(state, [text_line((start + 1, first + 1, state.row[first:]))], start + 1, end)


def _continued(state: Reading, lines: list[TextLine], number: int, end: int) -> bool:
    """Read on from line `number`, behind `lines`."""
    rows = state.rows
    while number < end:
        row = rows[number]
        if not row:
            break
        if row[0] not in _BLANK_OR_MARK:  # lazily, if a container is open
            number += 1
            lines.append(text_line((number, 1, row)))
            continue
        inside = state.enter(number)
        first = state.first
        if first == len(row):
            break
        if row[first] in _MARKS and state.first_column - state.column < CODE_INDENT:
            if inside and _UNDERLINE.match(row, first):
                lines = _take_definitions(state, lines)
                if lines:
                    _add(state, "heading", lines, number + 1, 1 if row[first] == "=" else 2)
                    return True
            state.interrupting = inside
            for rule in state.interrupters:
                if rule(state, number, end, True):
                    return _ended(state, lines, number)
        number += 1
        lines.append(text_line((number, first + 1, row[first:])))
    return _ended(state, lines, number)


def _ended(state: Reading, lines: list[TextLine], number: int) -> bool:
    """Make a block of the lines, if they are more than definitions."""
    if lines and lines[0].text[0] == "[":
        lines = _take_definitions(state, lines)
    if lines:
        _add(state, "paragraph", lines, number)
    else:
        state.reached = state.line = number
    return True


def _add(
    state: Reading, kind: Literal["paragraph", "heading"], lines: list[TextLine], end: int, level: int = 0
) -> None:
    number, column, text = lines[-1]
    if text[-1] in " \t":
        lines[-1] = text_line((number, column, text.rstrip(" \t")))
    if len(lines) > 1:
        number, column, _ = lines[0]
    state.blocks.append(Block(kind, 0, state.depth, number, end + 1, column, level, tuple(lines)))
    state.reached = state.line = end


def _take_definitions(state: Reading, lines: list[TextLine]) -> list[TextLine]:
    """Make blocks of the definitions that a paragraph's text begins with; the lines behind them."""
    if not lines[0].text.startswith("["):
        return lines
    text = "\n".join([line.text for line in lines])
    position = taken = 0
    while text.startswith("[", position) and (definition := read_definition(text, position)):
        length = text.count("\n", position, definition.end) + (definition.end == len(text))
        own = tuple(lines[taken : taken + length])
        number, column, _ = own[0]
        block = Block("definition", 0, state.depth, number, number + length, column, lines=own, label=definition.label)
        state.blocks.append(block)
        taken += length
        position = definition.end
    return lines[taken:]
