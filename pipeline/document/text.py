"""A leaf block's text with its way back to the source, and the anchors that positions hang on."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from pipeline.document.blocks import TextLine
from pipeline.places import Span, span_of

_ONE_LINE: Final[tuple[int, ...]] = (0,)


class LeafText:
    """The lines of a leaf block joined by LF: `text`. Offsets into it lead back to lines and columns."""

    __slots__ = ("lines", "starts", "text")

    def __init__(self, lines: tuple[TextLine, ...]) -> None:
        self.lines = lines
        if len(lines) == 1:
            self.text = lines[0].text
            self.starts = _ONE_LINE
        else:
            self.text = "\n".join([line.text for line in lines])
            starts, offset = [], 0
            for line in lines:
                starts.append(offset)
                offset += len(line.text) + 1
            self.starts = tuple(starts)

    def point(self, offset: int) -> tuple[int, int]:
        """Line and column (1-based) of the character at `offset`."""
        index = bisect_right(self.starts, offset) - 1
        line = self.lines[index]
        return line.number, line.column + offset - self.starts[index]

    def span(self, start: int, end: int) -> Span:
        """The span of `text[start:end]`; an empty one has no width."""
        end = end if end > start else start
        if self.starts is _ONE_LINE:
            only = self.lines[0]
            number, column = only.number, only.column
            return span_of((number, column + start, number, column + end))
        line, column = self.point(start)
        if end == start:
            return Span(line, column, line, column)
        end_line, end_column = self.point(end - 1)
        return Span(line, column, end_line, end_column + 1)

    def line_end(self, offset: int) -> int:
        """The offset of the end of the line that `offset` stands in."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end


class Anchors:
    """Gathers positions; an anchor is the index of one."""

    __slots__ = ("spans",)

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def add(self, span: Span) -> int:
        self.spans.append(span)
        return len(self.spans) - 1
