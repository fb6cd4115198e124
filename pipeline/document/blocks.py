"""The document's blocks, exactly as CommonMark 0.31 has them (F1), each with its place in the source.

markdown-it-py's block rules do the reading; inline structure is not parsed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipeline.document.source import Source

BlockKind = Literal["heading", "paragraph", "fence", "code", "html", "rule", "definition", "quote", "list", "item"]


class TextLine(NamedTuple):
    """One source line's part of a leaf block: `text` begins at `column` (1-based, code points) of line `number` (1-based)."""

    number: int
    column: int
    text: str


@dataclass(slots=True)
class Block:
    """A block, in document order; a container (quote, list, item) is an opening block (nesting 1), its content, a closing one (-1).

    depth: how many containers are open around it (a container's opening and closing blocks have the depth outside it).
    line, end_line: 1-based, end exclusive. column: of its first character (a fence's or heading's marker), 1-based.
    lines: for heading, paragraph, code, html: its text without containers' marks; a heading without its own marks (a setext
    heading without the underline), a paragraph's and heading's lines without the blanks that CommonMark strips. The source
    holds each line's text at that very column.
    A fence has `text` (LF-terminated lines, or ""), `info` (the whole info string, as written) and `closed` (by a closing fence).
    An item has `marker`: its list marker as written (`-`, `1.`, `2)`).
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


_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
    "blockquote_open": "quote",
    "blockquote_close": "quote",
    "bullet_list_open": "list",
    "bullet_list_close": "list",
    "ordered_list_open": "list",
    "ordered_list_close": "list",
    "list_item_open": "item",
    "list_item_close": "item",
}


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 1 << 30})
    parser.core.ruler.enableOnly(["block"])
    return parser


_PARSER = _parser()


def _place(lines: list[str], number: int, text: str) -> TextLine:
    source = lines[number]
    stripped = text.lstrip(" \t")
    return TextLine(number + 1, source.rfind(stripped) + 1 if stripped else len(source) + 1, stripped)


def read_blocks(source: Source) -> list[Block]:
    """All blocks of the document, in time linear in its size."""
    tokens: list[Token] = _PARSER.parse(source.text)
    blocks: list[Block] = []
    depth = 0
    opened: list[Block] = []
    for index, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if kind is None:
            continue
        if token.nesting < 0:
            depth -= 1
            start = opened.pop()
            blocks.append(Block(kind, -1, depth, start.line, start.end_line, start.column))
            continue
        first, end = token.map or (0, 0)
        block = Block(kind, 0, depth, first + 1, end + 1)
        block.column = len(source.lines[first]) - len(source.lines[first].lstrip()) + 1
        if kind in ("quote", "list", "item"):
            block.nesting = 1
            depth += 1
            opened.append(block)
            block.marker = f"{token.info}{token.markup}" if kind == "item" else ""
        elif kind in ("heading", "paragraph"):
            content = tokens[index + 1].content
            block.level = int(token.tag[1:]) if kind == "heading" else 0
            block.lines = tuple(_place(source.lines, first + n, text) for n, text in enumerate(content.split("\n")))
        elif kind == "fence":
            block.text, block.info = token.content, token.info.strip(" \t")
            block.column = source.lines[first].find(token.markup) + 1
            block.closed = end - first == token.content.count("\n") + 2
        else:
            content = token.content.removesuffix("\n")
            block.lines = tuple(_place(source.lines, first + n, text) for n, text in enumerate(content.split("\n")))
        blocks.append(block)
    return blocks
