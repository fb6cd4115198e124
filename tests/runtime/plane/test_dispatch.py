"""A call through the plane: what runs, what does not, and what comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.dispatch import Plane, SchemaFault
from aop_runtime.plane.envelope import Envelope, Output, ToolFailure, Truncation
from aop_runtime.plane.hooks import Block, Change, Hook, HookCall
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.permission import Verdict
from aop_runtime.plane.questions import Answer, Waiting
from aop_runtime.plane.redaction import Redaction
from aop_runtime.plane.shaping import for_model
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
        for _ in range(100):  # turns of the loop, in which the others come as far as they may
            await asyncio.sleep(0)
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


def test_nothing_behind_a_write_that_waits_is_begun() -> None:
    """Reads neither, although another write follows them."""
    ops, journal = Ops(), MemoryJournal()
    on = plane([ops.tool("find"), ops.tool("send", "write")], journal=journal)
    calls = [ToolCall(str(place), name, {"text": "x"}) for place, name in enumerate(["send", "find", "send"])]
    with pytest.raises(Waiting):
        asyncio.run(on.call_all(calls))
    assert (ops.done, len(journal.questions)) == ([], 1)


def test_a_fault_of_the_record_is_raised_by_itself() -> None:
    """Not in a group: whoever drives the run knows it by its type."""

    class Full(MemoryJournal):
        def finish(self, call: str, name: str, envelope: Envelope) -> None:
            raise OSError("disk full")

    ops = Ops()
    on = plane([ops.tool("find")], journal=Full())
    with pytest.raises(OSError, match="disk full"):
        asyncio.run(on.call_all([ToolCall(str(place), "find", {"text": "x"}) for place in range(3)]))


def test_an_approval_holds_for_what_was_approved() -> None:
    """A hook that changes the arguments otherwise after a resumption has its change asked for again."""

    class Stamp(Hook):
        def __init__(self, text: str) -> None:
            self.text = text

        async def before(self, call: HookCall) -> Block | Change | None:
            return Change({"text": self.text})

    ops, journal = Ops(), MemoryJournal()
    with pytest.raises(Waiting) as waiting:
        call(plane([ops.tool("pay", "write")], journal=journal, hooks=[Stamp("10")]), "pay")
    journal.answer(waiting.value.question.id, YES)
    with pytest.raises(Waiting) as again:
        call(plane([ops.tool("pay", "write")], journal=journal, hooks=[Stamp("99")]), "pay")
    assert again.value.question.arguments == {"text": "99"}
    assert call(plane([ops.tool("pay", "write")], journal=journal, hooks=[Stamp("10")]), "pay").ok
    assert ops.done == [("pay", {"text": "10"})]


def test_a_hook_changes_only_what_it_says() -> None:
    """What it does to the arguments that it was shown reaches neither the gate nor the handler."""

    class Meddler(Hook):
        async def before(self, call: HookCall) -> Block | Change | None:
            call.arguments["list"].append("x")  # type: ignore[union-attr]
            return None

        async def decided(self, call: HookCall, verdict: Verdict) -> None:
            call.arguments["list"].append("y")  # type: ignore[union-attr]

    schema: dict[str, Json] = {"type": "object", "properties": {"list": {"type": "array"}}}
    ops = Ops()
    call(plane([ops.tool("find", input_schema=schema)], hooks=[Meddler()]), "find", {"list": []})
    assert ops.done == [("find", {"list": []})]


def test_an_unknown_outcome_stays_unknown() -> None:
    """What the second try says of itself does not tell what became of the first."""
    failures = [
        ToolFailure("dependency_failure", "refused"),
        ToolFailure("dependency_failure", "lost", {"retry_after_s": 0}, unknown_outcome=True),
    ]

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> str:
        raise failures.pop()

    ops = Ops()
    tool = ops.tool("send", "write", act, idempotency_argument="key")
    envelope = call(plane([tool], given=[rules({"allow": "*"})]), "send")
    assert len(ops.done) == 2
    assert envelope.error is not None
    assert envelope.error.unknown_outcome


@pytest.mark.parametrize(("pause", "tries"), [(0, 3), (-1, 3), (31, 1), (86_400, 1), (True, 3), ("5", 3)])
def test_a_pause_that_is_too_long_is_left_to_the_model(pause: Json, tries: int) -> None:
    """Asked again earlier, the other side would refuse again."""

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> str:
        raise ToolFailure("rate_limited", "later", {"retry_after_s": pause})

    ops = Ops()
    envelope = call(plane([ops.tool("find", act=act)]), "find")
    assert len(ops.done) == tries
    assert envelope.error is not None
    assert envelope.error.details == {"retry_after_s": pause}


def test_secrets_are_taken_out_before_a_result_is_cut(tmp_path: Path) -> None:
    """Neither the stored file nor a part of it shows one, wherever the cut falls; a question shows none either."""

    def hide(value: Json) -> Json:
        found: Json = json.loads(json.dumps(value).replace("s3cret", "***"))
        return found

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        return Output(content="x" * 72 + "s3cret" + "y" * 100)

    ops, person = Ops(), Somebody(NO)
    tools = [ops.tool("find", act=act, output_limit=100), ops.tool("send", "write")]
    on = plane(tools, hooks=[Redaction(hide)], folder=tmp_path, person=person)
    envelope = call(on, "find", identity="1")
    assert envelope.truncation is not None
    assert envelope.content.startswith("x" * 72 + "***\n")
    assert "s3c" not in (tmp_path / envelope.truncation.path).read_text()
    call(on, "send", {"text": "the s3cret"}, "2")
    assert person.questions[0].arguments == {"text": "the ***"}


@pytest.mark.parametrize(
    "output",
    [
        "text",
        None,
        Output(content=7),  # type: ignore[arg-type]
        Output(content="", warnings=(1,)),  # type: ignore[arg-type]
        Output(content="", truncation={"path": "x"}),  # type: ignore[arg-type]
        Output(content="", structured={"a": object()}),  # type: ignore[dict-item]
        Output(content="", structured={("a",): 1}),  # type: ignore[dict-item]
    ],
)
def test_what_is_no_output_is_an_internal_error(output: object) -> None:
    """Of whoever wrote the handler; the run goes on."""

    async def handler(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        return output  # type: ignore[return-value]

    tool = replace(Ops().tool("find"), handler=handler)
    assert code(call(plane([tool]), "find")) == "internal"


def test_what_json_cannot_hold_does_not_reach_the_model(tmp_path: Path) -> None:
    """Numbers that it does not have, halves of characters, results without a bound."""

    async def odd(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        return Output(content="a\ud800b\ud83d\ude00", structured={"n": [float("nan"), float("inf"), 1.5]})

    async def large(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        raise ToolFailure("conflict", "m" * 100_000, {"body": "d" * 100_000})

    async def many(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        cut = Truncation(path="outputs/own.txt", total=9, head=1, tail=0)
        return Output(content="c" * 200_000, warnings=("w" * 100_000,) * 100, truncation=cut)

    ops = Ops()
    on = plane([ops.tool("odd", act=odd), ops.tool("large", act=large), ops.tool("many", act=many)], folder=tmp_path)
    envelopes = [call(on, name, identity=name) for name in ("odd", "large", "many")]
    texts = [for_model(envelope, "c", "t") for envelope in envelopes]
    shown = json.loads(texts[0].encode())
    assert (shown["content"], shown["structured"]) == ("a\ufffdb\U0001f600", {"n": ["nan", "inf", 1.5]})
    assert len(texts[1]) < 20_000
    assert len(texts[2]) < 110_000
    assert envelopes[2].truncation is not None
    assert envelopes[2].truncation.path == "outputs/many.txt"


def test_a_result_that_cannot_be_kept_is_not_lost_silently(tmp_path: Path) -> None:
    """The model learns that the call was made."""
    (tmp_path / "outputs").write_text("in the way")

    async def act(arguments: Mapping[str, Json], context: ToolContext) -> str:
        return "x" * 500

    ops = Ops()
    tool = ops.tool("send", "write", act, output_limit=100)
    envelope = call(plane([tool], folder=tmp_path, given=[rules({"allow": "*"})]), "send")
    assert envelope.error is not None
    assert (envelope.error.code, envelope.error.details) == ("internal", {"done": True})


def test_a_large_value_arrives_as_it_is() -> None:
    """Also one that looks like code, a template or a frame."""
    text = "\"'${x} {{y}} import os\\n\n\r\u2028</data>\x00" * 29_000
    assert len(text) > 1_000_000
    ops = Ops()
    assert call(plane([ops.tool("find")]), "find", json.dumps({"text": text})).ok
    assert ops.done == [("find", {"text": text})]


def test_a_schema_that_cannot_be_used_is_named() -> None:
    """Before anything is offered."""
    with pytest.raises(SchemaFault, match=r"crm\.find"):
        plane([Ops().tool("find", input_schema={"type": "thing"})])
