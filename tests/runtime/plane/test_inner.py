"""Calls that a handler makes: gated and recorded one by one, and answered from the record after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.questions import Waiting
from aop_runtime.plane.spec import Tool, ToolCall

from ..given import Clock
from .given import YES, Ops, Somebody, plane, rules


def outer(ops: Ops, calls: Sequence[tuple[str, str]], inner: Sequence[Tool], *, swallow: bool = False) -> Tool:
    """Makes `calls` of operations with texts, one after the other, and answers with their codes."""

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> str:
        said = []
        for operation, text in calls:
            try:
                envelope = await context.inner("crm", operation, {"text": text})
            except Waiting:
                if not swallow:
                    raise
                continue
            said.append("ok" if envelope.error is None else envelope.error.code)
        return " ".join(said)

    return ops.tool("script", act=act, inner=tuple(inner))


def run(tool: Tool, **given: object) -> Envelope:
    return asyncio.run(plane([tool], **given).call(ToolCall("c", "script", {"text": ""})))  # type: ignore[arg-type]


def test_only_what_is_inside_can_be_called() -> None:
    """Other tools of the phase, unknown ones and wrong arguments come back as errors."""
    ops = Ops()
    tool = outer(ops, [("find", "a"), ("send", "b"), ("script", "c")], [ops.tool("find")])
    assert run(tool).content == "ok invalid_input invalid_input"
    assert [name for name, _ in ops.done] == ["script", "find"]


def test_each_write_passes_the_gate() -> None:
    """One by one: the outer call has no effect of its own."""
    ops, person = Ops(), Somebody(YES)
    tool = outer(ops, [("send", "a"), ("send", "b")], [ops.tool("send", "write")])
    with pytest.raises(Waiting):
        run(tool, person=person)
    assert [question.arguments for question in person.questions] == [{"text": "a"}, {"text": "b"}]
    assert [name for name, _ in ops.done] == ["script", "send"]


def test_a_handler_cannot_hide_that_somebody_is_to_be_asked() -> None:
    """It may catch what is raised; the run waits all the same."""
    ops = Ops()
    with pytest.raises(Waiting):
        run(outer(ops, [("send", "a")], [ops.tool("send", "write")], swallow=True))


def test_started_again_it_gets_what_had_ended() -> None:
    """Nothing is done twice, in whatever order it asks; what is new is done."""
    ops, journal = Ops(), MemoryJournal()
    allowed = [rules({"allow": "*"})]
    inner = [ops.tool("send", "write"), ops.tool("find")]
    run(outer(ops, [("send", "a"), ("find", "x"), ("send", "a"), ("send", "b")], inner), journal=journal, given=allowed)
    assert len(ops.done) == 5
    del journal._finished["c"]
    again = outer(ops, [("send", "b"), ("send", "a"), ("send", "a"), ("find", "x"), ("send", "c")], inner)
    assert run(again, journal=journal, given=allowed).content == "ok ok ok ok ok"
    assert [arguments["text"] for name, arguments in ops.done[5:] if name == "send"] == ["c"]


def test_started_again_on_another_way_it_writes_no_more() -> None:
    """What it wrote before may be the same thing in other words; reading on is harmless."""
    ops, journal = Ops(), MemoryJournal()
    allowed = [rules({"allow": "*"})]
    inner = [ops.tool("send", "write"), ops.tool("find")]
    run(outer(ops, [("send", "10:00")], inner), journal=journal, given=allowed)
    del journal._finished["c"]
    again = run(outer(ops, [("find", "y"), ("send", "10:01")], inner), journal=journal, given=allowed)
    assert again.content == "ok conflict"
    assert [arguments["text"] for name, arguments in ops.done if name == "send"] == ["10:00"]


def test_waiting_for_an_inner_call_is_not_the_outer_calls_time() -> None:
    """Its time-out stands still while a person thinks and while an operation works."""

    clock = Clock()

    class Slow(Somebody):
        async def ask(self, question: object) -> object:  # type: ignore[override]
            clock.forward(1_000)
            await asyncio.sleep(0.01)
            return YES

    ops = Ops()
    inner = ops.tool("send", "write")

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> str:
        return (await context.inner("crm", "send", {"text": "a"})).content

    tool = ops.tool("script", act=act, inner=(inner,), timeout_s=100)
    assert run(tool, person=Slow()).content == "done"
