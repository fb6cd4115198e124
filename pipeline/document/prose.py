"""The prose of a section as canonical Markdown: without comments, with one blank line where one is needed.

Two documents that differ in comments, blank lines or the depth of an indentation give the same prose; so such an edit
stops at the parse stage (R1). Fences are left out: where one stands there is its index.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.artifacts import Segment
from pipeline.document.blocks import Block
from pipeline.document.html import without_comments
from pipeline.document.inline import scan_inline

_MAX_MARKS = 30
"""Containers inside this many others have no marks of their own: each line could repeat 10,000 of them."""


def write_prose(blocks: Iterable[Block], fences: Iterable[int | None]) -> tuple[Segment, ...]:
    """The blocks' prose; segments are whole lines, joined by line ends.

    `fences`: the numbers of those among the blocks, in order; None for a blank one, which goes nowhere (I1).
    """
    segments: list[Segment] = []
    written: list[str] = []
    numbers = iter(fences)
    # The marks of the containers around a leaf: for its next line, for later ones, and those of the leaf above.
    first = rest = above = ""
    outer: list[str] = []
    adjoins = False  # the next leaf begins a list item that stands directly below the line above
    begins = False  # a top-level list begins, which a blank line sets off
    for block in blocks:
        kind = block.kind
        if block.nesting == 1:
            outer.append(rest)
            if len(outer) > _MAX_MARKS:
                continue
            if kind == "list":
                begins = block.depth == 0
            else:
                marker = "> " if kind == "quote" else block.marker + " "
                first += marker
                rest += "> " if kind == "quote" else " " * len(marker)
                if kind == "item":
                    adjoins, begins = not begins, False
        elif block.nesting:
            first = rest = outer.pop()
        elif kind == "fence":
            number = next(numbers)
            if number is None:
                continue
            if first != rest:  # an item that begins with the fence keeps its marker
                written.append(first.rstrip())
                first = rest
            segments += _joined(written)
            segments.append(number)
            written = []
            adjoins = begins = False
            above = rest
        elif lines := _shown(block):
            if written and not adjoins:
                written.append(_common(above, rest).rstrip() if above else "")
            for line in lines:
                written.append(first + line if line else first.rstrip(" "))
                first = rest
            adjoins = begins = False
            above = rest
    segments += _joined(written)
    return tuple(segments)


def _joined(lines: list[str]) -> list[str]:
    """As one piece, without the blank lines at their end; none for none."""
    while lines and not lines[-1].strip():
        lines.pop()
    return ["\n".join(lines)] if lines else []


def _common(one: str, other: str) -> str:
    length = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]


def _shown(block: Block) -> list[str]:
    """A leaf's lines without comments, which may go over several."""
    kind = block.kind
    if len(block.lines) == 1:
        text = block.lines[0].text
        lines = [text]
    else:
        lines = [line.text for line in block.lines]
        text = "\n".join(lines)
    if kind in ("paragraph", "heading"):
        if "<!--" in text:
            lines = [line for line in _without_inline_comments(text).split("\n") if line.strip()]
        return lines if kind == "paragraph" else ["#" * block.level + " " + " ".join(map(str.strip, lines))]
    if kind == "rule":
        return ["---"]
    if kind == "code":
        return ["    " + line if line else line for line in lines]
    if kind == "html":
        return [line for line in without_comments(text).split("\n") if line.strip()]
    return lines


def _without_inline_comments(text: str) -> str:
    parts, position = [], 0
    for span in scan_inline(text).spans:
        if span.kind == "comment" and span.start >= position:
            parts.append(text[position : span.start])
            position = span.end
    parts.append(text[position:])
    return "".join(parts)
