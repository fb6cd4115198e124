"""Where the reading of a document's blocks stands: the open containers, the current line, the blocks so far."""

from __future__ import annotations

from bisect import bisect_left

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

from pipeline.document.block import Block
from pipeline.document.source import Source

CODE_INDENT = 4
"""Columns of indentation from which on a line begins no block but indented code."""

MAX_NESTING = 10_000
"""How many quotes and items may be open in one another. CommonMark has no limit; this one is far beyond what anybody
writes, and bounds what readers of the blocks hold a level."""

_TAB_STOP = 4
_QUOTE = -1
_NEVER = 1 << 62


class Reading(StateBlock):
    """The state that markdown-it hands to the block rules, kept as CommonMark's appendix on parsing (phase 1) has it.

    The library's state knows the offsets of all lines; its containers look ahead for their end, rewrite their lines'
    offsets and start over inside. So deep nesting costs depth times lines and ends in a RecursionError, and a lazy line
    is judged by a container that it is not inside of. Here the open containers are a stack, and each line finds its
    way through them once.

    rows: the source's lines. reached: the end (exclusive, from 0) of what was read, blank lines behind it not counted.
    blocks: what was read. depth: of the next block.

    The open containers, the outermost first: openings: their opening blocks. lists: an item's list; None for a quote.
    indents: how many columns a line must be indented by to be inside the item; _QUOTE for a quote. quotes: the quotes'
    indices. childless: the innermost container is an item of which nothing but the marker was read.

    The current line: entered: its index. row: its text. matched: how many containers it is inside of. column: where the
    innermost one's content begins. first: the first character behind their marks that is no blank, at first_column.
    run: where the blanks before it begin, at run_column. Positions count code points, columns have tabs expanded; both
    are from 0. interrupting: whether rules in silent mode are asked to interrupt a paragraph, or to begin beside one in
    a container that the line is not inside of. interrupters: these rules.
    """

    def __init__(self, source: Source, parser: MarkdownIt) -> None:
        # Not super().__init__(), which indexes the whole text once more. This is what `ParserBlock.tokenize` looks at:
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

        self.openings: list[Block] = []
        self.lists: list[Block | None] = []
        self.indents: list[int] = []
        self.quotes: list[int] = []
        self.childless = False
        self.depth = 0

        self.entered = -1
        self.row = ""
        self.run = self.run_column = 0
        self.first = self.first_column = 0
        self.column = 0
        self.matched = 0
        self.interrupting = False
        self.interrupters = parser.block.ruler.getRules("paragraph")

    def isEmpty(self, line: int) -> bool:
        """No rule of ours asks this. The loop tells tight lists by it, which nobody reads, and passes over one empty
        line, as it does by `skipEmptyLines`."""
        return False

    def skipEmptyLines(self, from_pos: int) -> int:
        """The first line from this one on that is not empty."""
        rows = self.rows
        while from_pos < self.lineMax:
            row = rows[from_pos]
            if row and (row[0] not in " \t" or row.strip(" \t")):
                break
            from_pos += 1
        return from_pos

    def enter_unmarked(self, number: int) -> None:
        """`enter` for a line that begins with no blank, where no container is open."""
        self.entered = number
        self.row = self.rows[number]
        self.run = self.run_column = self.first = self.first_column = self.column = self.matched = 0

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
        """Make a line the current one and go through the open containers' marks; whether it is inside all of them."""
        self.entered = number
        self.row = row = self.rows[number]
        if row and row[0] not in " \t":
            self.run = self.run_column = self.first = self.first_column = self.column = 0
        else:
            self.advance(0, 0)
        index = 0
        for needed in self.indents:
            indent = self.first_column - self.column
            if needed == _QUOTE:
                if indent >= CODE_INDENT or not row.startswith(">", self.first):
                    break
                self.pass_quote_mark()
            elif indent >= needed:
                self.column += needed
            elif self.first == len(row):
                # A blank line is inside every item and no quote. Items may be many: go to the next quote at once.
                self.column = self.first_column
                quote = bisect_left(self.quotes, index)
                index = self.quotes[quote] if quote < len(self.quotes) else len(self.indents)
                break
            else:
                break
            index += 1
        self.matched = index
        return index == len(self.indents)

    def cut(self, column: int) -> tuple[int, int]:
        """Where the current line's text from a column on begins, and how many columns of a cut tab come before it.

        The column is among the blanks of `run`, or `first_column`.
        """
        if self.row.find("\t", self.run, self.first) < 0:
            return self.first - (self.first_column - column), 0
        position, at = self.run, self.run_column
        while at < column:
            at += _TAB_STOP - at % _TAB_STOP if self.row[position] == "\t" else 1
            position += 1
        return position, at - column

    def pass_blank_line(self) -> None:
        """An item may begin with one blank line, not with two: the one that its marker stands on is the first."""
        if self.childless:
            self.indents[-1] = _NEVER

    def open_quote(self, number: int) -> None:
        block = Block("quote", 1, self.depth, number + 1, 0, self.first + 1)
        self.blocks.append(block)
        self.depth += 1
        self.quotes.append(len(self.indents))
        self.openings.append(block)
        self.lists.append(None)
        self.indents.append(_QUOTE)
        self.childless = False

    def open_item(self, number: int, column: int, marker: str, *, sibling: bool) -> None:
        """Open an item: in the list of the innermost open item, which ends here, or in a list of its own."""
        number += 1
        blocks = self.blocks
        if sibling:
            self._end(self.openings[-1])
        else:
            block = Block("list", 1, self.depth, number, 0, column)
            blocks.append(block)
            self.depth += 1
            self.lists.append(block)
            self.openings.append(block)
            self.indents.append(0)
        depth = self.depth
        block = Block("item", 1, depth, number, 0, column, 0, (), "", "", True, marker)
        blocks.append(block)
        self.depth = depth + 1
        self.openings[-1] = block

    def close(self, index: int) -> None:
        """Close the containers from `index` on, the innermost first."""
        while len(self.indents) > index:
            self.indents.pop()
            self.childless = False
            self._end(self.openings.pop())
            list_block = self.lists.pop()
            if list_block is None:
                self.quotes.pop()
            else:
                self._end(list_block)

    def _end(self, block: Block) -> None:
        self.depth = depth = block.depth
        block.end_line = end = self.reached + 1
        self.blocks.append(Block(block.kind, -1, depth, block.line, end, block.column))
