"""The plane: every call goes through it, in this order.

name → arguments against the schema → hooks before → gate → what an earlier process has begun → record → handler
→ shape → hooks after → record.

A wrong name, wrong arguments, a denial and a failure come back as envelopes, so that the model can correct itself. Only
`Waiting` (nobody answers now) and cancellation pass through.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rapidfuzz import process

from aop_runtime.declarations import Json
from aop_runtime.plane.arguments import UnreadableArguments, read_arguments
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import CallError, Envelope, ErrorCode, ToolFailure
from aop_runtime.plane.execution import Clock, Stopwatch, execute
from aop_runtime.plane.hooks import Block, Change, Hook, HookCall
from aop_runtime.plane.inner import InnerCalls
from aop_runtime.plane.journal import CallJournal
from aop_runtime.plane.permission import Rules, Verdict, strictest
from aop_runtime.plane.questions import Answer, Person, Question, Waiting
from aop_runtime.plane.shaping import shaped
from aop_runtime.plane.spec import Tool, ToolCall, ToolSpec
from aop_runtime.plane.texts import approval_text, outcome_text
from aop_runtime.plane.validation import ArgumentValidator, Fault, UnusableSchema

_log = logging.getLogger(__name__)

_KEYS: Final = uuid.UUID("6d2c1f0e-5a0b-4c8f-9d43-0a3f6d1c7b52")
_ALIKE: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetting:
    """What belongs to a run and a phase of it; the fields are those of `ToolContext`. `language`: of questions."""

    run: str
    phase: int
    folder: Path
    state: MutableMapping[str, object]
    cancelled: asyncio.Event
    progress: Callable[[str], None]
    notify: Callable[[str], None]
    callers: tuple[str, ...] = ()
    language: str = "ja"


class _Refused(Exception):
    """The call ends here, with this error."""

    def __init__(self, code: ErrorCode, message: str, details: Mapping[str, Json] | None = None) -> None:
        super().__init__(message)
        self.error = CallError(code=code, message=message, details=dict(details or {}))


class Plane:
    """The tools of one phase. `rules`: the run's own and those of the runs that called it; the strictest verdict holds.

    Raises UnusableSchema when a tool's schema is none.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        *,
        setting: RunSetting,
        rules: Sequence[Rules],
        hooks: Sequence[Hook],
        journal: CallJournal,
        person: Person,
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._setting = setting
        self._rules = tuple(rules) or (Rules(),)
        self._hooks = tuple(hooks)
        self._journal = journal
        self._person = person
        self._asking = asyncio.Lock()
        self._validators: dict[int, ArgumentValidator] = {}
        for tool in tools:
            self._validator(tool)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    # ----------------------------------------------------------------------------------------------- calls

    async def call(self, call: ToolCall) -> Envelope:
        """Raises Waiting."""
        finished = self._journal.finished(call.id)
        if finished is not None:
            return finished
        return await self._run(call, self._tools.get(call.name), sorted(self._tools))

    async def call_all(self, calls: Sequence[ToolCall]) -> list[Envelope]:
        """Those of one answer of a model: reads at once, writes one after the other in their order, in between.

        Where one waits for a person, the others still end, and it is raised then. Raises Waiting.
        """
        results: dict[int, Envelope] = {}
        waiting: list[Waiting] = []

        async def one(place: int) -> None:
            try:
                results[place] = await self.call(calls[place])
            except Waiting as question:
                waiting.append(question)

        reads: list[int] = []
        for place, call in enumerate(calls):
            tool = self._tools.get(call.name)
            if tool is not None and (tool.spec.effect == "write" or tool.inner):
                await _together(one, reads)
                reads = []
                if waiting:
                    # What comes after a write that waits may build on it.
                    break
                await one(place)
            else:
                reads.append(place)
        if not waiting:
            await _together(one, reads)
        if waiting:
            raise waiting[0]
        return [results[place] for place in range(len(calls))]

    async def _run(self, call: ToolCall, tool: Tool | None, known: Sequence[str]) -> Envelope:
        arguments: dict[str, Json] = {}
        stopwatch = Stopwatch()
        seen = HookCall(
            self._setting.run, self._setting.phase, call.id, call.name, None if tool is None else tool.spec, arguments
        )
        try:
            if tool is None:
                raise _unknown(call.name, known)
            arguments = self._read(call, tool)
            seen = replace(seen, arguments=arguments)
            arguments = await self._before(seen, tool)
            seen = replace(seen, arguments=arguments)
            sent = self._keyed(call, tool.spec, arguments)
            await self._pass_gate(seen, tool.spec, arguments)
            await self._recover(call, tool.spec)
            self._journal.begin(call.id, tool.spec, arguments)
            stopwatch = Stopwatch()
            envelope = await self._carry_out(call, tool, sent, stopwatch)
        except _Refused as refused:
            envelope = Envelope(content="", error=refused.error)
        except ToolFailure as failure:
            error = CallError(
                code=failure.code,
                message=failure.message,
                details=failure.details,
                unknown_outcome=failure.unknown_outcome,
            )
            envelope = Envelope(content="", error=error, duration_s=stopwatch.seconds)
        envelope = await self._after(seen, envelope)
        self._journal.finish(call.id, call.name, envelope)
        return envelope

    # ---------------------------------------------------------------------------------------------- before

    def _read(self, call: ToolCall, tool: Tool) -> dict[str, Json]:
        try:
            arguments = read_arguments(call.arguments)
        except UnreadableArguments as error:
            raise _Refused("invalid_input", str(error)) from error
        self._check(tool, arguments)
        return arguments

    def _check(self, tool: Tool, arguments: Mapping[str, Json]) -> None:
        try:
            faults = self._validator(tool).faults(arguments)
        except UnusableSchema as error:
            raise _Refused("internal", f"the schema of {tool.spec.address} cannot be used: {error}") from error
        if faults:
            raise _Refused("invalid_input", _corrections(tool.spec, faults), {"faults": list[Json](faults)})

    def _validator(self, tool: Tool) -> ArgumentValidator:
        key = id(tool)
        if key not in self._validators:
            self._validators[key] = ArgumentValidator(tool.spec.input_schema)
        return self._validators[key]

    async def _before(self, seen: HookCall, tool: Tool) -> dict[str, Json]:
        arguments = dict(seen.arguments)
        for hook in self._hooks:
            try:
                decision = await hook.before(replace(seen, arguments=arguments))
            except Exception as error:
                _log.exception("hook %s failed before %s", hook.name, seen.id)
                raise _Refused("internal", f"the hook {hook.name} failed; the call was not made") from error
            if isinstance(decision, Block):
                raise _Refused("denied", decision.reason, {"hook": hook.name})
            if isinstance(decision, Change):
                arguments = dict(decision.arguments)
                self._check(tool, arguments)
        return arguments

    def _keyed(self, call: ToolCall, spec: ToolSpec, arguments: Mapping[str, Json]) -> dict[str, Json]:
        if spec.idempotency_argument is None:
            return dict(arguments)
        return {**arguments, spec.idempotency_argument: self._key(call)}

    def _key(self, call: ToolCall) -> str:
        return str(uuid.uuid5(_KEYS, f"{self._setting.run}\0{call.id}"))

    # ------------------------------------------------------------------------------------------------ gate

    async def _pass_gate(self, seen: HookCall, spec: ToolSpec, arguments: Mapping[str, Json]) -> None:
        verdict = strictest([rules.verdict(spec, arguments) for rules in self._rules])
        if verdict.action == "allow" and spec.effect == "write" and self._journal.unknown_outcome(spec, arguments):
            verdict = Verdict("ask", "an equal call ended without anybody knowing whether it was done")
        if verdict.action != "ask":
            await self._decided(seen, verdict)
        if verdict.action == "deny":
            raise _Refused("denied", f"{spec.address} is not permitted here ({verdict.reason})", {"by": "rules"})
        if verdict.action == "ask":
            question = Question(
                id=f"{seen.id}.approval",
                kind="approval",
                text=approval_text(spec, self._setting.language),
                call=seen.id,
                address=spec.address,
                arguments=dict(arguments),
            )
            answer = await self._ask(question)
            approved = answer.verdict == "yes"
            said = f"asked ({verdict.reason}): {'approved' if approved else 'refused'} by {answer.by or 'a person'}"
            await self._decided(seen, Verdict("allow" if approved else "deny", said))
            if not approved:
                reason = f": {answer.text}" if answer.text else ""
                raise _Refused("denied", f"a person refused {spec.address}{reason}", {"by": "person"})

    async def _decided(self, seen: HookCall, verdict: Verdict) -> None:
        for hook in self._hooks:
            try:
                await hook.decided(seen, verdict)
            except Exception as error:
                _log.exception("hook %s failed at %s", hook.name, seen.id)
                raise _Refused("internal", f"the hook {hook.name} failed; the call was not made") from error

    async def _ask(self, question: Question) -> Answer:
        """One at a time: a person can answer one. Raises Waiting."""
        answer = self._journal.answered(question.id)
        if answer is not None:
            return answer
        async with self._asking:
            self._journal.asked(question)
            answer = await self._person.ask(question)
            if answer is None:
                raise Waiting(question)
            self._journal.answer(question.id, answer)
        return answer

    async def _recover(self, call: ToolCall, spec: ToolSpec) -> None:
        """Where an earlier process began this call and did not live to see its end."""
        begun = self._journal.begun(call.id)
        if not begun or spec.effect == "read" or spec.idempotency_argument is not None:
            return
        question = Question(
            # Each time it is begun it can break off again.
            id=f"{call.id}.outcome.{begun}",
            kind="outcome",
            text=outcome_text(spec, self._setting.language),
            call=call.id,
            address=spec.address,
        )
        answer = await self._ask(question)
        if answer.verdict == "yes":
            raise ToolFailure(
                "conflict",
                f"{spec.address} was done before the run broke off; its result is lost, and it is not done again",
                {"done": True},
            )

    # ------------------------------------------------------------------------------------------- execution

    async def _carry_out(
        self, call: ToolCall, tool: Tool, arguments: Mapping[str, Json], stopwatch: Stopwatch
    ) -> Envelope:
        clock = Clock()
        inner = InnerCalls(self._run, self._journal, call, tool, clock)

        async def ask(question: Question) -> Answer:
            with clock.paused():
                return await self._ask(question)

        setting = self._setting
        context = ToolContext(
            run=setting.run,
            phase=setting.phase,
            callers=setting.callers,
            call=call.id,
            idempotency_key=self._key(call),
            folder=setting.folder,
            state=setting.state,
            cancelled=setting.cancelled,
            progress=setting.progress,
            notify=setting.notify,
            ask=ask,
            inner=inner.call,
        )
        try:
            output = await execute(tool, arguments, context, clock)
            if inner.waiting is not None:
                # A handler that took no notice of it must not hide it.
                raise inner.waiting
            return shaped(output, tool.spec.output_limit, setting.folder, call.id, stopwatch.seconds)
        except (ToolFailure, Waiting, asyncio.CancelledError):
            if inner.waiting is not None:
                raise inner.waiting from None
            raise
        except Exception as error:
            if inner.waiting is not None:
                raise inner.waiting from None
            _log.exception("the handler of %s failed", tool.spec.address)
            unknown = tool.spec.effect == "write"
            raise ToolFailure(
                "internal", f"{tool.spec.address} failed on our side ({type(error).__name__})", unknown_outcome=unknown
            ) from error

    async def _after(self, seen: HookCall, envelope: Envelope) -> Envelope:
        for hook in reversed(self._hooks):
            try:
                envelope = await hook.after(seen, envelope)
            except Exception:  # noqa: BLE001 - a hook is anybody's code; whatever it raises releases no result
                _log.exception("hook %s failed after %s", hook.name, seen.id)
                unknown = envelope.error.unknown_outcome if envelope.error is not None else False
                error = CallError(
                    code="internal",
                    message=f"the hook {hook.name} failed; the result of the call is withheld",
                    unknown_outcome=unknown,
                )
                envelope = Envelope(content="", error=error, duration_s=envelope.duration_s)
        return envelope


async def _together(one: Callable[[int], object], places: Sequence[int]) -> None:
    async with asyncio.TaskGroup() as group:
        for place in places:
            group.create_task(one(place))  # type: ignore[arg-type]  # a coroutine function


def _unknown(name: str, known: Sequence[str]) -> _Refused:
    shown = name if len(name) <= 80 else f"{name[:79]}…"
    details: dict[str, Json] = {"tools": list[Json](known[:100])}
    close = process.extractOne(name[:200], known, score_cutoff=_ALIKE)
    if close is not None:
        details["did_you_mean"] = close[0]
    return _Refused("invalid_input", f"there is no tool {shown!r} here", details)


def _corrections(spec: ToolSpec, faults: Sequence[Fault]) -> str:
    first = faults[0]
    more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
    return f"the arguments do not fit {spec.name}: {first['path'] or 'the arguments'}: {first['problem']}{more}"
