"""A procedure from its first phase to its result: handed on, asked for, broken off, resumed, called, limited."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.models import Model

from aop_runtime.engine.model_names import ModelFault
from aop_runtime.engine.people import write_answer
from aop_runtime.engine.run import Outcome, pending, request_cancel, run
from aop_runtime.plane.questions import Answer, Person, Question
from aop_runtime.runs.events import Event
from aop_runtime.runs.folder import Limits, RunFault, RunFolder
from aop_runtime.runs.journal import Journal
from aop_runtime.runs.record import JournalFault

from .given import Given, compiled, done, script, started, turn

TWO = {
    "1": [turn(find="a"), turn(expect="find: a", say="一つ目")],
    "2": [turn(expect="一つ目", send="b"), turn(expect="send: b", say="終わり")],
}


def driven(folder: RunFolder, equipment: Given, seen: list[Event] | None = None) -> Outcome:
    return asyncio.run(run(folder, equipment, lambda _, event: None if seen is None else seen.append(event)))


def names(folder: RunFolder) -> list[str]:
    return [json.loads(line)["event"] for line in (folder.path / "events.jsonl").read_text().splitlines()]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return compiled(tmp_path / "build" / "p", "p", "agent", "agent")


def test_phases_run_in_order_and_hand_their_results_on(tmp_path: Path, two: Path) -> None:
    """What happened is what was watched is what was recorded."""
    seen: list[Event] = []
    folder = started(tmp_path / "runs", two)
    outcome = driven(folder, Given(tmp_path / "log", script(TWO), ["crm.*"]), seen)
    assert outcome == Outcome("finished", result="終わり")
    assert done(tmp_path / "log") == ["find a", "send b"]
    assert [event.event for event in seen] == names(folder)
    assert [event.sequence for event in seen] == list(range(1, len(seen) + 1))
    assert names(folder)[0] == "run-started"
    assert names(folder)[-1] == "run-finished"
    assert driven(folder, Given(tmp_path / "log", script({}))) == outcome
    assert folder.path.stat().st_mode & 0o077 == 0


def test_a_write_waits_for_approval_in_another_process(tmp_path: Path, two: Path) -> None:
    """The run stops, says what it waits for, and goes on when there is an answer."""
    folder = started(tmp_path / "runs", two)
    equipment = Given(tmp_path / "log", script(TWO))
    outcome = driven(folder, equipment)
    assert (outcome.status, outcome.run) == ("waiting", "r1")
    assert done(tmp_path / "log") == ["find a"]
    ((where, question),) = pending(folder)
    assert (where.run, question.address, question.arguments) == ("r1", "crm.send", {"text": "b"})
    assert driven(folder, equipment).status == "waiting"
    write_answer(where.path, question, Answer(verdict="yes", by="花子"))
    assert driven(folder, equipment) == Outcome("finished", result="終わり")
    assert done(tmp_path / "log") == ["find a", "send b"]
    assert list(pending(folder)) == []


def test_an_answer_that_is_none_is_named_and_can_be_put_right(tmp_path: Path, two: Path) -> None:
    """The call is not made, the model hears nothing of it, and the run goes on with a better one."""
    folder = started(tmp_path / "runs", two)
    equipment = Given(tmp_path / "log", script(TWO))
    driven(folder, equipment)
    ((_, question),) = pending(folder)
    answer = folder.path / "answers" / f"{question.id}.json"
    for wrong in ('{"verdict": "maybe"}', "yes", '{"verdict": "text", "text": "はい"}', '{"verdict": "yes", "who": 1}'):
        answer.write_text(wrong, encoding="utf-8")
        outcome = driven(folder, equipment)
        assert (outcome.status, str(answer) in outcome.message) == ("failed", True)
    answer.write_text('{"verdict": "yes"}', encoding="utf-8")
    assert driven(folder, equipment) == Outcome("finished", result="終わり")
    assert done(tmp_path / "log") == ["find a", "send b"]


def test_a_refusal_reaches_the_model(tmp_path: Path, two: Path) -> None:
    """As a structured error, and nothing is done."""
    turns = {**TWO, "2": [turn(send="b"), turn(expect='"code":"denied"', say="やめた")]}
    folder = started(tmp_path / "runs", two)
    equipment = Given(tmp_path / "log", script(turns))
    driven(folder, equipment)
    ((where, question),) = pending(folder)
    write_answer(where.path, question, Answer(verdict="no", text="だめ"))
    assert driven(folder, equipment).result == "やめた"
    assert done(tmp_path / "log") == ["find a"]


@pytest.mark.parametrize("cut", range(0, 100, 7))
def test_a_record_that_was_cut_off_anywhere_is_resumed(tmp_path: Path, two: Path, cut: int) -> None:
    """At every place of the file: the result is the same; a write whose end was lost is asked about, not repeated."""
    folder = started(tmp_path / "runs", two)
    log = tmp_path / "log"
    whole = driven(folder, Given(log, script(TWO), ["crm.*"]))
    events = folder.path / "events.jsonl"
    data = events.read_bytes()
    events.write_bytes(data[: len(data) * cut // 100])
    outcome = driven(folder, Given(log, script(TWO), ["crm.*"]))
    if outcome.status == "waiting":
        assert outcome.question is not None
        assert outcome.question.kind == "outcome"
        write_answer(folder.path, outcome.question, Answer(verdict="yes"))
        turns = {**TWO, "2": [TWO["2"][0], turn(say="終わり")]}
        outcome = driven(folder, Given(log, script(turns), ["crm.*"]))
        assert done(log).count("send b") == 1
    assert outcome == whole


def test_a_called_procedure_is_a_run_of_its_own(tmp_path: Path) -> None:
    """It has its record, gets what came before, waits and resumes with its caller, and its result is the phase's."""
    build = tmp_path / "build"
    compiled(build / "child", "子", "agent")
    module = compiled(build / "p", "p", "agent", "子", "agent")
    turns = {"1": [turn(say="前")], "3": [turn(expect="子の結果", say="全部")]}
    models = script(turns, {"子": {"phases": {"1": [turn(expect="前", send="x"), turn(say="子の結果")]}}})
    folder = started(tmp_path / "runs", module, library=str(build))
    equipment = Given(tmp_path / "log", models)
    outcome = driven(folder, equipment)
    assert (outcome.status, outcome.run) == ("waiting", "r1.2")
    ((where, question),) = pending(folder)
    assert where.run == "r1.2"
    write_answer(where.path, question, Answer(verdict="yes"))
    assert driven(folder, equipment).result == "全部"
    assert where.plan().callers == ("r1",)
    assert done(tmp_path / "log") == ["send x"]


