"""What a document's block structure is made of. `blocks.read_blocks` reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, NamedTuple

BlockKind = Literal["heading", "paragraph", "fence", "code", "html", "rule", "definition", "quote", "list", "item"]


class TextLine(NamedTuple):
    """One source line's part of a leaf block: `text` begins at `column` of line `number` (1-based, code points)."""

    number: int
    column: int
    text: str


text_line: Final[Callable[[tuple[int, int, str]], TextLine]] = partial(tuple.__new__, TextLine)
"""A `TextLine` of its fields, in half the time: there is one for each line of text."""


@dataclass(slots=True)
class Block:
    """A block, in document order. A container (quote, list, item) is an opening block (nesting 1), its content, and a
    closing block (nesting -1).

    depth: how many containers are open around it (a container's opening and closing blocks have the depth outside it).
    line, end_line: 1-based, end exclusive. A fence ends behind its closing mark, else behind its last line of text;
    blank lines behind a container's content may or may not be its own.
    column: of its first character that is no blank (a fence's or heading's marker, a setext heading's text), 1-based.
    lines: for heading, paragraph, code, html, definition: its text without containers' marks; a heading without its own
    marks (a setext heading without the underline), a paragraph's and heading's lines without the blanks that CommonMark
    strips. The source holds each line's text at that very column; a tab of which only a part is text is left out.
    There is at least one line; an empty heading has an empty one.
    A fence has `text` (LF-terminated lines, or ""), `info` (the whole info string, as written) and `closed` (by a
    closing fence). An item has `marker`: its list marker as written (`-`, `1.`, `2)`). A definition (of a link
    reference) has `label`, as `blocks.normalize_label` makes it.
    """

    kind: BlockKind
    nesting: Literal[-1, 0, 1]
    depth: int
    line: int
    end_line: int
    column: int = 1
    level: int = 0
    lines: tuple[TextLine, ...] = ()
    text: str = ""
    info: str = ""
    closed: bool = True
    marker: str = ""
    label: str = ""
