"""Where the reading of a document's blocks stands: the open containers, the current line, the blocks so far."""

from __future__ import annotations

from bisect import bisect_left

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

from pipeline.document.block import Block
from pipeline.document.source import Source

CODE_INDENT = 4
"""Columns of indentation from which on a line begins no block but indented code."""

_TAB_STOP = 4
_NEVER = 1 << 62


class Container:
    """An open quote, or an open item together with its list.

    list_kind: the list's bullet or delimiter, by which its items know it; "" for a quote. indent: how far a line must be
    indented to belong to the item. childless: nothing but the item's marker was read.
    """

    __slots__ = ("childless", "indent", "list_block", "list_kind", "opening")

    def __init__(self, opening: Block, list_block: Block | None = None, list_kind: str = "", indent: int = 0) -> None:
        self.opening = opening
        self.list_block = list_block
        self.list_kind = list_kind
        self.indent = indent
        self.childless = False


class Reading(StateBlock):
    """The state that markdown-it hands to the block rules, kept line by line as CommonMark's own strategy (appendix, phase 1) has it.

    The library's state keeps the offsets of every line, its containers rewrite them once a level, and look ahead for their
    end at each: deep nesting costs depth times lines and ends in a RecursionError, and a lazy line is judged without
    the containers that it is outside of. Here the open containers are a stack, and a line finds its way through them once.

    rows: the source's lines. reached: the end (exclusive, from 0) of what was read; blank lines behind it are not counted.
    Of the current line: `row`; its blanks from `run` (which is at column `run_column`) up to `first` (at `first_column`), the first
    character that is no blank; `column`, where the innermost matched container's content begins; `matched`, how many containers
    the line is inside of. Positions count code points, columns have tabs expanded, both from 0.
    interrupting: in silent mode, whether a rule is asked if it interrupts a paragraph, or if it begins beside one.
    """

    def __init__(self, source: Source, parser: MarkdownIt) -> None:
        # Not super().__init__(), which would index the whole text once more. This is what `ParserBlock.tokenize` looks at:
        self.src = source.text
        self.md = parser
        self.env = {}
        self.tokens = []
        self.line = 0
        self.lineMax = len(source.lines)
        self.blkIndent = 0
        self.level = 0
        self.tight = False
        self.sCount = [0] * self.lineMax

        self.rows = source.lines
        self.reached = 0
        self.blocks: list[Block] = []
        self.containers: list[Container] = []
        self.quotes: list[int] = []
        self.depth = 0

        self.row = ""
        self.run = self.run_column = 0
        self.first = self.first_column = 0
        self.column = 0
        self.matched = 0
        self.interrupting = False

    def isEmpty(self, line: int) -> bool:
        """Whether a line holds nothing but spaces and tabs."""
        row = self.rows[line]
        return not row or (row[0] in " \t" and not row.strip(" \t"))

    def skipEmptyLines(self, from_pos: int) -> int:
        """The first line from this one on that is not empty."""
        while from_pos < self.lineMax and self.isEmpty(from_pos):
            from_pos += 1
        return from_pos

    def advance(self, position: int, column: int) -> None:
        """Let the rest of the current line begin here, and skip its blanks."""
        self.run = position
        self.run_column = self.column = column
        row = self.row
        size = len(row)
        while position < size:
            char = row[position]
            if char == " ":
                column += 1
            elif char == "\t":
                column += _TAB_STOP - column % _TAB_STOP
            else:
                break
            position += 1
        self.first = position
        self.first_column = column

    def pass_quote_mark(self) -> None:
        """Go behind a `>` and the one column of blank that belongs to it, which may be a part of a tab."""
        self.advance(self.first + 1, self.first_column + 1)
        if self.first > self.run:
            self.column += 1

    def enter(self, number: int) -> bool:
        """Make a line the current one and go through the marks of the open containers; whether it is inside all of them."""
        self.row = row = self.rows[number]
        self.advance(0, 0)
        containers = self.containers
        index, count = 0, len(containers)
        while index < count:
            container = containers[index]
            indent = self.first_column - self.column
            if container.list_kind:
                if indent >= container.indent:
                    self.column += container.indent
                elif self.first == len(row):
                    # A blank line is inside every item and no quote. Items may be many: go to the next quote at once.
                    self.column = self.first_column
                    quote = bisect_left(self.quotes, index)
                    index = self.quotes[quote] if quote < len(self.quotes) else count
                    break
                else:
                    break
            elif indent < CODE_INDENT and row.startswith(">", self.first):
                self.pass_quote_mark()
            else:
                break
            index += 1
        self.matched = index
        return index == count

    def cut(self, column: int) -> tuple[int, int]:
        """The position at which the current line's text from `column` on begins, and how many columns of a tab that the column
        cuts in two come before it. `column` is at most `first_column`."""
        if self.row.find("\t", self.run, self.first) < 0:
            return self.first - (self.first_column - column), 0
        position, at = self.run, self.run_column
        while at < column:
            at += _TAB_STOP - at % _TAB_STOP if self.row[position] == "\t" else 1
            position += 1
        return position, at - column

    def pass_blank_line(self) -> None:
        """An item may begin with one blank line, not with two: the one that its marker stands on is the first."""
        if self.containers and self.containers[-1].childless:
            self.containers[-1].indent = _NEVER

    def open_quote(self, number: int) -> None:
        self.quotes.append(len(self.containers))
        self.containers.append(Container(self._open(Block("quote", 1, self.depth, number + 1, 0, self.first + 1))))

    def open_item(self, number: int, marker: str, indent: int, sibling: Container | None) -> None:
        """Open an item, in the list of its sibling, which ends here, or in a list of its own."""
        if sibling is None:
            list_block = self._open(Block("list", 1, self.depth, number + 1, 0, self.first + 1))
        else:
            list_block = self.containers.pop().list_block
            self._end(sibling.opening)
        item = self._open(Block("item", 1, self.depth, number + 1, 0, self.first + 1, marker=marker))
        self.containers.append(Container(item, list_block, marker[-1], indent))

    def close(self, index: int) -> None:
        """Close the containers from `index` on, the innermost first."""
        while len(self.containers) > index:
            container = self.containers.pop()
            self._end(container.opening)
            if container.list_block is None:
                self.quotes.pop()
            else:
                self._end(container.list_block)

    def _open(self, block: Block) -> Block:
        self.blocks.append(block)
        self.depth += 1
        return block

    def _end(self, block: Block) -> None:
        self.depth -= 1
        block.end_line = self.reached + 1
        self.blocks.append(Block(block.kind, -1, block.depth, block.line, block.end_line, block.column))
