"""Source lines as a terminal shows them: what is printed for each character, and how many columns it takes.

Widths are wcwidth's, by grapheme: full-width forms and emoji (ZWJ sequences, flags, variation selectors) take two
columns, combining marks none of their own. East Asian ambiguous characters take one.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from wcwidth import iter_graphemes, width

from pipeline.diagnostics.visible import visible

_TAB: Final = 4
_ELLIPSIS: Final = "…"

PLAIN: Final = " -~\u3000-\u3029\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff\uff01-\uff60"
"""A character class: those that are a grapheme by themselves, in ASCII one column wide, elsewhere two. Nearly all of
nearly every line is of them, and they are measured without a look into the tables."""

_RUNS: Final = re.compile(f"([{PLAIN}]+)(?![^{PLAIN}])|[{PLAIN}]?[^{PLAIN}]+")
"""Plain characters; or others, with the one in front of them, which a mark among them may join."""


class Cell(NamedTuple):
    """`length` code points, shown as `text` in `width` columns; a tab is still to be expanded."""

    text: str
    width: int
    length: int


class Row(NamedTuple):
    """A part of a line, grapheme by grapheme: what is shown for each, and where, in columns and in code points, each
    begins. Both have one more entry: where the last one ends.

    `plain`: the part itself, where each of its characters is shown as it is in one column; "" elsewhere."""

    texts: list[str]
    columns: list[int]
    points: list[int]
    plain: str


class Excerpt(NamedTuple):
    """A line as shown, cropped to the room there is, and where in it the marked part stands, in columns from 0."""

    text: str
    mark: int
    mark_width: int


def _cell(grapheme: str) -> Cell:
    if grapheme == "\t":
        return Cell(grapheme, 0, 1)
    if grapheme < " " or grapheme == "\x7f":
        return Cell(chr(0x2421 if grapheme == "\x7f" else 0x2400 + ord(grapheme[0])), 1, len(grapheme))
    text = visible(grapheme)
    return Cell(text, width(text), len(grapheme))


@lru_cache(maxsize=1024)
def _measured(run: str) -> tuple[Cell, ...]:
    return tuple(map(_cell, iter_graphemes(run)))


@lru_cache(maxsize=64)
def row(line: str) -> Row:
    """Tabs become blanks; what is invisible or acts on a terminal becomes a picture (`␛`) or an escape (`\\u202e`)."""
    texts: list[str] = []
    widths: list[int] = []
    lengths: list[int] = []
    for run in _RUNS.finditer(line):
        if run[1]:
            texts += run[1]
            widths += [1 if character < "\x7f" else 2 for character in run[1]]
            lengths += [1] * len(run[1])
            continue
        for cell in _measured(run[0]):
            blanks = _TAB - sum(widths) % _TAB if cell.text == "\t" else 0
            texts.append(" " * blanks or cell.text)
            widths.append(blanks or cell.width)
            lengths.append(cell.length)
    plain = line if line.isascii() and line.isprintable() else ""
    return Row(texts, list(accumulate(widths, initial=0)), list(accumulate(lengths, initial=0)), plain)


def _window(columns: list[int], first: int, last: int, room: int) -> tuple[int, int]:
    """The graphemes to show, from, up to: so that those marked, `first` up to `last`, have text on both sides."""
    side = max((room - (columns[last] - columns[first])) // 2, room // 4)
    begin = bisect_left(columns, columns[first] - side)
    stop = bisect_right(columns, columns[begin] + room) - 1
    return bisect_left(columns, columns[stop] - room), stop


def excerpt(line: str, start: int, end: int, room: int) -> Excerpt:
    """`line` in at most `room` columns (8 at least), the code points from `start` up to `end` (0-based) marked.

    The mark is at least one column wide; it may stand just behind the line's end. However long the line is, only a part
    of it is looked at: at least `room` code points on both sides of the mark's beginning, cut at multiples of `room` so
    that marks beside each other, of which there may be half a million, have one in common.
    """
    room = max(room, 8)
    start = min(start, len(line))
    if len(line) <= room and line.isascii() and line.isprintable():
        return Excerpt(line, start, max(1, min(end, len(line)) - start))
    block = start // room
    low, high = max(0, (block - 1) * room), min(len(line), (block + 2) * room)
    texts, columns, points, plain = row(line[low:high])
    if plain:
        return _plain_excerpt(plain, start - low, end - low, room, low > 0, high < len(line))
    first = bisect_right(points, start - low) - 1
    last = max(first, min(bisect_left(points, end - low), len(texts)))
    begin, stop = 0, len(texts)
    left = right = ""
    if low > 0 or high < len(line) or columns[-1] > room:
        begin, stop = _window(columns, first, last, room - 2)
        left = _ELLIPSIS if low > 0 or begin > 0 else ""
        right = _ELLIPSIS if high < len(line) or stop < len(texts) else ""
    return Excerpt(
        f"{left}{''.join(texts[begin:stop])}{right}",
        len(left) + columns[first] - columns[begin],
        max(1, columns[min(last, stop)] - columns[first]),
    )


def _plain_excerpt(plain: str, first: int, end: int, room: int, before: bool, behind: bool) -> Excerpt:
    """The same where columns are code points: of a line of half a million marks each takes its own excerpt."""
    size = len(plain)
    last = max(first, min(end, size))
    if not before and not behind and size <= room:
        return Excerpt(plain, first, max(1, last - first))
    inside = room - 2
    side = max((inside - (last - first)) // 2, inside // 4)
    stop = min(size, max(0, first - side) + inside)
    begin = max(0, stop - inside)
    shown = plain[begin:stop]
    if behind or stop < size:
        shown += _ELLIPSIS
    if before or begin > 0:
        shown = _ELLIPSIS + shown
        begin -= 1
    return Excerpt(shown, first - begin, max(1, min(last, stop) - first))
