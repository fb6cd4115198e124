"""A document of very many mistakes: each is told in every format, in pieces, and what is said of all is put together
once."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.main import main
from cli.report import Pieces
from pipeline.compiler import Compiler, Input, Options
from pipeline.diagnostics import wording
from pipeline.diagnostics.bind import Diagnostic, bind
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.sarif import Checked, sarif_pieces
from pipeline.generators.template import TemplateGenerator
from pipeline.places import At, Span
from pipeline.stores.nothing import NoStore
from tests.incremental.world import WEEKLY, World

COUNT = 10_500
"""Of findings: more than are put into words before they are printed."""

TITLE = "# 題 (使う道具: "
COLUMNS = list(range(len(TITLE) + 1, len(TITLE) + 1 + COUNT))
"""Of each comma, and of the parenthesis behind the last one: an empty item stands where it would begin (T1)."""


def in_text(printed: str) -> list[int]:
    return [int(column) for column in re.findall(r"^document\.md:1:(\d+): error\[AOP201\]", printed, re.MULTILINE)]


def in_json(printed: str) -> list[int]:
    return [found["column"] for found in json.loads(printed)["diagnostics"]]


def in_sarif(printed: str) -> list[int]:
    (run,) = json.loads(printed)["runs"]
    return [found["locations"][0]["physicalLocation"]["region"]["startColumn"] for found in run["results"]]


def in_github(printed: str) -> list[int]:
    return [int(column) for column in re.findall(r"^::error .*?,col=(\d+),", printed, re.MULTILINE)]


FORMATS: dict[str, Callable[[str], list[int]]] = {
    "text": in_text,
    "json": in_json,
    "jsonl": in_json,
    "sarif": in_sarif,
    "github": in_github,
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("lang", ["ja", "en"])
def test_each_of_very_many_mistakes_is_told(
    form: str, lang: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the order in which they stand, each at its place."""
    (here / "document.md").write_text(f"{TITLE}{',' * (COUNT - 1)})\n", encoding="utf-8")
    assert main(["check", "--format", form, "--lang", lang, "document.md"]) == 1
    assert FORMATS[form](capsys.readouterr().out) == COLUMNS


def test_pieces_are_made_when_they_are_asked_for() -> None:
    """As often as they are; another process gets them as they are; none is much larger than its parts."""
    made: list[int] = []

    def parts() -> Iterator[str]:
        made.append(1)
        return (f"{n:>100}\n" for n in range(10_000))

    pieces = Pieces(parts)
    assert made == []
    assert tuple(pieces) == tuple(pieces) == pickle.loads(pickle.dumps(pieces))  # noqa: S301 - our own bytes
    assert "".join(pieces) == "".join(parts())
    assert max(map(len, pieces)) < (1 << 16) + 200


def equal_findings() -> list[Diagnostic]:
    said = (("declaration", "(使う道具: …)"),)
    found = [Finding("tool-unreadable", At(0, n, n + 1), 1, said, (), "empty") for n in range(COUNT)]
    return bind(found, (Span(1, 1, 1, COUNT + 1),), "ja")


def test_words_are_put_together_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal findings, in whatever number."""
    asked: list[Finding] = []
    words = wording.words

    def watched(finding: Finding, line: int | None, lang: Lang) -> tuple[str, str]:
        asked.append(finding)
        return words(finding, line, lang)

    monkeypatch.setattr(wording, "words", watched)
    assert len({(found.message, found.help) for found in equal_findings()}) == 1
    assert len(asked) == 1


def test_a_sarif_log_comes_a_result_at_a_time() -> None:
    """One piece a result: the log of a million need not be in memory."""
    head, *results, end = sarif_pieces([Checked("a.md", ["x" * COUNT], equal_findings())], lang="ja", version="1")
    assert len(results) == COUNT
    assert max(map(len, results)) < 2_000
    assert json.loads(head + "".join(results) + end)["runs"][0]["results"][-1]["ruleIndex"] == 0


class Told(NoStore):
    """Keeps nothing, but counts what it is given."""

    def __init__(self) -> None:
        self.given = 0

    def put_blob(self, data: bytes) -> str:
        self.given += 1
        return super().put_blob(data)

    def add_trace(self, key: str, trace: bytes) -> None:
        self.given += 1


def test_nothing_is_written_for_the_store_that_keeps_nothing() -> None:
    """Findings are not packed, and no artifact is."""
    store = Told()
    compiler = Compiler(World().catalog(), store, TemplateGenerator(), Options(check=True))
    compiler.compile(Input("weekly.md", WEEKLY.encode()))
    assert store.given == 0
