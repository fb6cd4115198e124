"""The prose of a section as canonical Markdown: without comments, with one blank line where one is needed.

Two documents that differ in comments, blank lines or the depth of an indentation give the same prose; so such an edit
stops at the parse stage (R1). Fences are left out: where one stands there is its index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.artifacts import Segment
from pipeline.document.blocks import Block
from pipeline.document.html import without_comments
from pipeline.document.inline import scan_inline

_MAX_MARKS = 30
"""Containers inside this many others have no marks of their own: each line could repeat 10,000 of them."""


class _Writer:
    """Writes leaves with the marks of the containers around them: `first` for the next line, `rest` for later ones."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.lines: list[str] = []
        self.first = ""
        self.rest = ""
        self.above = ""
        self.outer: list[str] = []
        self.adjoins = False  # the next leaf begins a list item that stands directly below the line above
        self.begins = False  # a top-level list begins, which a blank line sets off

    def open(self, block: Block) -> None:
        self.outer.append(self.rest)
        if len(self.outer) > _MAX_MARKS:
            return
        if block.kind == "quote":
            self.first, self.rest = self.first + "> ", self.rest + "> "
        elif block.kind == "list":
            self.begins = block.depth == 0
        elif block.kind == "item":
            marker = block.marker + " "
            self.first, self.rest = self.first + marker, self.rest + " " * len(marker)
            self.adjoins, self.begins = not self.begins, False

    def close(self) -> None:
        self.rest = self.outer.pop()
        self.first = self.rest

    def leaf(self, lines: Sequence[str]) -> None:
        """Nothing, for no lines."""
        if not lines:
            return
        written = self.lines
        if written and not self.adjoins:
            written.append(_common(self.above, self.rest).rstrip() if self.above else "")
        if self.first:
            for line in lines:
                written.append(self.first + line if line else self.first.rstrip(" "))
                self.first = self.rest
        else:
            written += lines
        self._settle()

    def fence(self, index: int) -> None:
        if self.first != self.rest:  # an item that begins with the fence keeps its marker
            self.lines.append(self.first.rstrip())
            self.first = self.rest
        self.flush()
        self.segments.append(index)
        self._settle()

    def _settle(self) -> None:
        self.adjoins = self.begins = False
        self.above = self.rest

    def flush(self) -> None:
        while self.lines and not self.lines[-1].strip():
            self.lines.pop()
        if self.lines:
            self.segments.append("\n".join(self.lines))
        self.lines = []


def _common(one: str, other: str) -> str:
    length = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]


def write_prose(blocks: Iterable[Block], fences: Iterable[int | None]) -> tuple[Segment, ...]:
    """The blocks' prose; segments are whole lines, joined by line ends.

    `fences`: the numbers of those among the blocks, in order; None for a blank one, which goes nowhere (I1).
    """
    writer = _Writer()
    numbers = iter(fences)
    for block in blocks:
        kind = block.kind
        if block.nesting:
            if block.nesting == 1:
                writer.open(block)
            else:
                writer.close()
        elif kind == "fence":
            number = next(numbers)
            if number is not None:
                writer.fence(number)
        elif kind == "paragraph":
            writer.leaf(_shown([line.text for line in block.lines]))
        elif kind == "heading":
            lines = _shown([line.text for line in block.lines])
            writer.leaf(["#" * block.level + " " + " ".join([line.strip() for line in lines])])
        else:
            writer.leaf(_lines(block))
    writer.flush()
    return tuple(writer.segments)


def _lines(block: Block) -> list[str]:
    """Of all other leaves."""
    if block.kind == "rule":
        return ["---"]
    lines = [line.text for line in block.lines]
    if block.kind == "code":
        return ["    " + line if line else line for line in lines]
    if block.kind == "html":
        return [line for line in without_comments("\n".join(lines)).split("\n") if line.strip()]
    return lines


def _shown(lines: list[str]) -> list[str]:
    """A paragraph's or heading's lines without comments, which may go over several."""
    text = lines[0] if len(lines) == 1 else "\n".join(lines)
    if "<!--" not in text:
        return lines
    return [line for line in _without_inline_comments(text).split("\n") if line.strip()]


def _without_inline_comments(text: str) -> str:
    parts, position = [], 0
    for span in scan_inline(text).spans:
        if span.kind == "comment" and span.start >= position:
            parts.append(text[position : span.start])
            position = span.end
    parts.append(text[position:])
    return "".join(parts)
