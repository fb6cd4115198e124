"""Reading and resolving take time in proportion to the document, whatever it is made of.

The measure is the bare `MarkdownIt("commonmark").parse` of a plain document of the same size in the same run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from pipeline.project import Project
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve
from tests.language.golden import CATALOG

NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SIZE = 1 << (20 if NIGHTLY else 19)
MOST = 40
"""How many times the bare parse of a plain document of the same size one may take."""


def repeated(piece: str, before: str = "", behind: str = "") -> str:
    """As many whole pieces as fit into `SIZE` bytes."""
    room = SIZE - len((before + behind).encode())
    return before + piece * (room // len(piece.encode())) + behind


def numbered(piece: Callable[[int], str]) -> str:
    """The pieces of 0, 1, 2 … as far as they fit into `SIZE` bytes."""
    pieces: list[str] = []
    size = 0
    while True:
        pieces.append(piece(len(pieces)))
        size += len(pieces[-1].encode())
        if size > SIZE:
            return "".join(pieces[:-1])


_HANDOVER = "(この SQL を bigquery の query (read-only) に、そのまま渡す)\n```\na\n```\n\n"

WORST = {
    "declarations": lambda: repeated("(使う道具: slack)\n\n"),
    "unclosed declarations": lambda: repeated("(使う道具: \n\n"),
    "items": lambda: repeated("x,", "(使う道具: ", ")"),
    "listed items": lambda: repeated("- slack の notify\n", "## 利用可能なツール\n\n"),
    "phases": lambda: numbered(lambda n: f"## フェーズ {n}: 送る (使う道具: slack)\n\n本文\n\n"),
    "chapters": lambda: repeated("# a\n"),
    "underlined headings": lambda: repeated("a\n===\n"),
    "emphasis in a title": lambda: repeated("*a", "# "),
    "hand-overs": lambda: repeated(_HANDOVER),
    "stacked hand-overs": lambda: repeated("(この A を x に、そのまま渡す)\n\n", behind="```\na\n```\n"),
    "placeholders": lambda: (
        "(この A を exa に、そのまま渡す。差し替え: "
        + "、".join(map(str, range(SIZE // 10)))
        + ")\n```ts\n"
        + "a" * (SIZE // 10)
        + "\n```\n"
    ),
    "letters beside a colon": lambda: repeated("a", "x: "),
    "blanks behind an argument": lambda: repeated(" ", _HANDOVER + "project_id: ", ")"),
    "open quotations": lambda: repeated("「project_id: ", _HANDOVER),
    "blanks in a row of dashes": lambda: repeated(" ", _HANDOVER + "a|b\n---", "x|"),
    "declarations in HTML": lambda: repeated("<div>\n(使う道具: x)\n<!-- x\n\n"),
}

OTHERS = {
    "declarations on one line": lambda: repeated("(使う道具: slack) "),
    "declarations in one paragraph": lambda: repeated("(使う道具: slack)\n"),
    "calls": lambda: repeated("(呼び出す AOP: x) "),
    "mentions in phases": lambda: numbered(lambda n: f"## フェーズ {n}: slack\n\nslack freee\n\n"),
    "mentions": lambda: repeated("slack "),
    "full-width text": lambda: repeated("ｓｌａｃｋ①"),
    "URLs": lambda: repeated("https://slack.com/ www.a.b "),
    "one line": lambda: repeated("あ"),
    "shared text": lambda: (
        "# 題\n\n" + "本文\n" * 60_000 + "\n" + "".join(f"## フェーズ {n}: 題\n\n本文\n\n" for n in range(10_000))
    ),
    "shared fences": lambda: "```\na\n```\n\n" * 1_000 + "".join(f"## フェーズ {n}: 題\n\n" for n in range(10_000)),
    "empty listed items": lambda: repeated("*\n", "## 利用可能なツール\n\n"),
    "deep quotes": lambda: ">" * SIZE,
    "deep quotes on many lines": lambda: (">" * 1000 + "\n") * 1000,
    "deep lists": lambda: "".join("  " * n + "- a\n" for n in range(1000)),
    "unclosed fences": lambda: repeated("~~~\n```\n"),
    "fences": lambda: repeated("```\na\n```\n"),
    "open parentheses": lambda: repeated("(使う道具: "),
    "open remarks": lambda: repeated("(この"),
    "remarks": lambda: repeated("(この そのまま 渡す) "),
    "nested remarks": lambda: "(この" * 80_000 + "A を x に、そのまま渡す" + ")" * 80_000,
    "open hand-overs": lambda: repeated("(この A を x に、そのまま渡す "),
    "hand-overs without values": lambda: repeated(_HANDOVER.replace(" (read-only)", "")),
    "hand-overs with values": lambda: repeated(_HANDOVER + "project_id: a\n\n"),
    "hand-overs in one paragraph": lambda: repeated("(この A を x に、そのまま渡す)\n", behind="\n```\na\n```\n"),
    "overlapping placeholders": lambda: (
        "(この A を exa に、そのまま渡す。差し替え: "
        + "、".join("a" * (n % 300 + 1) for n in range(4000))
        + ")\n```ts\n"
        + "a" * 100_000
        + "\n```\n"
    ),
    "objects": lambda: repeated("を に、そのまま渡す", "(この x", ")"),
    "open brackets": lambda: repeated("【使う道具: 「使う道具: [使う道具: \n"),
    "brackets": lambda: repeated("【使う道具: x】\n[使う道具: x]\n"),
    "no colon": lambda: repeated("(使う道具 "),
    "code spans": lambda: repeated("`(使う道具: x)` "),
    "uneven backticks": lambda: repeated("``(使う道具: x)` "),
    "open comments": lambda: repeated("<!-- "),
    "open instructions": lambda: repeated("<?", "<?x "),
    "open tags in HTML": lambda: repeated("<a b='", "<div>\n(使う道具: x)\n"),
    "uneven quotes in HTML": lambda: repeated("<a b=\"'", "<div>\n(使う道具: x)\n"),
    "empty parentheses": lambda: repeated("()", "(使う道具: x"),
    "の": lambda: repeated("の", "(使う道具: ", ")"),
    "と": lambda: repeated(" と ", "(使う道具: "),
    "blanks": lambda: repeated(" ", "(使う道具: "),
    "line ends": lambda: repeated("\n", "x"),
    "links": lambda: repeated("[a](b ", "slack "),
    "definitions": lambda: repeated("[a]: b\n"),
    "tables": lambda: repeated("| a | b |\n|---|---|\n\n", _HANDOVER),
}

SHAPES = WORST | OTHERS if NIGHTLY else WORST


@pytest.fixture(scope="module")
def bare() -> float:
    """Seconds that the bare parse takes: the best of three."""
    text = repeated("これは普通の文です。作業を進めます。\n\n")

    def once() -> float:
        start = time.process_time()
        MarkdownIt("commonmark").parse(text)
        return time.process_time() - start

    return min(once() for _ in range(3))


@pytest.mark.parametrize("shape", SHAPES)
def test_linear(shape: str, bare: float) -> None:
    """A large document of any shape is read and resolved within 40 times the bare parse of a plain one."""
    data = SHAPES[shape]().encode()
    assert SIZE // 8 <= len(data) <= SIZE

    def once() -> float:
        start = time.process_time()
        outcome = parse(data, "document")
        if outcome.artifact is not None:
            resolve(outcome.artifact, CATALOG, Project([]), "document.md")
        assert outcome.artifact is not None or outcome.findings
        return time.process_time() - start

    # Again only where it was too long: a busy machine takes its time now and then.
    assert any(once() < MOST * bare for _ in range(3))
