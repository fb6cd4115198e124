"""The journal of a run: `events.jsonl`, appended to and never changed. Everything else about a run follows from it."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Final, cast

from pydantic import JsonValue, ValidationError

from aop_runtime.declarations import Json
from aop_runtime.faults import Fault
from aop_runtime.plane.arguments import canonical
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.questions import Answer, Question
from aop_runtime.plane.spec import ToolSpec
from aop_runtime.runs.envelopes import recorded, restored
from aop_runtime.runs.events import (
    CallBegun,
    CallFinished,
    Event,
    ModelReplied,
    PhaseFinished,
    QuestionAnswered,
    QuestionAsked,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunStarted,
    RunWaiting,
    read_event,
)

FILE: Final = "events.jsonl"


class JournalFault(Fault):
    """The journal is unreadable in the middle, or cannot be written. The message names file and line."""


class Journal:
    """A `CallJournal` in the file `events.jsonl` of `folder`. One process at a time may hold it (`runs.folder`).

    A last line that a crash has cut off is dropped: what it was to record counts as not having happened, which is why a
    write's beginning is on the disk before the write. `watch` gets every event once it is written. Raises JournalFault.
    """

    def __init__(
        self, folder: Path, watch: Callable[[Event], None] = lambda event: None, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = folder / FILE
        self._watch = watch
        self._clock = clock
        self.events: list[Event] = []
        self._finished: dict[str, Envelope] = {}
        self._begun: Counter[str] = Counter()
        self._writes: dict[str, tuple[str, str]] = {}
        self._answers: dict[str, Answer] = {}
        self._asked: set[str] = set()
        self._replies: dict[tuple[int, int], ModelReplied] = {}
        self._phases: dict[int, str] = {}
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            self._read()
        except BaseException:
            os.close(self._descriptor)
            raise
        self._before_s = self.events[-1].active_s if self.events else 0.0
        self._since = time.monotonic()

    # ------------------------------------------------------------------------------------------ the engine's

    def reply(self, phase: int, turn: int) -> ModelReplied | None:
        """What the model answered there before."""
        return self._replies.get((phase, turn))

    def phase_result(self, phase: int) -> str | None:
        return self._phases.get(phase)

    @property
    def started(self) -> RunStarted | None:
        return next((event for event in self.events if isinstance(event, RunStarted)), None)

    @property
    def end(self) -> RunFinished | RunFailed | RunWaiting | RunCancelled | None:
        """What the run's last process left it at; None: it broke off, or is still at work."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, RunFinished | RunFailed | RunWaiting | RunCancelled) else None

    @property
    def active_s(self) -> float:
        return self._before_s + time.monotonic() - self._since

    def usage(self) -> tuple[int, int, int]:
        """Requests to the model, tool calls, tokens: of the whole run, over all processes."""
        replies = self._replies.values()
        return len(replies), len(self._begun), sum(reply.tokens for reply in replies)

    def record(self, event: Event, *, durable: bool = False) -> None:
        """Append an event. `durable`: it would survive a power cut when this returns. Raises JournalFault."""
        stamped = event.model_copy(
            update={
                "sequence": len(self.events) + 1,
                "at": round(self._clock(), 3),
                "active_s": round(self.active_s, 3),
            }
        )
        line = json.dumps(stamped.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":"))
        data = f"{line}\n".encode("utf-8", "surrogatepass")
        try:
            written = 0
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            raise JournalFault(f"{self._path}: {error.strerror}; the run stops here and can be resumed") from error
        self._take(stamped)
        self._watch(stamped)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    # ------------------------------------------------------------------------------------------- the plane's

    def finished(self, call: str) -> Envelope | None:
        return self._finished.get(call)

    def begun(self, call: str) -> int:
        return self._begun[call]

    def inner_writes(self, call: str) -> Collection[str]:
        return [other for other in self._writes if other.startswith(f"{call}.")]

    def unknown_outcome(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> bool:
        wanted = (spec.address, canonical(arguments))
        return any(
            envelope.error is not None and envelope.error.unknown_outcome
            for call, made in self._writes.items()
            if made == wanted and (envelope := self._finished.get(call)) is not None
        )

    def begin(self, call: str, spec: ToolSpec, arguments: Mapping[str, Json]) -> None:
        event = CallBegun(
            call=call,
            tool=spec.tool,
            operation=spec.operation,
            effect=spec.effect,
            arguments=cast("JsonValue", dict(arguments)),
        )
        self.record(event, durable=spec.effect == "write")

    def finish(self, call: str, name: str, envelope: Envelope) -> None:
        event = CallFinished(call=call, name=name[:200], envelope=recorded(envelope))
        self.record(event, durable=call in self._writes)

    def answered(self, question: str) -> Answer | None:
        return self._answers.get(question)

    def asked(self, question: Question) -> None:
        if question.id not in self._asked:
            self.record(QuestionAsked.model_validate(asdict(question)))

    def answer(self, question: str, answer: Answer) -> None:
        self.record(QuestionAnswered(id=question, **asdict(answer)), durable=True)

    # ----------------------------------------------------------------------------------------------- reading

    def _read(self) -> None:
        size = os.fstat(self._descriptor).st_size
        data = os.pread(self._descriptor, size, 0) if size else b""
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.ftruncate(self._descriptor, len(whole))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                event = read_event(json.loads(line.decode("utf-8", "surrogatepass")))
            except (ValueError, ValidationError, RecursionError) as error:
                raise JournalFault(f"{self._path}:{number}: not an event of a run; restore the file") from error
            if event is not None:
                self._take(event)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        match event:
            case CallBegun():
                self._begun[event.call] += 1
                if event.effect == "write":
                    arguments = event.arguments if isinstance(event.arguments, dict) else {}
                    self._writes[event.call] = (f"{event.tool}.{event.operation}", canonical(arguments))
            case CallFinished():
                self._finished[event.call] = restored(event.envelope)
            case QuestionAsked():
                self._asked.add(event.id)
            case QuestionAnswered():
                self._answers[event.id] = Answer(verdict=event.verdict, text=event.text, by=event.by)
            case ModelReplied():
                self._replies[event.phase, event.turn] = event
            case PhaseFinished():
                self._phases[event.phase] = event.result
            case _:
                pass
