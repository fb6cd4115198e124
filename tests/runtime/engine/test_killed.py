"""kill -9 at any moment: whoever resumes the run finishes it, and no server sees a write twice.

The processes are real ones, forked after everything is loaded, and so is the server, which keeps what arrived.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from aop_runtime.engine.people import Beforehand, FirstOf
from aop_runtime.engine.run import run
from aop_runtime.manifest import Manifest
from aop_runtime.plane.questions import Answer, Person, Question
from aop_runtime.runs.folder import RunFolder
from aop_runtime.runs.journal import Journal
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.protocol import Source
from tests.runtime.servers.catalog_server import CatalogServer
from tests.runtime.sources.given import QUICK, entries, manifest

from ..given import until
from .given import TAIL, Given, described, script, started

RUNS, KILLS = 25, 2
FINISHED, WAITING = 0, 3

MODULE = """'Of a test.'

from aop_runtime import Mcp, Phase, Procedure

PROCEDURE = Procedure(
    name="p",
    phases=(
        Phase(number=1, title="読む", instructions="読む", tools=(
            Mcp("slack", read_only=True, operations=("channels_me",)),
        )),
        Phase(number=2, title="書く", instructions="書く", tools=(Mcp("slack", read_only=False, operations=(
            "channels_me", "conversations_add_message", "reactions_add",
        )),)),
"""


def message(number: int) -> dict[str, object]:
    return {"tool": "conversations_add_message", "arguments": {"channel_id": "C01", "text": f"通知 {number}"}}


def reaction(number: int) -> dict[str, object]:
    arguments = {"channel_id": "C01", "timestamp": f"{number}.0", "emoji": "eyes"}
    return {"tool": "reactions_add", "arguments": arguments}


READ = {"tool": "channels_me", "arguments": {}}
TURNS = {
    "1": [{"calls": [READ, READ]}, {"say": "読んだ"}],
    "2": [{"calls": [READ, message(1), message(2), READ]}, {"calls": [reaction(1), message(3)]}, {"say": "書いた"}],
}
WRITES = Counter(["通知 1", "通知 2", "通知 3", "1.0"])


class Truthful:
    """Knows what arrived, as a person who looks it up does."""

    def __init__(self, server: CatalogServer, journal: Path) -> None:
        self._server, self._journal = server, journal

    async def ask(self, question: Question) -> Answer | None:
        assert question.kind == "outcome"
        arguments = next(
            event["arguments"]
            for event in map(json.loads, self._journal.read_text(encoding="utf-8").splitlines())
            if event["event"] == "call-begun" and event["call"] == question.call
        )
        return Answer(verdict="yes" if writes(self._server)[subject(arguments)] else "no", by="花子")


class Slack(Given):
    """With one of the catalog's tools on a real server. `truthful`: somebody is there who knows what was done."""

    def __init__(self, server: CatalogServer, *, truthful: bool) -> None:
        super().__init__(server.folder / "unused", script(TURNS))
        self.server, self.truthful = server, truthful

    def sources(self, manifest: Manifest, folder: RunFolder) -> Sequence[Source]:
        # The server speaks of itself by its address; where it is written in the manifest does not matter here.
        return [Connectors(pinned(), entries(self.server), os.environ, QUICK)]

    def person(self, folder: RunFolder) -> Person:
        told = [Truthful(self.server, folder.path / "events.jsonl")] if self.truthful else []
        return FirstOf([Beforehand(["slack.*"]), *told])


def pinned() -> Manifest:
    return replace(manifest(["slack"]), module_sha256="")


def subject(arguments: dict[str, object]) -> str:
    return str(arguments.get("text") or arguments.get("timestamp"))


def writes(server: CatalogServer) -> Counter[str]:
    return Counter(subject(dict(call.arguments)) for call in server.calls if call.operation != "channels_me")


def spawned(folder: RunFolder, server: CatalogServer, *, truthful: bool) -> int:
    """A process of its own that drives the run; its id."""
    process = os.fork()
    if process:
        return process
    try:
        outcome = asyncio.run(run(folder, Slack(server, truthful=truthful), lambda *_: None))
        os._exit({"finished": FINISHED, "waiting": WAITING}.get(outcome.status, 1))
    except BaseException:  # noqa: BLE001 - a copy of the test process must end here, whatever happens
        os._exit(70)


def ended(process: int) -> int:
    """Its exit status; negative: the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.fixture(scope="module")
def server() -> Iterator[CatalogServer]:
    with CatalogServer(["slack"], "http") as found:
        yield found


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build") / "p"
    folder.mkdir()
    return described(folder, MODULE + TAIL, "p")


@pytest.fixture(scope="module")
def duration_s(server: CatalogServer, module: Path, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long a run takes that nobody kills."""
    times = []
    for number in range(3):
        server.forget()
        folder = started(tmp_path_factory.mktemp("runs"), module, f"r{number}")
        began = time.monotonic()
        assert ended(spawned(folder, server, truthful=False)) == FINISHED
        times.append(time.monotonic() - began)
        assert writes(server) == WRITES
    return min(times)


@pytest.mark.parametrize("number", range(RUNS))
def test_a_killed_run_is_finished_and_nothing_is_written_twice(
    tmp_path: Path, server: CatalogServer, module: Path, duration_s: float, number: int
) -> None:
    """Killed at two random moments, then resumed to its end: fifty moments in all."""
    moments = random.Random(number)  # noqa: S311 - the same moments in every run of the test
    server.forget()
    folder = started(tmp_path / "runs", module)
    for _ in range(KILLS):
        process = spawned(folder, server, truthful=True)
        time.sleep(moments.uniform(0.0, duration_s))
        os.kill(process, signal.SIGKILL)
        assert ended(process) in (-signal.SIGKILL, FINISHED)
        time.sleep(0.05)  # what was on its way to the server arrives
        assert max(writes(server).values(), default=0) <= 1
    assert ended(spawned(folder, server, truthful=True)) == FINISHED
    assert writes(server) == WRITES
    journal = Journal(folder.path)
    journal.close()
    assert journal.end is not None
    assert getattr(journal.end, "result", None) == "書いた"


def test_without_anybody_who_knows_it_waits_and_nothing_is_repeated(
    tmp_path: Path, server: CatalogServer, module: Path
) -> None:
    """A write that was under way is asked about in every process, for ever."""
    server.forget()
    server.misbehave("hang", "slack.conversations_add_message")
    folder = started(tmp_path / "runs", module)
    process = spawned(folder, server, truthful=False)
    until(lambda: bool(writes(server)))
    os.kill(process, signal.SIGKILL)
    ended(process)
    server.behave()
    for _ in range(2):
        assert ended(spawned(folder, server, truthful=False)) == WAITING
        assert writes(server) == Counter(["通知 1"])
    assert ended(spawned(folder, server, truthful=True)) == FINISHED
    assert writes(server) == WRITES


def test_two_who_resume_at_once_do_not_both_drive(tmp_path: Path, server: CatalogServer, module: Path) -> None:
    """One is refused; what is written is written once."""
    server.forget()
    folder = started(tmp_path / "runs", module)
    processes = [spawned(folder, server, truthful=True) for _ in range(4)]
    statuses = sorted(ended(process) for process in processes)
    assert statuses.count(FINISHED) >= 1
    assert set(statuses) <= {FINISHED, 70}  # 70: RunFault, another process is at work
    assert writes(server) == WRITES
