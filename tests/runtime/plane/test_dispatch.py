"""A call through the plane: what runs, what does not, and what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.dispatch import Plane
from aop_runtime.plane.envelope import Envelope, Output, ToolFailure, Truncation
from aop_runtime.plane.hooks import Block, Change, Hook, HookCall
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.permission import Verdict
from aop_runtime.plane.questions import Answer, Waiting
from aop_runtime.plane.spec import ToolCall

from .given import NO, YES, Ops, Somebody, plane, rules


def call(on: Plane, name: str, arguments: object = None, identity: str = "c1") -> Envelope:
    given = {"text": "x"} if arguments is None else arguments
    return asyncio.run(on.call(ToolCall(identity, name, given)))  # type: ignore[arg-type]  # also what is wrong


def code(envelope: Envelope) -> str | None:
    return None if envelope.error is None else envelope.error.code


def test_a_read_runs_unasked() -> None:
    """And its result comes back in an envelope."""
    ops = Ops()
    envelope = call(plane([ops.tool("find")]), "find")
    assert (envelope.ok, envelope.content, envelope.truncation) == (True, "done", None)
    assert ops.done == [("find", {"text": "x"})]


@pytest.mark.parametrize("name", ["fnd", "", "find ", "FIND", "x" * 10_000, "read_result", "\ud800"])
def test_a_wrong_name_comes_back_with_the_valid_ones(name: str) -> None:
    """Nothing runs."""
    ops = Ops()
    envelope = call(plane([ops.tool("find"), ops.tool("send", "write")]), name)
    assert code(envelope) == "invalid_input"
    assert envelope.error is not None
    assert envelope.error.details["tools"] == ["find", "send"]
    assert len(envelope.error.message) < 200
    assert ops.done == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('"x"', "not a JSON object"),
        ("NaN", "not JSON"),
        ('{"text": NaN}', "not JSON"),
        ('{"text": 1e999}', "too large"),
        ('{"text": "a", "text": "b"}', "twice"),
        ('{"text": "\\ud800"}', "half a character"),
        ('{"text": "' + "x" * 3_000_000 + '"}', "bytes"),
        ("[" * 100_000, "deep"),
        ('{"text": ' + "[" * 80 + "]" * 80 + "}", "deep"),
        ("{}", "text: missing"),
        ('{"text": 1}', "text: wrong type"),
        ('{"text": true}', "text: wrong type"),
        ('{"text": "a", "tezt": "b"}', "tezt: unknown field"),
        ({"text": {"a": object()}}, "not JSON"),
    ],
)
def test_wrong_arguments_come_back_with_what_is_wrong(arguments: object, said: str) -> None:
    """Nothing runs, nobody is asked."""
    ops, person = Ops(), Somebody(YES)
    envelope = call(plane([ops.tool("send", "write")], person=person), "send", arguments)
    assert code(envelope) == "invalid_input"
    assert envelope.error is not None
    assert said in envelope.error.message + str(envelope.error.details)
    assert (ops.done, person.questions) == ([], [])


def test_a_write_is_asked_for() -> None:
    """It runs when a person says yes, and is denied with the reason when not."""
    ops, person = Ops(), Somebody(YES, NO)
    on = plane([ops.tool("send", "write")], person=person)
    assert call(on, "send", identity="c1").ok
    refused = call(on, "send", identity="c2")
    assert code(refused) == "denied"
    assert refused.error is not None
    assert "高すぎる" in refused.error.message
    assert len(ops.done) == 1
    assert person.questions[0].arguments == {"text": "x"}


def test_a_run_waits_where_nobody_answers(tmp_path: Path) -> None:
    """The call neither ran nor ended; asked again with an answer, it does."""
    ops, journal = Ops(), MemoryJournal()
    with pytest.raises(Waiting) as waiting:
        call(plane([ops.tool("send", "write")], journal=journal), "send")
    assert (ops.done, journal.finished("c1")) == ([], None)
    journal.answer(waiting.value.question.id, YES)
    assert call(plane([ops.tool("send", "write")], journal=journal), "send").ok
    assert len(ops.done) == 1


def test_what_ended_is_answered_from_the_record() -> None:
    """A call with an id that has ended runs no second time."""
    ops, journal = Ops(), MemoryJournal()
    first = call(plane([ops.tool("find")], journal=journal), "find")
    assert call(plane([ops.tool("find")], journal=journal), "find") == first
    assert len(ops.done) == 1


def test_rules_decide_before_the_contract() -> None:
    """Allowed, denied, asked; what is always asked for is asked for in spite of a rule."""
    ops = Ops()
    tools = [ops.tool("send", "write"), ops.tool("find"), ops.tool("pay", "write", confirmation="always")]
    given = [rules({"allow": "crm.*"}, {"deny": "crm.find", "when": {"text": "secret*"}})]
    on = plane(tools, given=given, person=Somebody(NO))
    assert call(on, "send", identity="1").ok
    assert call(on, "find", identity="2").ok
    assert code(call(on, "find", {"text": "secret plan"}, "3")) == "denied"
    assert code(call(on, "pay", identity="4")) == "denied"


def test_the_callers_rules_hold_too() -> None:
    """Of a procedure that another one runs: the strictest verdict."""
    ops = Ops()
    on = plane([ops.tool("send", "write")], given=[rules({"allow": "*"}), rules({"deny": "crm.send"})])
    assert code(call(on, "send")) == "denied"
    assert ops.done == []


def test_a_failure_outside_is_an_envelope() -> None:
    """With its code and details; what a handler should not raise says nothing of our inside."""

    async def fail(arguments: Mapping[str, Json], context: ToolContext) -> str:
        raise ToolFailure("conflict", "already there", {"id": 7})

    async def burst(arguments: Mapping[str, Json], context: ToolContext) -> str:
        raise KeyError("/home/somebody/secret")

    ops = Ops()
    on = plane([ops.tool("fail", act=fail), ops.tool("burst", act=burst)])
    failed, broken = call(on, "fail", identity="1"), call(on, "burst", identity="2")
    assert (code(failed), failed.error and failed.error.details) == ("conflict", {"id": 7})
    assert code(broken) == "internal"
    assert "secret" not in str(broken)


def test_a_read_that_fails_outside_is_tried_again() -> None:
    """Three times at most."""
    failures = [ToolFailure("dependency_failure", "down"), ToolFailure("rate_limited", "slow", {"retry_after_s": 0})]

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> str:
        if failures:
            raise failures.pop()
        return "at last"

    ops = Ops()
    assert call(plane([ops.tool("find", act=act)]), "find").content == "at last"
    assert len(ops.done) == 3


@pytest.mark.parametrize("keyed", [True, False])
def test_a_write_that_times_out_is_repeated_only_with_a_key(keyed: bool) -> None:
    """With the same one; without, its outcome is unknown, and an equal call is asked for although a rule allows it."""

    async def hang(arguments: Mapping[str, Json], context: ToolContext) -> str:
        await asyncio.sleep(60)
        return ""

    ops, person = Ops(), Somebody(NO)
    spec = {"idempotency_argument": "key"} if keyed else {}
    tool = ops.tool("send", "write", hang, timeout_s=0.05, **spec)
    on = plane([tool], given=[rules({"allow": "*"})], person=person)
    envelope = call(on, "send")
    assert code(envelope) == "dependency_failure"
    assert envelope.error is not None
    assert envelope.error.unknown_outcome
    assert len(ops.done) == (2 if keyed else 1)
    assert len({str(arguments) for _, arguments in ops.done}) == 1
    assert ("key" in ops.done[0][1]) == keyed
    assert code(call(on, "send", identity="c2")) == "denied"
    assert len(person.questions) == 1


def test_what_broke_off_is_done_at_most_once() -> None:
    """A read runs again, a write with a key too; another write is asked about, each time that it breaks off."""
    ops, journal, person = Ops(), MemoryJournal(), Somebody(YES, Answer(verdict="no"), Answer(verdict="yes"))
    find, send = ops.tool("find"), ops.tool("send", "write")
    put = ops.tool("put", "write", idempotency_argument="key")
    for identity, tool in (("1", find), ("2", put), ("3", send), ("4", send)):
        journal.begin(identity, tool.spec, {"text": "x"})
    on = plane([find, send, put], journal=journal, person=person, given=[rules({"allow": "*"})])
    assert call(on, "find", identity="1").ok
    assert call(on, "put", identity="2").ok
    done = call(on, "send", identity="3")
    assert (code(done), done.error and done.error.details) == ("conflict", {"done": True})
    assert call(on, "send", identity="4").ok
    assert [name for name, _ in ops.done] == ["find", "put", "send"]
    assert [question.kind for question in person.questions] == ["outcome", "outcome"]
    journal.begin("5", send.spec, {})
    journal.begin("5", send.spec, {})
    call(on, "send", identity="5")
    assert person.questions[-1].id == "5.outcome.2"


def test_hooks_block_change_and_annotate() -> None:
    """In their order; what one has changed is validated again."""

    class Upper(Hook):
        name = "upper"

        async def before(self, call: HookCall) -> Block | Change | None:
            if call.arguments["text"] == "stop":
                return Block("not today")
            return Change({"text": str(call.arguments["text"]).upper()})

        async def after(self, call: HookCall, envelope: Envelope) -> Envelope:
            return replace(envelope, content=f"{envelope.content}!")

    class Wrong(Hook):
        async def before(self, call: HookCall) -> Block | Change | None:
            return Change({"text": 1})

    ops = Ops()
    on = plane([ops.tool("find")], hooks=[Upper()])
    assert call(on, "find", {"text": "a"}, "1").content == "done!"
    assert code(call(on, "find", {"text": "stop"}, "2")) == "denied"
    assert ops.done == [("find", {"text": "A"})]
    assert code(call(plane([ops.tool("find")], hooks=[Wrong()]), "find")) == "invalid_input"
    assert len(ops.done) == 1


def test_a_hook_that_fails_lets_nothing_pass() -> None:
    """Before the call it is not made, after it the result is withheld."""

    class Before(Hook):
        async def before(self, call: HookCall) -> Block | Change | None:
            raise OSError("disk")

    class Decided(Hook):
        async def decided(self, call: HookCall, verdict: Verdict) -> None:
            raise OSError("disk")

    class After(Hook):
        async def after(self, call: HookCall, envelope: Envelope) -> Envelope:
            raise OSError("disk")

    for hook, ran in ((Before(), 0), (Decided(), 0), (After(), 1)):
        ops = Ops()
        envelope = call(plane([ops.tool("find")], hooks=[hook]), "find")
        assert code(envelope) == "internal"
        assert envelope.content == ""
        assert len(ops.done) == ran


def test_reads_run_side_by_side_and_writes_in_order() -> None:
    """A write begins when what stands before it has ended."""
    running: list[str] = []
    most = 0

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> str:
        nonlocal most
        running.append(context.call)
        most = max(most, len(running))
        await asyncio.sleep(0.02)
        running.remove(context.call)
        return context.call

    ops = Ops()
    on = plane([ops.tool("find", act=act), ops.tool("send", "write", act)], given=[rules({"allow": "*"})])
    names = ["find", "find", "send", "send", "find"]
    calls = [ToolCall(str(place), name, {"text": str(place)}) for place, name in enumerate(names)]
    envelopes = asyncio.run(on.call_all(calls))
    assert [envelope.content for envelope in envelopes] == ["0", "1", "2", "3", "4"]
    assert most == 2
    assert [arguments["text"] for _, arguments in ops.done[2:]] == ["2", "3", "4"]


def test_beside_a_call_that_waits_the_others_end() -> None:
    """But nothing behind a write that waits."""
    ops, journal = Ops(), MemoryJournal()
    on = plane([ops.tool("find"), ops.tool("send", "write")], journal=journal)
    calls = [ToolCall(str(place), name, {"text": "x"}) for place, name in enumerate(["find", "send", "find"])]
    with pytest.raises(Waiting):
        asyncio.run(on.call_all(calls))
    assert [journal.finished(str(place)) is not None for place in range(3)] == [True, False, False]


def test_too_long_an_output_goes_to_a_file(tmp_path: Path) -> None:
    """The model gets head and tail, and the type says that it was cut."""

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> str:
        return "あ" * 900 + "い" * 100

    ops = Ops()
    envelope = call(plane([ops.tool("find", act=act, output_limit=100)], folder=tmp_path), "find")
    assert envelope.truncation is not None
    assert (envelope.truncation.total, envelope.truncation.head, envelope.truncation.tail) == (1000, 75, 25)
    assert envelope.content.startswith("あ" * 75 + "\n[…")
    assert envelope.content.endswith("い" * 25)
    stored = tmp_path / envelope.truncation.path
    assert stored.read_text(encoding="utf-8") == "あ" * 900 + "い" * 100
    assert stored.stat().st_mode & 0o077 == 0


def test_an_output_that_was_cut_by_its_handler_is_left_as_it_is(tmp_path: Path) -> None:
    """The type says so, not a convention."""
    cut = Truncation(path="outputs/own.txt", total=5000, head=300, tail=0)

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        return Output(content="x" * 300, truncation=cut)

    ops = Ops()
    envelope = call(plane([ops.tool("find", act=act, output_limit=100)], folder=tmp_path), "find")
    assert (len(envelope.content), envelope.truncation) == (300, cut)
    assert not (tmp_path / "outputs").exists()
