"""What people are asked through the plane, what hooks are told, and what becomes of a handler that breaks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope, Output
from aop_runtime.plane.hooks import Block, Change, Hook, HookCall
from aop_runtime.plane.permission import Verdict
from aop_runtime.plane.questions import Answer, Question
from aop_runtime.plane.redaction import Redaction
from aop_runtime.plane.spec import ToolCall

from .given import YES, Ops, plane


def hide(value: Json) -> Json:
    found: Json = json.loads(json.dumps(value).replace("s3cret", "***"))
    return found


class Slow:
    """Takes its time to answer. `most`: how many questions it had before it at once."""

    def __init__(self) -> None:
        self.open = self.most = 0
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer | None:
        self.questions.append(question)
        self.open += 1
        self.most = max(self.most, self.open)
        await asyncio.sleep(0.01)
        self.open -= 1
        return Answer(verdict="text", text="はい") if question.kind == "question" else YES


async def asks(arguments: Mapping[str, Json], context: ToolContext) -> Output:
    asked = Question(
        id=f"{context.call}.q",
        kind="question",
        text="the s3cret?",
        call=context.call,
        address="crm.ask",
        choices=("s3cret", "はい"),
    )
    return Output(content=(await context.ask(asked)).text)


def test_a_person_is_asked_one_thing_at_a_time() -> None:
    """Though the calls run side by side."""
    person, ops = Slow(), Ops()
    on = plane([ops.tool("ask", act=asks)], person=person)
    calls = [ToolCall(f"c{number}", "ask", {"text": "x"}) for number in range(4)]
    assert all(envelope.ok for envelope in asyncio.run(on.call_all(calls)))
    assert (len(person.questions), person.most) == (4, 1)


def test_no_secret_stands_in_a_question() -> None:
    """Neither in its text nor among the answers to choose from."""
    person, ops = Slow(), Ops()
    on = plane([ops.tool("ask", act=asks)], person=person, hooks=[Redaction(hide)])
    assert asyncio.run(on.call(ToolCall("c", "ask", {"text": "x"}))).ok
    assert (person.questions[0].text, person.questions[0].choices) == ("the ***?", ("***", "はい"))


@pytest.mark.parametrize(("effect", "unknown"), [("read", False), ("write", True)])
def test_a_handler_that_breaks_may_have_done_its_write(effect: str, unknown: bool) -> None:
    """The model is told that nobody knows, and nothing of what broke."""

    async def breaks(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        raise RuntimeError("the s3cret")

    on = plane([Ops().tool("send", effect, breaks)], person=Slow())
    envelope = asyncio.run(on.call(ToolCall("c", "send", {"text": "x"})))
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.unknown_outcome) == ("internal", unknown)
    assert "s3cret" not in envelope.error.message


def test_hooks_are_told_of_the_arguments_that_are_used() -> None:
    """When the gate has spoken and when the call has ended; they are what a hook before has made of them."""
    told: list[Mapping[str, Json]] = []

    class Loud(Hook):
        async def before(self, call: HookCall) -> Block | Change | None:
            return Change({"text": str(call.arguments["text"]).upper()})

        async def decided(self, call: HookCall, verdict: Verdict) -> None:
            told.append(call.arguments)

        async def after(self, call: HookCall, envelope: Envelope) -> Envelope:
            told.append(call.arguments)
            return envelope

    asyncio.run(plane([Ops().tool("find")], hooks=[Loud()]).call(ToolCall("c", "find", {"text": "a"})))
    assert told == [{"text": "A"}, {"text": "A"}]
