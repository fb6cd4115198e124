"""What holds for every sequence of calls, over crashes and resumptions: of gate, record and writes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope, ToolFailure
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.permission import Rules
from aop_runtime.plane.questions import Answer, Question, Waiting
from aop_runtime.plane.spec import Tool, ToolCall, ToolSpec

from .given import Ops, plane, rules


class Killed(BaseException):
    """The process ends here: nothing catches it, nothing is recorded any more."""


class Log(MemoryJournal):
    """Keeps the order of what is recorded and what is done."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, str]] = []

    def begin(self, call: str, spec: ToolSpec, arguments: Mapping[str, Json]) -> None:
        super().begin(call, spec, arguments)
        self.lines.append(("begin", call))

    def finish(self, call: str, name: str, envelope: Envelope) -> None:
        super().finish(call, name, envelope)
        self.lines.append(("finish", call))


class Fickle:
    """Answers by the script: yes, no, or not now."""

    def __init__(self, script: list[str]) -> None:
        self.script = script
        self.said: dict[str, str] = {}

    async def ask(self, question: Question) -> Answer | None:
        word = self.script.pop() if self.script else "yes"
        if word == "later":
            return None
        self.said[question.id] = word
        return Answer(verdict="yes" if word == "yes" else "no")


FATES = ["done", "done", "fail", "lost", "burst", "hang", "killed before", "killed after"]
ACTIONS = ["allow", "ask", "deny"]
TOOLS = {"read": "read", "write": "write", "keyed": "write"}

calls = st.lists(st.tuples(st.sampled_from([*TOOLS, "nothing"]), st.sampled_from(["a", "b", 1])), max_size=6)


