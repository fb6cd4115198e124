"""The first run of the page about running works as it is printed there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.main import main

from .snippets import ROOT

PAGES = [ROOT / "docs" / "running.ja.md", ROOT / "docs" / "running.md"]


def block(page: Path, mark: str) -> str:
    found = re.search(rf"^~~~~{mark}\n(.*?)^~~~~$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_first_run_runs_as_it_stands_there(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dry run, then until it asks; the answer that the script expects leads to the result."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"daily.md": block(page, "aop first"), "turns.yaml": block(page, "yaml turns")}.items():
        Path(name).write_text(text, encoding="utf-8")
    shown = re.search(r'^\$ echo "(.*)" > report.txt$', page.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown is not None
    Path("report.txt").write_text(f"{shown[1]}\n", encoding="utf-8")
    assert main(["run", "daily.md", "--dry-run"]) == 0
    assert main(["run", "daily.md", "--script", "turns.yaml", "--attach", "report.txt"]) == 3
    found = re.search(r"aop runs resume (\S+) --answer (\S+)=", capsys.readouterr().out)
    assert found is not None
    assert main(["runs", "resume", found[1], "--answer", f"{found[2]}=はい"]) == 0
    capsys.readouterr()
    assert main(["runs", "list", "--format", "jsonl"]) == 0
    assert [json.loads(line)["status"] for line in capsys.readouterr().out.splitlines()] == ["finished"]


def test_both_languages_show_the_same_files() -> None:
    """Only the text around them differs."""
    for mark in ("aop first", "yaml turns"):
        assert block(PAGES[0], mark) == block(PAGES[1], mark)
