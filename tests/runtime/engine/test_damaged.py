"""Runs whose folder was damaged, and requests that come at the wrong moment: said with what to do, never guessed at."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from aop_runtime.declarations import Json
from aop_runtime.engine.budget import Budget, LimitReached
from aop_runtime.engine.run import Outcome, request_cancel, run
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.dispatch import Plane, RunSetting
from aop_runtime.plane.envelope import Output
from aop_runtime.plane.permission import Rules
from aop_runtime.plane.spec import Tool, ToolCall, ToolSpec
from aop_runtime.runs.folder import Limits, RunFault, RunFolder
from aop_runtime.runs.journal import Journal
from aop_runtime.runs.listing import status
from aop_runtime.runs.record import JournalFault, read_record

from .given import TEXT, Given, compiled, done, script, started, turn

WRITES = script({"1": [turn(send="a"), turn(send="b"), turn("終わり")]})
ONCE = script({"1": [turn(send="a"), turn("終わり")]})


@pytest.fixture
def one(tmp_path: Path) -> RunFolder:
    """A run of one phase."""
    return started(tmp_path / "runs", compiled(tmp_path / "build" / "p", "p", "agent"))


def drive(folder: RunFolder, given: Given) -> Outcome:
    return asyncio.run(asyncio.wait_for(run(folder, given, lambda *_: None), 20))


def lines(folder: RunFolder) -> list[bytes]:
    return (folder.path / "events.jsonl").read_bytes().splitlines(keepends=True)


def write(folder: RunFolder, kept: list[bytes]) -> None:
    (folder.path / "events.jsonl").write_bytes(b"".join(kept))


def test_a_record_that_lacks_a_line_repeats_no_write(tmp_path: Path, one: RunFolder) -> None:
    """Whatever line it is, or is there twice, but for the last: the write that it told of must not be made again."""
    given = Given(tmp_path / "log", WRITES, ["crm.*"])
    assert drive(one, given).status == "finished"
    whole = lines(one)
    for place in range(len(whole) - 1):
        for kept in (whole[:place] + whole[place + 1 :], whole[: place + 1] + whole[place:]):
            write(one, kept)
            with pytest.raises(JournalFault, match=r"events\.jsonl:[0-9]+"):
                drive(one, given)
    assert done(given.log) == ["send a", "send b"]


def test_a_record_that_is_lost_does_not_begin_anew(tmp_path: Path, one: RunFolder) -> None:
    """It comes with the folder: without it nobody knows what was done."""
    given = Given(tmp_path / "log", WRITES, ["crm.*"])
    assert drive(one, given).status == "finished"
    (one.path / "events.jsonl").unlink()
    with pytest.raises(JournalFault):
        drive(one, given)
    assert done(given.log) == ["send a", "send b"]


@pytest.mark.parametrize(
    "message",
    [{}, {"kind": "response"}, {"kind": "request", "parts": []}, 5, None, {"kind": "response", "parts": [{"x": 1}]}],
)
def test_a_record_of_an_answer_that_is_none(tmp_path: Path, one: RunFolder, message: object) -> None:
    """It is JSON, and an event, and still nothing that a model said."""
    given = Given(tmp_path / "log", ONCE)
    assert drive(one, given).status == "waiting"
    changed = [json.loads(line) for line in lines(one)]
    for event in changed:
        if event["event"] == "model-replied":
            event["message"] = message
    write(one, [json.dumps(event).encode() + b"\n" for event in changed])
    with pytest.raises(JournalFault):
        drive(one, given)


@pytest.mark.parametrize("line", [b'{"event":[]}', b'{"event":{}}', b"[]", b"\0" * 100, b"", b"[" * 100_000, b"\xff"])
def test_a_line_that_is_no_event(one: RunFolder, line: bytes) -> None:
    write(one, [line + b"\n"])
    with pytest.raises(JournalFault, match=r"events\.jsonl:1"):
        read_record(one.path)


def pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def link(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    elsewhere.write_bytes(path.read_bytes() if path.exists() else b'{"verdict": "yes"}')
    path.unlink(missing_ok=True)
    path.symlink_to(elsewhere)


def folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


@pytest.mark.parametrize("name", ["events.jsonl", "run.json", "answer"])
@pytest.mark.parametrize("put", [pipe, link, folder])
def test_something_else_in_place_of_a_file(
    tmp_path: Path, one: RunFolder, name: str, put: Callable[[Path], None]
) -> None:
    """A pipe would keep its reader for ever, a link leads to what is not the run's."""
    given = Given(tmp_path / "log", ONCE)
    waiting = drive(one, given)
    assert waiting.question is not None
    if name == "answer":
        put(one.path / "answers" / f"{waiting.question.id}.json")
        assert drive(one, given).status == "failed"
    else:
        put(one.path / name)
        with pytest.raises((JournalFault, RunFault)):
            drive(one, given)
    assert done(given.log) == []


