"""A run in a terminal: a person is asked and answers there, and ends it with Ctrl-C at any moment."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.runtime.given import until
from tests.runtime.servers.catalog_server import CatalogServer

ROOT = Path(__file__).parents[2]
DOCUMENT = "# 確かめる\n\n## フェーズ 1: 聞く (使う道具: hitl)\n\n担当者に聞く。\n"
SCRIPT = """version: 1
phases:
  "1":
    - calls: [{tool: ask_person, arguments: {question: 進めてよいですか, choices: [進める, やめる]}}]
    - say: 聞いた
"""


PATIENCE_S = 120


class Session:
    """`aop` in a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        environment.pop("AOP_LANG", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cli", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait(10)
        os.close(self._ours)

    def until(self, text: str) -> None:
        """Reads on until `text` is shown, within two minutes."""
        self.times(text, 1)

    def times(self, text: str, count: int) -> None:
        """Reads on until `text` is shown so often, within two minutes."""
        deadline = time.monotonic() + PATIENCE_S
        while self.shown.count(text) < count and time.monotonic() < deadline:
            self._read()
        assert self.shown.count(text) >= count, self.shown

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def status(self) -> int:
        """Of its end, which must come."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read()
        status = self.process.wait(1)
        self._read()  # what it said last
        return status

    def _read(self) -> None:
        os.set_blocking(self._ours, False)
        try:
            self.shown += os.read(self._ours, 65_536).decode("utf-8", "replace")
        except (BlockingIOError, OSError):
            time.sleep(0.02)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ask.md").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


def answers(here: Path) -> list[str]:
    (record,) = (here / ".aop" / "runs").glob("*/events.jsonl")
    events = map(json.loads, record.read_text(encoding="utf-8").splitlines())
    return [event["text"] for event in events if event["event"] == "question-answered"]


def test_a_person_answers_where_the_run_is(here: Path) -> None:
    """By the number of a choice; an answer that is none leaves the run waiting for a better one."""
    with Session("run", "ask.md", "--script", "script.yaml") as session:
        session.until("あとで")
        session.type("1\n")
        assert session.status() == 0
        assert "聞いた" in session.shown
    assert answers(here) == ["進める"]


def test_what_is_typed_ahead_answers_nothing(here: Path) -> None:
    """An Enter too many must not approve what nobody has seen yet; what is typed after it was asked counts."""
    asked = "    - calls: [{tool: ask_person, arguments: {question: 消してよいですか, choices: [消す, 残す]}}]\n"
    text = SCRIPT.replace("    - say:", f"{asked}    - say:")
    (here / "script.yaml").write_text(text, encoding="utf-8")
    with Session("run", "ask.md", "--script", "script.yaml") as session:
        session.until("あとで")
        session.type("1\n1\n1\n")
        session.times("あとで", 2)
        session.type("2\n")
        assert session.status() == 0
    assert answers(here) == ["進める", "残す"]


def test_without_an_answer_it_waits_and_says_how_to_go_on(here: Path) -> None:
    """An empty line: later. The command that it prints is the one that works."""
    with Session("run", "ask.md", "--script", "script.yaml", "--lang", "en") as session:
        session.until("later")
        session.type("\n")
        assert session.status() == 3
        found = re.search(r"aop (runs resume \S+ --answer \S+=)", session.shown)
    assert found is not None
    with Session(*f"{found[1]}やめる".split()) as session:
        assert session.status() == 0
    assert answers(here) == ["やめる"]


@pytest.mark.parametrize(("sent", "status"), [("\x03", 130), (signal.SIGTERM, 130)])
def test_it_ends_at_once_while_it_asks(here: Path, sent: str | signal.Signals, status: int) -> None:
    """By Ctrl-C and by SIGTERM, saying how to go on; the question is asked again then."""
    with Session("run", "ask.md", "--script", "script.yaml") as session:
        session.until("あとで")
        if isinstance(sent, str):
            session.process.send_signal(signal.SIGINT)  # what a terminal sends to its foreground process
        else:
            session.process.send_signal(sent)
        assert session.status() == status
        found = re.search(r"aop (runs resume \S+)", session.shown)
        assert "Traceback" not in session.shown
    assert found is not None
    with Session(*found[1].split()) as session:
        session.until("あとで")
        session.type("2\n")
        assert session.status() == 0
    assert answers(here) == ["やめる"]


def test_a_reader_that_goes_away_does_not_end_the_run(here: Path) -> None:
    """`aop run … | head -1`: what was begun is finished, and recorded."""
    (here / "script.yaml").write_text('version: 1\nphases:\n  "1": [{say: 聞いた}]\n', encoding="utf-8")
    command = f"{sys.executable} -m cli run ask.md --script script.yaml | true"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    ran = subprocess.run(
        ["sh", "-c", command], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in ran.stderr
    (record,) = (here / ".aop" / "runs").glob("*/events.jsonl")
    assert json.loads(record.read_text(encoding="utf-8").splitlines()[-1])["event"] == "run-finished"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_no_process_is_left_when_it_is_ended(here: Path, sent: signal.Signals) -> None:
    """In the middle of a call to a server of its own, which does not answer."""
    (here / "talk.md").write_text(
        "# 話す\n\n## フェーズ 1: 探す (使う道具: slack (read-only))\n\n探す。\n", encoding="utf-8"
    )
    turns = 'version: 1\nphases:\n  "1": [{calls: [{tool: channels_me, arguments: {}}]}]\n'
    (here / "script.yaml").write_text(turns, encoding="utf-8")
    with CatalogServer(["slack"]) as server:
        server.misbehave("hang", "slack.channels_me")
        server.write(here / "mcp.json")
        with Session("run", "talk.md", "--script", "script.yaml") as session:
            until(lambda: bool(server.calls))
            assert processes(str(server.folder))
            session.process.send_signal(sent)
            assert session.status() == 130
            assert "Traceback" not in session.shown
        assert processes(str(server.folder)) == []


def processes(argument: str) -> list[int]:
    """Those that have it in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if argument.encode() in words:
            found.append(int(path.parent.name))
    return found
