"""What a run may use: together with what it calls, over all processes, and not a person's time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from aop_runtime.declarations import Json
from aop_runtime.engine import budget
from aop_runtime.engine.people import write_answer
from aop_runtime.engine.run import Outcome, pending, run
from aop_runtime.manifest import Manifest
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output
from aop_runtime.plane.questions import Answer, Person, Question
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.runs.events import RunResumed
from aop_runtime.runs.folder import Changes, Limits, RunFolder
from aop_runtime.runs.record import read_record
from aop_runtime.sources.protocol import Grant, Source

from ..given import Clock
from .given import TEXT, Given, compiled, done, script, started, turn


def driven(folder: RunFolder, equipment: Given, **changes: Any) -> Outcome:  # noqa: ANN401 - of Changes
    return asyncio.run(run(folder, equipment, lambda *_: None, changes=Changes(**changes)))


FAMILY = {"1": [turn(say="前")], "3": [turn(find="c"), turn(say="全部")]}
CHILD = {"子": {"phases": {"1": [turn(find="a"), turn(find="b"), turn(say="子")]}}}


@pytest.mark.parametrize(
    ("limits", "said"),
    [({"requests": 5}, "requests"), ({"tool_calls": 2}, "tool_calls"), ({"requests": 3}, "requests")],
)
def test_a_called_procedure_uses_what_its_caller_may(tmp_path: Path, limits: dict[str, int], said: str) -> None:
    """Six requests and three calls in all: the limit holds wherever it is reached, and in the next process, too. With a
    higher one the run goes on where it stopped."""
    build = tmp_path / "build"
    compiled(build / "child", "子", "agent")
    module = compiled(build / "p", "p", "agent", "子", "agent")
    folder = started(tmp_path / "runs", module, library=str(build), limits=Limits(**limits))
    equipment = Given(tmp_path / "log", script(FAMILY, CHILD))
    for _ in range(2):
        outcome = driven(folder, equipment)
        assert (outcome.status, said in outcome.message) == ("failed", True)
    before = done(tmp_path / "log")
    assert driven(folder, equipment, limits=Limits()).result == "全部"
    assert done(tmp_path / "log")[: len(before)] == before
    assert done(tmp_path / "log") == ["find a", "find b", "find c"]


def test_calls_of_one_answer_are_counted_before_they_are_made(tmp_path: Path) -> None:
    """A model that asks for a thousand at once gets none."""
    many = {"calls": [{"tool": "find", "arguments": {"text": str(number)}} for number in range(11)]}
    folder = started(tmp_path / "runs", compiled(tmp_path / "p", "p", "agent"), limits=Limits(tool_calls=10))
    outcome = driven(folder, Given(tmp_path / "log", script({"1": [many, turn(say="終")]})))
    assert (outcome.status, done(tmp_path / "log")) == ("failed", [])


class Slow(Given):
    """Its `find` takes a minute."""

    def sources(self, manifest: Manifest, folder: RunFolder) -> Sequence[Source]:
        class Waits:
            def accepts(self, grant: Grant) -> bool:
                return True

            async def tools(self, grant: Grant) -> Sequence[Tool]:
                async def handler(arguments: Mapping[str, Json], context: ToolContext) -> Output:
                    await asyncio.sleep(60)
                    return Output(content="late")

                spec = ToolSpec(
                    name="find", tool="crm", operation="find", description="", input_schema=TEXT, effect="read"
                )
                return [Tool(spec, handler)]

            async def aclose(self) -> None:
                pass

        return [Waits()]


def test_the_time_ends_a_call_that_takes_longer(tmp_path: Path) -> None:
    """At once, not when the call has come back; and the next process has none left."""
    folder = started(tmp_path / "runs", compiled(tmp_path / "p", "p", "agent"), limits=Limits(seconds=0.3))
    for _ in range(2):
        outcome = driven(folder, Slow(tmp_path / "log", script({"1": [turn(find="a"), turn(say="終")]})))
        assert (outcome.status, "seconds" in outcome.message) == ("failed", True)
    assert read_record(folder.path).events[-1].active_s < 30


def test_the_time_in_which_a_person_is_asked_is_not_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does the limit end the waiting, nor is it charged."""
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)

    class Thinks:
        async def ask(self, question: Question) -> Answer | None:
            clock.forward(1_000)
            await asyncio.sleep(0.01)
            return Answer(verdict="yes")

    class Asked(Given):
        def person(self, folder: RunFolder) -> Person:
            return Thinks()

    folder = started(tmp_path / "runs", compiled(tmp_path / "p", "p", "agent"), limits=Limits(seconds=100))
    outcome = driven(folder, Asked(tmp_path / "log", script({"1": [turn(send="a"), turn(say="終")]})))
    assert outcome == Outcome("finished", result="終")
    assert read_record(folder.path).events[-1].active_s < 100


def test_another_model_goes_on_where_the_first_one_failed(tmp_path: Path) -> None:
    """What was changed is in the record, and holds for the processes after it."""
    folder = started(tmp_path / "runs", compiled(tmp_path / "p", "p", "agent"))
    assert driven(folder, Given(tmp_path / "log", script({}))).status == "failed"
    equipment = Given(tmp_path / "log", script({"1": [turn(send="a"), turn(say="終")]}))
    assert driven(folder, equipment, model="other:model", limits=Limits(requests=7)).status == "waiting"
    record = read_record(folder.path)
    resumed = [event for event in record.events if isinstance(event, RunResumed)]
    assert [event.changes.model for event in resumed] == ["other:model"]
    plan = record.changed(folder.plan())
    assert (plan.model, plan.limits.requests, plan.input) == ("other:model", 7, "頼む")
    assert folder.plan().model == "script"
    ((where, question),) = pending(folder)
    write_answer(where.path, question, Answer(verdict="yes"))
    assert driven(folder, equipment).result == "終"


def test_a_call_that_ended_is_not_counted_again(tmp_path: Path) -> None:
    """Of one answer's two calls one has ended and one waits; with the answer there is just enough left for it."""
    module = compiled(tmp_path / "build" / "p", "p", "agent")
    turns = {"1": [turn(find="a", send="b"), turn(say="終わり")]}
    folder = started(tmp_path / "runs", module, limits=Limits(tool_calls=2))
    equipment = Given(tmp_path / "log", script(turns))
    assert driven(folder, equipment).status == "waiting"
    ((where, question),) = pending(folder)
    write_answer(where.path, question, Answer(verdict="yes"))
    assert driven(folder, equipment).result == "終わり"
    assert done(tmp_path / "log") == ["find a", "send b"]


def test_another_model_holds_for_called_procedures_too(tmp_path: Path) -> None:
    """Also for one that had begun with the first: which tools it has may depend on the model."""
    build = tmp_path / "build"
    compiled(build / "child", "子", "agent")
    folder = started(tmp_path / "runs", compiled(build / "p", "p", "子"), library=str(build))
    asking = {"子": {"phases": {"1": [turn(send="a"), turn(say="子")]}}}
    equipment = Given(tmp_path / "log", script({}, asking))
    assert driven(folder, equipment).status == "waiting"
    ((child, question),) = pending(folder)
    write_answer(child.path, question, Answer(verdict="yes"))
    assert driven(folder, equipment, model="other").result == "子"
    assert read_record(child.path).changed(child.plan()).model == "other"
