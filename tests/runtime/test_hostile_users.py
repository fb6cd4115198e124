"""Words and documents of people who know no bounds: a sentence on standard error, and a terminal that obeys nobody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from aop_runtime.runs.folder import RunFolder
from cli.main import main

DOCUMENT = "# 確認\x1b[2J\u202e\n\n## フェーズ 1: 尋ねる\x07 (使う道具: hitl)\n\n\t尋ねる。\x1b]0;x\x07\n"
TURNS = {
    "version": 1,
    "phases": {"1": [{"calls": [{"tool": "ask_person", "arguments": {"question": "よいか"}}]}, {"say": "済んだ"}]},
}
RUN = ("run", "a.md", "--script", "s.yaml")
NO_UTF_8 = "\udcff\udcfe"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.md").write_text(DOCUMENT, encoding="utf-8")
    for name in ("s.yaml", f"{NO_UTF_8}.yaml"):
        (tmp_path / name).write_text(json.dumps(TURNS), encoding="utf-8")
    (tmp_path / f"{NO_UTF_8}.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def started(here: Path) -> str:
    """A run that waits for an answer."""
    assert main([*RUN, "--input", "a\x1b[31mb\u202ec"]) == 3
    return next(path.name for path in (here / ".aop" / "runs").iterdir())


@pytest.mark.parametrize(
    "words",
    [
        (*RUN, "--input", NO_UTF_8),
        ("run", "a.md", "--script", f"{NO_UTF_8}.yaml"),
        ("run", "a.md", "--model", f"{NO_UTF_8}:x"),
        (*RUN, "--feature", NO_UTF_8),
        (*RUN, "--library", NO_UTF_8),
    ],
    ids=["input", "script", "model", "feature", "library"],
)
def test_words_that_a_record_cannot_hold(here: Path, capfd: pytest.CaptureFixture[str], words: Sequence[str]) -> None:
    """Arguments are bytes, and need not be UTF-8: status 2, a sentence, and no run."""
    assert main(list(words)) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert words[-2] in said.err
    assert list((here / ".aop").glob("runs/*")) == []


def test_an_answer_that_a_record_cannot_hold(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """None of the answers is given then."""
    run = started(here)
    assert main(["runs", "resume", run, "--answer", f"p0t0c0.question={NO_UTF_8}"]) == 2
    assert list((here / ".aop" / "runs" / run / "answers").iterdir()) == []
    assert main(["runs", "resume", run, "--answer", "p0t0c0.question=はい"]) == 0


def test_an_answer_that_comes_while_somebody_is_at_work_has_no_effect(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever is refused must not have been heard: the other process may just be reading the answers."""
    run = started(here)
    folder = RunFolder(here / ".aop" / "runs", run)
    with folder.held():
        assert main(["runs", "resume", run, "--answer", "p0t0c0.question=いいえ"]) == 2
        assert list((folder.path / "answers").iterdir()) == []


@pytest.mark.parametrize("words", [("runs", "list"), ("runs", "show"), ("run", "a.md", "--dry-run"), RUN])
def test_nothing_that_a_terminal_obeys_is_printed(
    here: Path, capfd: pytest.CaptureFixture[str], words: Sequence[str]
) -> None:
    """Neither of a document nor of an input."""
    run = started(here)
    capfd.readouterr()
    main([*words, run] if words[-1] == "show" else list(words))
    printed = capfd.readouterr().out
    assert "確認" in printed
    assert not {"\x1b", "\x07", "\u202e"} & set(printed)
