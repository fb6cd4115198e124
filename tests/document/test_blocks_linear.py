"""The time to read a document's blocks grows with its size alone, whatever its shape."""

from collections.abc import Callable
from time import process_time

import pytest
from markdown_it import MarkdownIt

from pipeline.document.blocks import read_blocks
from pipeline.document.source import Source

SIZE = 1 << 18


def filled(unit: str) -> str:
    return unit * (SIZE // len(unit))


HALF = SIZE // 2
SHAPES = {
    "one line of quotes": ">" * SIZE,
    "deep quotes on every line": filled(">" * 1000 + "a\n"),
    "deep quotes, again and again": filled(">" * 1000 + "\n\n"),
    "lazy lines below deep quotes": ">" * HALF + "a\n" + "b\n" * (HALF // 2),
    "one line of items": "- " * HALF + "a",
    "blank lines in deep items": "- " * (HALF // 2) + "a" + "\n" * HALF,
    "blank lines in a fence in deep items": "- " * (HALF // 2) + "```" + "\n" * HALF,
    "lazy lines below deep items": "1. " * (HALF // 3) + "a\n" + "b\n" * (HALF // 2),
    "quotes in items": filled("- > ") + "a",
    "blank quotes below items in quotes": "- > " * (HALF // 4) + "a\n" + "> \n\n" * (HALF // 4),
    "a stair of items": "".join("  " * step + "- a\n" for step in range(500)),
    "items": filled("- a\n"),
    "empty items": filled("-\n"),
    "lists": filled("-\n*\n"),
    "fences": filled("```\n"),
    "an open fence": "```\n" + filled("``\n"),
    "open comments": filled("<!--\n"),
    "one line of open comments": filled("<!--"),
    "brackets": filled("["),
    "lines of brackets": filled("[\n"),
    "definitions": filled("[a]: /u\n"),
    "definitions with open titles": filled("[a]: /u '\n"),
    "definitions above underlines": filled("[a]: /u\n=\n"),
    "a destination of parentheses": "[a]: " + "(" * SIZE,
    "a label of escapes": "[" + filled("\\]"),
    "setext headings": filled("a\n-\n"),
    "headings": filled("# a #\n"),
    "one heading": "# " + filled("# "),
    "no thematic break": filled("* ") + "a",
    "thematic breaks": filled("***\n\n"),
    "mixed marks": filled("- * "),
    "indented code between blank lines": filled("    a\n" + "\n" * 100),
    "a tag of attributes": "<a" + filled(" b=c"),
    "a tag of blanks": "<a" + " " * SIZE,
    "blanks": filled(" \t") + "\na",
    "tabs in quotes": filled(">\t"),
    "numbers": filled("1. "),
    "one line": "あ" * SIZE,
    "marks inside text": "a\n" + filled("2. b\n-c\n#d\n<e\n"),
}
PLAIN = filled("売上の表を読み、先週との差を計算して三行にまとめる。\n数字は**表の値**をそのまま書く。\n\n")


def least_time(run: Callable[[], object], times: int) -> float:
    """Of the processor, so that other work on the machine does not count."""
    spent = []
    for _ in range(times):
        begin = process_time()
        run()
        spent.append(process_time() - begin)
    return min(spent)


@pytest.fixture(scope="module")
def plain_parse() -> float:
    return least_time(lambda: MarkdownIt("commonmark").parse(PLAIN), 3)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_takes_more_than_linear_time(shape: str, plain_parse: float) -> None:
    """A document is read within ten times what the library takes for plain text of its size; most take less than it."""
    text = SHAPES[shape]
    source = Source(text, text.split("\n"))
    assert any(least_time(lambda: read_blocks(source), 1) < 10 * plain_parse for _ in range(3))