def test_a_procedure_that_is_not_there_is_named(tmp_path: Path) -> None:
    """And the run can be resumed when it is."""
    module = compiled(tmp_path / "build" / "p", "p", "子")
    folder = started(tmp_path / "runs", module, library=str(tmp_path / "build"))
    models = script({}, {"子": {"phases": {"1": [turn(say="よし")]}}})
    outcome = driven(folder, Given(tmp_path / "log", models))
    assert outcome.status == "failed"
    assert "'子'" in outcome.message
    compiled(tmp_path / "build" / "child", "子", "agent")
    assert driven(folder, Given(tmp_path / "log", models)).result == "よし"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"requests": 1}, "requests"),
        ({"tool_calls": 1}, "tool_calls"),
        ({"tokens": 1}, "tokens"),
        ({"seconds": 0}, "seconds"),
    ],
)
def test_limits_end_a_run_and_hold_when_it_is_resumed(
    tmp_path: Path, two: Path, limits: dict[str, Any], said: str
) -> None:
    """They count what was used before."""
    folder = started(tmp_path / "runs", two, limits=Limits(**limits))
    for _ in range(2):
        outcome = driven(folder, Given(tmp_path / "log", script(TWO), ["crm.*"]))
        assert outcome.status == "failed"
        assert said in outcome.message


