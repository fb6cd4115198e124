"""A record that a crash has cut off at any byte: what is whole counts, and the run is finished from there."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aop_runtime.engine.people import write_answer
from aop_runtime.engine.run import Outcome, pending, run
from aop_runtime.plane.questions import Answer
from aop_runtime.runs.folder import RunFolder
from aop_runtime.runs.journal import Journal
from tests.runtime.engine.given import Given, compiled, done, script, started, turn

# The model goes the same way whatever a call came to.
TURNS = {"1": [turn(find="é\n"), turn(say="一")], "2": [turn(send="書"), turn(say="二")]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunFolder, bytes]]:
    """A finished run of two phases, and its record."""
    folder = tmp_path_factory.mktemp("whole")
    made = started(folder / "runs", compiled(folder / "build" / "p", "p", "agent", "agent"))
    asyncio.run(run(made, Given(folder / "log", script(TURNS), ["crm.*"]), lambda *_: None))
    yield made, (made.path / "events.jsonl").read_bytes()


def test_what_is_whole_counts_at_every_byte(tmp_path: Path, whole: tuple[RunFolder, bytes]) -> None:
    """The half line is gone from the file too, so that the next event does not continue it."""
    data = whole[1]
    path = tmp_path / "events.jsonl"
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        with contextlib.closing(Journal(tmp_path)) as journal:
            assert len(journal.events) == data[:size].count(b"\n")
        assert path.read_bytes() == data[: data.rfind(b"\n", 0, size) + 1]


def cuts(data: bytes) -> list[int]:
    """After each line, within the next one, and before its end."""
    ends = [0, *(place + 1 for place, sign in enumerate(data) if sign == ord("\n"))]
    found = {place for end in ends for place in (end, end + 1, end + 40, end - 1)}
    return sorted(place for place in found if 0 <= place <= len(data))


def test_the_run_is_finished_from_any_cut(tmp_path: Path, whole: tuple[RunFolder, bytes]) -> None:
    """With the same result. A write whose end is not in the record is asked about, and not made again."""
    made, data = whole
    log = tmp_path / "log"
    for number, size in enumerate(cuts(data)):
        folder = started(tmp_path / "runs", made.path, f"r{number}")
        (folder.path / "events.jsonl").write_bytes(data[:size].replace(b'"r1"', f'"r{number}"'.encode()))
        log.unlink(missing_ok=True)
        begun = [json.loads(line) for line in data[:size].splitlines(keepends=True) if line.endswith(b"\n")]
        outcome = driven(folder, log)
        under_way = any(event["event"] == "call-begun" and event["effect"] == "write" for event in begun) and not any(
            event["event"] == "call-finished" and event["name"] == "send" for event in begun
        )
        assert (outcome.status == "waiting") is under_way, size
        if under_way:
            ((where, question),) = pending(folder)
            assert question.kind == "outcome"
            write_answer(where.path, question, Answer(verdict="yes"))
            outcome = driven(folder, log)
        assert outcome == Outcome("finished", result="二"), size
        recorded = any(event["event"] == "call-begun" and event["effect"] == "write" for event in begun)
        assert done(log).count("send 書") == (0 if recorded else 1), size


def driven(folder: RunFolder, log: Path) -> Outcome:
    return asyncio.run(run(folder, Given(log, script(TURNS), ["crm.*"]), lambda *_: None))