class World:
    """What is really done, by call; and how each start of a handler ends."""

    def __init__(self, journal: Log, fates: list[str]) -> None:
        self.journal = journal
        self.fates = fates
        self.started: Counter[str] = Counter()
        self.keys: dict[str, set[str]] = {}

    async def act(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        self.started[context.call] += 1
        self.keys.setdefault(context.call, set()).add(context.idempotency_key)
        self.journal.lines.append(("start", context.call))
        await asyncio.sleep(0)
        fate = self.fates.pop() if self.fates else "done"
        if fate == "fail":
            raise ToolFailure("conflict", "no")
        if fate == "lost":
            raise ToolFailure("dependency_failure", "lost", {"retry_after_s": 0}, unknown_outcome=True)
        if fate == "burst":
            raise KeyError("x")
        if fate == "hang":
            await asyncio.sleep(30)
        if fate.startswith("killed"):
            raise Killed(fate)
        return "done"

    def tools(self, ops: Ops) -> list[Tool]:
        spec: dict[str, dict[str, Any]] = {"keyed": {"idempotency_argument": "key"}}
        return [
            ops.tool(name, effect, self.act, timeout_s=0.01, **spec.get(name, {})) for name, effect in TOOLS.items()
        ]


def drive(world: World, person: Fickle, given_rules: list[Rules], made: list[ToolCall]) -> list[Envelope] | None:
    """As the engine does: from the start again after each crash and each question, until all calls have ended."""
    for _ in range(40):
        on = plane(world.tools(Ops()), given=given_rules, journal=world.journal, person=person)  # type: ignore[arg-type]
        try:
            return asyncio.run(on.call_all(made))
        except (Waiting, Killed):
            continue
        except BaseExceptionGroup:
            continue
    return None


@given(
    made=calls,
    actions=st.fixed_dictionaries({name: st.sampled_from(ACTIONS) for name in TOOLS}),
    fates=st.lists(st.sampled_from(FATES), max_size=10),
    answers=st.lists(st.sampled_from(["yes", "no", "later"]), max_size=10),
)
def test_every_sequence_of_calls(
    made: list[tuple[str, Json]], actions: dict[str, str], fates: list[str], answers: list[str]
) -> None:
    """Nothing denied or unanswered runs; what runs was recorded before; each call ends once; no write is repeated."""
    journal = Log()
    world, person = World(journal, fates), Fickle(answers)
    given_rules = [rules(*({action: f"crm.{name}"} for name, action in actions.items()))]
    sent = [ToolCall(f"c{place}", name, {"text": text}) for place, (name, text) in enumerate(made)]
    ended = drive(world, person, given_rules, sent)
    assert ended is not None

    for call, (name, text), envelope in zip(sent, made, ended, strict=True):
        started = world.started[call.id]
        lines = [word for word, other in journal.lines if other == call.id]
        approvals = {word for question, word in person.said.items() if question.startswith(f"{call.id}.approval")}
        # The record.
        assert lines.count("finish") == 1
        assert lines[-1] == "finish"
        assert all("begin" in lines[:place] for place, word in enumerate(lines) if word == "start")
        assert world.journal.finished(call.id) == envelope
        # The gate.
        if name == "nothing" or text == 1 or actions[name] == "deny" or approvals == {"no"}:
            assert started == 0
            assert not envelope.ok
            continue
        if actions[name] == "ask" and started:
            assert approvals == {"yes"}
        # Writes: a second start only with the same key, or after a person said that the first had not been done.
        again = [word for question, word in person.said.items() if question.startswith(f"{call.id}.outcome")]
        if name == "write":
            assert started <= 1 + again.count("no")
        assert len(world.keys.get(call.id, {""})) == 1


@given(made=st.lists(st.sampled_from("ab"), min_size=2, max_size=5), fates=st.lists(st.sampled_from(["lost", "done"])))
def test_a_write_like_one_of_unknown_outcome_is_asked_for(made: list[str], fates: list[str]) -> None:
    """Although a rule allows it."""
    journal, unknown = Log(), set[str]()
    world, person = World(journal, fates), Fickle(["no"] * 20)
    on = plane(world.tools(Ops()), given=[rules({"allow": "*"})], journal=journal, person=person)  # type: ignore[arg-type]
    for place, text in enumerate(made):
        envelope = asyncio.run(on.call(ToolCall(str(place), "write", {"text": text})))
        assert (envelope.error is not None and envelope.error.code == "denied") == (text in unknown)
        if envelope.error is not None and envelope.error.unknown_outcome:
            unknown.add(text)


def test_two_calls_with_one_id_are_one_call() -> None:
    """The second gets what the first came to."""
    journal = Log()
    world = World(journal, [])
    on = plane(world.tools(Ops()), given=[rules({"allow": "*"})], journal=journal)

    async def both() -> list[Envelope]:
        call = ToolCall("c", "write", {"text": "a"})
        return list(await asyncio.gather(on.call(call), on.call(call)))

    first, second = asyncio.run(both())
    assert first == second
    assert world.started == {"c": 1}
    assert journal.lines == [("begin", "c"), ("start", "c"), ("finish", "c")]


def test_a_cancelled_call_has_no_end() -> None:
    """It stops at once, and what became of it is asked about when the run is resumed."""
    journal = Log()
    world = World(journal, ["hang"])
    tool = Ops().tool("write", "write", world.act, timeout_s=60)
    on = plane([tool], given=[rules({"allow": "*"})], journal=journal)

    async def cancelled() -> None:
        task = asyncio.create_task(on.call(ToolCall("c", "write", {"text": "a"})))
        while world.fates:  # until it hangs
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=20)  # it would go on for half a minute
        assert task.cancelled()

    asyncio.run(cancelled())
    assert journal.lines == [("begin", "c"), ("start", "c")]
    person = Fickle(["no"])
    again = plane([tool], given=[rules({"allow": "*"})], journal=journal, person=person)  # type: ignore[arg-type]
    assert asyncio.run(again.call(ToolCall("c", "write", {"text": "a"}))).ok
    assert list(person.said) == ["c.outcome.1"]
