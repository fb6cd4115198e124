"""The prose of a section as canonical Markdown: without comments, with one blank line where one is needed.

Two documents that differ in comments, blank lines or the depth of an indentation give the same prose; so such an edit
stops at the parse stage (R1). Fences are left out: where one stands there is its index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline.artifacts import Segment
from pipeline.document.blocks import Block
from pipeline.document.html import without_comments
from pipeline.document.inline import scan_inline

NextFence = Callable[[], int | None]
"""The index of the next fence in order; None for a blank one, which goes nowhere (I1)."""


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
        if self.lines and not self.adjoins:
            self.lines.append(_common(self.above, self.rest).rstrip())
        for line in lines:
            self.lines.append((self.first + line).rstrip(" ") if not line else self.first + line)
            self.first = self.rest
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


def write_prose(blocks: Sequence[Block], next_fence: NextFence, *, skip_first: bool) -> tuple[Segment, ...]:
    """The blocks' prose; segments are whole lines, joined by line ends. `skip_first`: without the section's heading."""
    writer = _Writer()
    for index, block in enumerate(blocks):
        if block.nesting == 1:
            writer.open(block)
        elif block.nesting == -1:
            writer.close()
        elif index or not skip_first:
            _write(writer, block, next_fence)
    writer.flush()
    return tuple(writer.segments)


def _write(writer: _Writer, block: Block, next_fence: NextFence) -> None:
    kind = block.kind
    if kind == "fence":
        fence = next_fence()
        if fence is not None:
            writer.fence(fence)
        return
    lines = ["---"] if kind == "rule" else [line.text for line in block.lines]
    if kind in ("paragraph", "heading"):
        text = "\n".join(lines)
        if "<!--" in text:
            lines = _without_inline_comments(text).split("\n")
            lines = [line for line in lines if line.strip()]
        if kind == "heading":
            lines = ["#" * block.level + " " + " ".join(line.strip() for line in lines)]
    elif kind == "code":
        lines = ["    " + line if line else line for line in lines]
    elif kind == "html":
        lines = [line for line in without_comments("\n".join(lines)).split("\n") if line.strip()]
    if lines:
        writer.leaf(lines)


def _without_inline_comments(text: str) -> str:
    parts, position = [], 0
    for span in scan_inline(text).spans:
        if span.kind == "comment" and span.start >= position:
            parts.append(text[position : span.start])
            position = span.end
    parts.append(text[position:])
    return "".join(parts)