def test_a_script_that_the_run_does_not_follow_ends_it(tmp_path: Path, two: Path) -> None:
    """With what was expected, or that it has no more turns."""
    folder = started(tmp_path / "runs", two)
    outcome = driven(folder, Given(tmp_path / "log", script({"1": [turn(expect="没有", say="x")]})))
    assert "没有" in outcome.message
    other = started(tmp_path / "runs", two, "r2")
    assert "0 turns" in driven(other, Given(tmp_path / "log", script({}))).message


def test_a_model_that_cannot_be_used_ends_it(tmp_path: Path, two: Path) -> None:
    """Resumable: another process may have the key."""

    class Broken:
        name = "x:y"

        def of(self, phase: str) -> Model:
            raise ModelFault("model.unusable", name="x:y", said="none")

    outcome = driven(started(tmp_path / "runs", two), Given(tmp_path / "log", Broken()))  # type: ignore[arg-type]
    assert (outcome.status, outcome.message) == ("failed", "the model 'x:y' cannot be used: none")


def test_one_process_at_a_time(tmp_path: Path, two: Path) -> None:
    """The second is told so, and changes nothing."""
    folder = started(tmp_path / "runs", two)
    with folder.held(), pytest.raises(RunFault, match="another process"):
        driven(folder, Given(tmp_path / "log", script(TWO)))
    assert folder.is_held() is False


def test_a_cancelled_run_is_over(tmp_path: Path, two: Path) -> None:
    """Whoever drives it stops, and nobody can resume it."""
    folder = started(tmp_path / "runs", two)
    equipment = Given(tmp_path / "log", script(TWO))
    driven(folder, equipment)
    request_cancel(folder)
    assert names(folder)[-1] == "run-cancelled"
    with pytest.raises(RunFault, match="was cancelled"):
        driven(folder, equipment)


def test_a_run_at_work_is_cancelled_from_outside(tmp_path: Path, two: Path) -> None:
    """Within a moment."""

    class Nobody:
        async def ask(self, question: Question) -> Answer | None:
            await asyncio.sleep(60)
            return None

    class Slow(Given):
        def person(self, folder: RunFolder) -> Person:
            return Nobody()

    folder = started(tmp_path / "runs", two)

    async def both() -> Outcome:
        work = asyncio.create_task(run(folder, Slow(tmp_path / "log", script(TWO)), lambda *_: None))
        await asyncio.sleep(0.5)
        request_cancel(folder)
        return await asyncio.wait_for(work, 50)

    assert asyncio.run(both()).status == "cancelled"


def test_a_damaged_record_is_named_and_not_guessed_at(tmp_path: Path, two: Path) -> None:
    """File and line; an event of a later version is passed over."""
    folder = started(tmp_path / "runs", two)
    driven(folder, Given(tmp_path / "log", script(TWO)))
    events = folder.path / "events.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    later = json.dumps({"event": "moon-landed", "sequence": len(lines) + 1, "when": 1}).encode()
    events.write_bytes(b"".join([*lines, later, b"\n"]))
    with contextlib.closing(Journal(folder.path)) as journal:
        assert len(journal.events) == len(lines)
    events.write_bytes(b"".join([lines[0], b'{"event": 1}\n', *lines[1:]]))
    with pytest.raises(JournalFault, match=r"events\.jsonl:2"):
        Journal(folder.path)


@pytest.mark.parametrize("name", ["..", "a/b", "", ".x", "a" * 200, "r1\n", "r1.x", "-x"])
def test_an_id_is_no_path(tmp_path: Path, name: str) -> None:
    """What could lead elsewhere is no id."""
    with pytest.raises(RunFault):
        RunFolder(tmp_path, name)
