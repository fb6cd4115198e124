"""Source lines as a terminal shows them: what is printed for each character, and how many columns it takes.

Widths are wcwidth's, by grapheme: full-width forms and emoji (ZWJ sequences, flags, variation selectors) take two
columns, combining marks none of their own. East Asian ambiguous characters take one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from wcwidth import iter_graphemes, width

from pipeline.diagnostics.visible import visible

_TAB: Final = 4
_ELLIPSIS: Final = "…"
_POINTS_A_COLUMN: Final = 4
"""Of a longer line only this many code points a column on both sides of the mark are looked at: it bounds the work."""


class Cell(NamedTuple):
    """`text` is shown in `width` columns for the code points from `start` up to `end` (0-based) of the line."""

    text: str
    width: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line as shown, cropped to the room there is, and where in it the marked part stands, in columns from 0."""

    text: str
    mark: int
    mark_width: int


def cells(line: str, start: int = 0, end: int | None = None) -> list[Cell]:
    """The code points from `start` up to `end` of `line`; tabs become blanks, what is invisible a picture or escape."""
    made: list[Cell] = []
    column = 0
    for grapheme in iter_graphemes(line[start:end]):
        if grapheme == "\t":
            taken = _TAB - column % _TAB
            text = " " * taken
        elif grapheme < " " or grapheme == "\x7f":
            text, taken = chr(0x2421 if grapheme == "\x7f" else 0x2400 + ord(grapheme)), 1
        else:
            text = visible(grapheme)
            taken = width(text)
        made.append(Cell(text, taken, start, start + len(grapheme)))
        start += len(grapheme)
        column += taken
    return made


def _window(made: list[Cell], first: int, last: int, room: int) -> tuple[int, int]:
    """The cells to show, from, up to: so that those marked, `first` up to `last`, have text on both sides."""
    begin, end, used = first, first, 0
    marked = sum(cell.width for cell in made[first:last])
    side = max((room - marked) // 2, room // 4)
    while begin > 0 and used + made[begin - 1].width <= side:
        begin -= 1
        used += made[begin].width
    while end < len(made) and used + made[end].width <= room:
        used += made[end].width
        end += 1
    while begin > 0 and used + made[begin - 1].width <= room:
        begin -= 1
        used += made[begin].width
    return begin, end


def excerpt(line: str, start: int, end: int, room: int) -> Excerpt:
    """`line` in at most `room` columns (8 at least), the code points from `start` up to `end` (0-based) marked.

    The mark is at least one column wide; it may stand just behind the line's end.
    """
    room = max(room, 8)
    reach = room * _POINTS_A_COLUMN
    start = min(start, len(line))
    low, high = max(0, start - reach), min(len(line), start + reach)
    made = cells(line, low, high)
    first = next((index for index, cell in enumerate(made) if cell.end > start), len(made))
    last = next((index for index, cell in enumerate(made) if cell.start >= end), len(made))
    last = max(last, first)
    left = right = ""
    begin, stop = 0, len(made)
    if low > 0 or high < len(line) or sum(cell.width for cell in made) > room:
        begin, stop = _window(made, first, last, room - 2)
        left = _ELLIPSIS if low > 0 or begin > 0 else ""
        right = _ELLIPSIS if high < len(line) or stop < len(made) else ""
    shown = "".join(cell.text for cell in made[begin:stop])
    mark = len(left) + sum(cell.width for cell in made[begin:first])
    mark_width = max(1, sum(cell.width for cell in made[first : min(last, stop)]))
    return Excerpt(f"{left}{shown}{right}", mark, mark_width)
