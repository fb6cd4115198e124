"""The plane: every call goes through it, in this order.

name → arguments against the schema → hooks before → gate → what an earlier process has begun → record → handler
→ hooks after → shape → record.

A wrong name, wrong arguments, a denial and a failure come back as envelopes, so that the model can correct itself. Only
`Waiting` (nobody answers now) and cancellation pass through.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from rapidfuzz import process

from aop_runtime.declarations import Json
from aop_runtime.faults import Fault
from aop_runtime.plane.arguments import UnreadableArguments, read_arguments
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import CallError, Envelope, Output, ToolFailure
from aop_runtime.plane.execution import Clock, Stopwatch, execute
from aop_runtime.plane.gate import Gate
from aop_runtime.plane.hook_chain import HookChain
from aop_runtime.plane.hooks import Hook, HookCall
from aop_runtime.plane.inner import InnerCalls
from aop_runtime.plane.journal import CallJournal
from aop_runtime.plane.permission import Rules
from aop_runtime.plane.questions import Answer, Person, Question, Stopped, Waiting
from aop_runtime.plane.refusal import Refused
from aop_runtime.plane.shaping import checked, enveloped, shaped
from aop_runtime.plane.spec import DEFAULT_OUTPUT_LIMIT, Tool, ToolCall, ToolSpec
from aop_runtime.plane.validation import ArgumentFault, ArgumentValidator, UnusableSchema

_log = logging.getLogger(__name__)

_KEYS: Final = uuid.UUID("6d2c1f0e-5a0b-4c8f-9d43-0a3f6d1c7b52")
_ALIKE: Final = 60


class SchemaFault(Fault):
    """A tool's schema cannot be used. The message names the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetting:
    """What belongs to a run and a phase of it; the fields are those of `ToolContext`. `language`: of questions.
    `admit`: asked before each call that a call makes itself; raises Stopped where no more may be made."""

    run: str
    phase: int
    folder: Path
    state: MutableMapping[str, object]
    cancelled: asyncio.Event
    progress: Callable[[str], None]
    notify: Callable[[str], None]
    callers: tuple[str, ...] = ()
    language: str = "ja"
    admit: Callable[[], None] = lambda: None


