"""A server that changed while a run waited: the run that goes on, in another process, notices it like a change in the
middle of a run. A structured error for the model, an entry in the audit, no side effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from tests.runtime.servers.catalog_server import CatalogServer

TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
LISTED = [
    {"name": "look_up", "description": "Look a page up", "inputSchema": TEXT, "readOnly": True},
    {"name": "write_page", "description": "Write a page", "inputSchema": TEXT, "readOnly": False},
]
DOCUMENT = """\
# 手引きを直す

## フェーズ 1: 読む (使う道具: our_wiki (read-only))

出張の項を読む。

## フェーズ 2: 直す (使う道具: our_wiki)

直した文を書く。
"""
LOOK, WRITE = "{tool: look_up, arguments: {text: 出張}}", "{tool: write_page, arguments: {text: 日当 4000 円}}"
SCRIPT = f"""\
version: 1
phases:
  "1": [{{calls: [{LOOK}]}}, {{say: 読んだ}}]
  "2": [{{calls: [{WRITE}]}}, {{calls: [{LOOK}]}}, {{calls: [{{tool: delete_everything}}]}}, {{say: 終わり}}]
"""


@pytest.fixture(scope="module", params=["stdio", "http"])
def wiki(request: pytest.FixtureRequest) -> Iterator[CatalogServer]:
    with CatalogServer(["our_wiki"], request.param, operations={"our_wiki": LISTED}, loaded=True) as server:
        yield server


@pytest.fixture
def here(wiki: CatalogServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    wiki.behave()
    wiki.forget()
    monkeypatch.chdir(tmp_path)
    wiki.write(tmp_path / "mcp.json")
    (tmp_path / "guide.md").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "s.yaml").write_text(SCRIPT, encoding="utf-8")
    yield tmp_path
    wiki.behave()


def waiting(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """The words that let the run go on, which asks whether it may write."""
    assert main(["run", "guide.md", "--script", "s.yaml", "--lang", "en"]) == 3
    found = re.search(r"aop (runs resume \S+ --approve \S+)", capfd.readouterr().out)
    assert found is not None
    return found[1].split()


def ended(capfd: pytest.CaptureFixture[str], resume: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Each call's name and code ("" where it worked) after the approval, and the codes in the audit."""
    assert main([*resume, "--format", "jsonl"]) == 0
    events = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    envelopes = [(event["name"], event["envelope"]["error"]) for event in events if event["event"] == "call-finished"]
    audit = (Path(".aop/runs") / resume[2] / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    codes = [line.get("code") or "" for line in map(json.loads, audit) if line["event"] == "ended"]
    return [(name, "" if error is None else error["code"]) for name, error in envelopes], codes


@pytest.mark.parametrize(
    ("mode", "operation", "writing", "reading"),
    [
        ("", "", "", ""),
        ("gone", "write_page", "conflict", ""),
        ("schema", "write_page", "conflict", ""),
        ("description", "write_page", "conflict", ""),
        ("argument-gone", "write_page", "conflict", ""),
        ("effect", "look_up", "", "conflict"),
        ("gone", "look_up", "", "conflict"),
        ("added", "", "", ""),
    ],
)
def test_what_changed_while_it_waited_is_not_called(
    here: Path,
    wiki: CatalogServer,
    capfd: pytest.CaptureFixture[str],
    mode: str,
    operation: str,
    writing: str,
    reading: str,
) -> None:
    """Its tool list, an effect, a schema, words: an approval is for what the server was. What is as it was works, and
    what is new does not exist."""
    resume = waiting(capfd)
    wiki.forget()
    wiki.misbehave(mode, f"our_wiki.{operation}".rstrip("."))
    calls, audit = ended(capfd, resume)
    assert calls == [("write_page", writing), ("look_up", reading), ("delete_everything", "invalid_input")]
    assert audit[-3:] == [writing, reading, "invalid_input"]
    made = [call.operation for call in wiki.calls]
    assert made == [name for name, code in calls if not code]


def test_a_damaged_list_stops_the_run_until_it_is_restored(
    here: Path, wiki: CatalogServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """It says which file, makes no call, and goes on when the file is what it was."""
    resume = waiting(capfd)
    wiki.forget()
    (kept,) = (here / ".aop" / "runs" / resume[2] / "servers").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-9])
    assert main([*resume, "--lang", "en"]) == 1
    assert kept.name in capfd.readouterr().out
    assert wiki.calls == []
    kept.write_bytes(whole)
    calls, _ = ended(capfd, resume[:3])
    assert calls[0] == ("write_page", "")