def test_a_module_that_was_edited_in_the_folder_of_its_run(tmp_path: Path, one: RunFolder) -> None:
    """What was approved, and what the record tells, is of another one. That of a called procedure is looked at too."""
    given = Given(tmp_path / "log", ONCE, ["crm.*"])
    module = one.procedure.read_text(encoding="utf-8")
    one.procedure.write_text(module.replace("手順 1", "手順 2"), encoding="utf-8")
    assert drive(one, given).status == "failed"
    assert done(given.log) == []
    one.procedure.write_text(module, encoding="utf-8")
    assert drive(one, given).status == "finished"


def test_a_question_that_cannot_be_written_down(tmp_path: Path, one: RunFolder) -> None:
    """Nobody could answer it: the run fails with the reason, and goes on when it is gone."""
    (one.path / "questions").rmdir()
    given = Given(tmp_path / "log", ONCE)
    assert drive(one, given).status == "failed"
    (one.path / "questions").mkdir()
    assert drive(one, given).status == "waiting"


def test_what_a_cancelled_run_has_called_is_cancelled_too(tmp_path: Path) -> None:
    """For good: an approval that comes later does not set it going by itself."""
    library = tmp_path / "build"
    compiled(library / "child", "子", "agent")
    parent = started(tmp_path / "runs", compiled(library / "parent", "親", "子"), library=str(library))
    given = Given(tmp_path / "log", script({}, {"子": {"phases": {"1": [turn(send="a"), turn("済")]}}}))
    waiting = drive(parent, given)
    assert waiting.status == "waiting"
    child = RunFolder(parent.runs, waiting.run)
    request_cancel(parent)
    assert (status(parent), status(child)) == ("cancelled", "cancelled")
    for cancelled in (parent, child):
        with pytest.raises(RunFault):
            drive(cancelled, Given(given.log, ONCE, ["crm.*"]))
    assert done(given.log) == []


def test_a_cancelled_run_ends_what_it_has_called_while_that_is_at_work(tmp_path: Path) -> None:
    """Both are recorded as cancelled, whichever sees the request first."""
    library = tmp_path / "build"
    compiled(library / "child", "子", "agent")
    parent = started(tmp_path / "runs", compiled(library / "parent", "親", "子"), library=str(library))

    class Asked(Given):
        def person(self, folder: RunFolder) -> Any:  # noqa: ANN401 - a Person
            class Nobody:
                async def ask(self, question: object) -> None:
                    request_cancel(parent)
                    await asyncio.sleep(20)

            return Nobody()

        def called(self, procedure: str) -> Asked:
            return Asked(self.log, self.models.called(procedure), self.approved)

    given = Asked(tmp_path / "log", script({}, {"子": {"phases": {"1": [turn(send="a"), turn("済")]}}}))
    assert drive(parent, given).status == "cancelled"
    assert status(parent) == "cancelled"
    assert status(RunFolder(parent.runs, f"{parent.run}.1")) == "cancelled"
    assert done(given.log) == []


def test_a_folder_beside_a_run_that_looks_like_a_called_one(tmp_path: Path, one: RunFolder) -> None:
    """Is none of its, whatever lies in it."""
    stranger = one.runs / f"{one.run}.copy"
    stranger.mkdir()
    (stranger / "run.json").write_text("{}", encoding="utf-8")
    assert drive(one, Given(tmp_path / "log", ONCE, ["crm.*"])).status == "finished"


@pytest.mark.parametrize("stubborn", [False, True])
def test_the_limit_of_calls_holds_inside_of_a_call(tmp_path: Path, stubborn: bool) -> None:
    """A handler, a script for one, may make as many as are left, and cannot hide that there are no more."""
    made: list[str] = []

    async def inner(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        made.append(str(arguments["text"]))
        return Output(content="")

    async def outer(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        for number in range(10):
            with contextlib.suppress(LimitReached) if stubborn else contextlib.nullcontext():
                await context.inner("crm", "find", {"text": str(number)})
        return Output(content="all is well")

    def spec(name: str) -> ToolSpec:
        return ToolSpec(name=name, tool="crm", operation=name, description="", input_schema=TEXT, effect="read")

    def called(limit: int) -> None:
        budget = Budget(Limits(tool_calls=limit), [read_record(tmp_path)])
        with contextlib.closing(Journal(tmp_path, budget.take)) as journal:
            setting = RunSetting(
                run="r1", phase=0, folder=tmp_path, state={}, cancelled=asyncio.Event(), progress=print, notify=print,
                admit=budget.check_inner_call,
            )  # fmt: skip
            tool = Tool(spec("all"), outer, (Tool(spec("find"), inner),))
            nobody = Given(tmp_path, ONCE).person(RunFolder(tmp_path, "r1"))
            plane = Plane([tool], setting=setting, rules=[Rules()], hooks=[], journal=journal, person=nobody)
            budget.check_calls(1)
            asyncio.run(plane.call(ToolCall("p0t0c0", "all", {"text": ""})))

    (tmp_path / "events.jsonl").touch()
    with pytest.raises(LimitReached):
        called(5)
    # With the call that they are made in, five.
    assert made == ["0", "1", "2", "3"]
    with pytest.raises(LimitReached):
        called(10)
    called(11)
    assert made == [str(number) for number in range(10)]