class Plane:
    """The tools of one phase. `rules`: the run's own and those of the runs that called it; the strictest verdict holds.

    Raises SchemaFault when a tool's schema is none.
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
        self._journal = journal
        self._hooks = HookChain(hooks)
        self._gate = Gate(rules, self._hooks, journal, person, setting.language)
        self._under_way: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._validators: dict[int, ArgumentValidator] = {}
        for tool in tools:
            try:
                self._validator(tool)
            except UnusableSchema as error:
                raise SchemaFault("source.schema", address=tool.spec.address, why=error.message) from error

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    # ----------------------------------------------------------------------------------------------- calls

    async def call(self, call: ToolCall) -> Envelope:
        """Raises Waiting."""
        # Of two calls with one id the second gets what the first came to.
        lock = self._under_way.setdefault(call.id, asyncio.Lock())
        async with lock:
            finished = self._journal.finished(call.id)
            if finished is not None:
                return finished
            return await self._run(call, self._tools.get(call.name), sorted(self._tools))

    async def call_all(self, calls: Sequence[ToolCall]) -> list[Envelope]:
        """Those of one answer of a model: reads at once, writes one after the other in their order, in between.

        Where one waits for a person, those beside it still end, and none behind it is begun. Raises Waiting.
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
            if tool is None or (tool.spec.effect == "read" and not tool.inner):
                reads.append(place)
                continue
            # What comes after a call that waits may build on it.
            for group in (reads, [place]):
                if not waiting:
                    await _together(one, group)
            reads = []
        if not waiting:
            await _together(one, reads)
        if waiting:
            raise waiting[0]
        return [results[place] for place in range(len(calls))]

    async def _run(self, call: ToolCall, tool: Tool | None, known: Sequence[str]) -> Envelope:
        """Raises Waiting."""
        stopwatch = Stopwatch()
        setting = self._setting
        seen = HookCall(setting.run, setting.phase, call.id, call.name, None if tool is None else tool.spec, {})
        limit = DEFAULT_OUTPUT_LIMIT
        try:
            if tool is None:
                raise _unknown(call.name, known)
            limit = tool.spec.output_limit
            arguments = self._read(call)
            seen = replace(seen, arguments=arguments)
            self._check(tool, arguments)
            arguments = await self._hooks.before(seen, partial(self._check, tool))
            seen = replace(seen, arguments=arguments)
            await self._gate.admit(seen, tool.spec, arguments)
            await self._gate.recover(call.id, tool.spec)
            self._journal.begin(call.id, tool.spec, arguments)
            stopwatch = Stopwatch()
            output = await self._carry_out(call, tool, self._keyed(call, tool.spec, arguments))
            envelope = enveloped(output, stopwatch.seconds)
        except Refused as refused:
            envelope = Envelope(content="", error=refused.error)
        except ToolFailure as failure:
            envelope = _failed(failure, stopwatch.seconds)
        envelope = await self._hooks.after(seen, envelope)
        envelope = shaped(envelope, limit, setting.folder, call.id)
        self._journal.finish(call.id, call.name, envelope)
        return envelope

    # ---------------------------------------------------------------------------------------------- before

    def _read(self, call: ToolCall) -> dict[str, Json]:
        try:
            return read_arguments(call.arguments)
        except UnreadableArguments as error:
            raise Refused("invalid_input", str(error)) from error

    def _check(self, tool: Tool, arguments: Mapping[str, Json]) -> None:
        try:
            faults = self._validator(tool).faults(arguments)
        except UnusableSchema as error:
            raise Refused("internal", f"the schema of {tool.spec.address} cannot be used: {error}") from error
        if faults:
            raise Refused("invalid_input", _corrections(tool.spec, faults), {"faults": list[Json](faults)})

    def _validator(self, tool: Tool) -> ArgumentValidator:
        key = id(tool)
        if key not in self._validators:
            self._validators[key] = ArgumentValidator(tool.spec.input_schema)
        return self._validators[key]

    def _keyed(self, call: ToolCall, spec: ToolSpec, arguments: Mapping[str, Json]) -> dict[str, Json]:
        if spec.idempotency_argument is None:
            return dict(arguments)
        return {**arguments, spec.idempotency_argument: self._key(call)}

    def _key(self, call: ToolCall) -> str:
        return str(uuid.uuid5(_KEYS, f"{self._setting.run}\0{call.id}"))

    # ------------------------------------------------------------------------------------------- execution

    async def _carry_out(self, call: ToolCall, tool: Tool, arguments: Mapping[str, Json]) -> Output:
        """Raises ToolFailure, Stopped."""
        clock = Clock()
        inner = InnerCalls(self._run, self._setting.admit, self._journal, call, tool, clock)

        async def ask(question: Question) -> Answer:
            with clock.paused():
                return await self._gate.ask(question)

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
            output = checked(await execute(tool, arguments, context, clock))
            if inner.stopped is None:
                return output
        except (Refused, ToolFailure, Stopped, asyncio.CancelledError):
            if inner.stopped is None or _is_cancelled():
                raise
        except Exception as error:
            _log.exception("the handler of %s failed", tool.spec.address)
            if inner.stopped is None:
                message = f"{tool.spec.address} failed on our side ({type(error).__name__})"
                raise ToolFailure("internal", message, unknown_outcome=tool.spec.effect == "write") from error
        # A handler that took no notice of it must not hide it.
        raise inner.stopped


def _is_cancelled() -> bool:
    """Whether it is this task that is to end, not one of a handler's own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _together(one: Callable[[int], Coroutine[object, object, None]], places: Sequence[int]) -> None:
    """The first fault of ours that one of them raises is raised by itself."""
    if len(places) == 1:
        await one(places[0])
        return
    try:
        async with asyncio.TaskGroup() as group:
            for place in places:
                group.create_task(one(place))
    except BaseExceptionGroup as faults:
        fault: BaseException = faults
        while isinstance(fault, BaseExceptionGroup):
            fault = fault.exceptions[0]
        raise fault from faults


def _failed(failure: ToolFailure, duration_s: float) -> Envelope:
    error = CallError(
        code=failure.code, message=failure.message, details=failure.details, unknown_outcome=failure.unknown_outcome
    )
    return Envelope(content="", error=error, duration_s=duration_s)


def _unknown(name: str, known: Sequence[str]) -> Refused:
    shown = name if len(name) <= 80 else f"{name[:79]}…"
    details: dict[str, Json] = {"tools": list[Json](known[:100])}
    close = process.extractOne(name[:200], known, score_cutoff=_ALIKE)
    if close is not None:
        details["did_you_mean"] = close[0]
    return Refused("invalid_input", f"there is no tool {shown!r} here", details)


def _corrections(spec: ToolSpec, faults: Sequence[ArgumentFault]) -> str:
    first = faults[0]
    more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
    return f"the arguments do not fit {spec.name}: {first['path'] or 'the arguments'}: {first['problem']}{more}"
