"""What the record of a run says: `events.jsonl`, read and never changed. Everything about a run follows from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from aop_runtime.declarations import Json
from aop_runtime.faults import Fault
from aop_runtime.messages import reason
from aop_runtime.plane.arguments import canonical
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.questions import Answer
from aop_runtime.runs.envelopes import restored
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
    RunResumed,
    RunStarted,
    RunWaiting,
    read_event,
)
from aop_runtime.runs.folder import RECORD, Plan
from aop_runtime.runs.regular import read_regular
from aop_runtime.runs.vault import hidden

FILE: Final = RECORD


class JournalFault(Fault):
    """The record is unreadable in the middle, or cannot be written. The message names file and line."""


class Record:
    """All that a run's events say, in the order in which they are taken."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.lines = 0
        """How many events there are, with those of a later version, which are passed over."""
        self._finished: dict[str, Envelope] = {}
        self._begun: Counter[str] = Counter()
        self._writes: dict[str, tuple[str, str]] = {}
        self._answers: dict[str, Answer] = {}
        self._asked: dict[str, QuestionAsked] = {}
        self._replies: dict[tuple[int, int], ModelReplied] = {}
        self._phases: dict[int, str] = {}

    def reply(self, phase: int, turn: int) -> ModelReplied | None:
        """What the model answered there."""
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

    def changed(self, plan: Plan) -> Plan:
        """What the run goes by: what it was started with, and what was changed when it was resumed."""
        for event in self.events:
            if isinstance(event, RunResumed):
                plan = event.changes.over(plan)
        return plan

    @property
    def pending(self) -> list[QuestionAsked]:
        """What nobody has answered, in the order in which it was asked."""
        return [asked for identity, asked in self._asked.items() if identity not in self._answers]

    def finished(self, call: str) -> Envelope | None:
        return self._finished.get(call)

    def begun(self, call: str) -> int:
        return self._begun[call]

    def inner_writes(self, call: str) -> Collection[str]:
        return [other for other in self._writes if other.startswith(f"{call}.")]

    def answered(self, question: str) -> Answer | None:
        return self._answers.get(question)

    def take(self, event: Event) -> None:
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
                self._asked[event.id] = event
            case QuestionAnswered():
                self._answers[event.id] = Answer(verdict=event.verdict, text=event.text, by=event.by)
            case ModelReplied():
                self._replies[event.phase, event.turn] = event
            case PhaseFinished():
                self._phases[event.phase] = event.result
            case _:
                pass

    def _read(self, event: dict[str, Json]) -> dict[str, Json]:
        """An event of the file as it is taken: without the secrets that a run is not to show."""
        return hidden(event)

    def read(self, data: bytes, name: str) -> int:
        """Take the events of a file's bytes; the length of what is whole. Raises JournalFault.

        A last line that has no end is not counted: whoever wrote it did not live to rely on it.
        """
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                value = json.loads(line.decode("utf-8", "surrogatepass"))
                event = read_event(self._read(value) if isinstance(value, dict) else value)
            except (ValueError, ValidationError, RecursionError) as error:
                raise JournalFault("journal.no-event", path=name, line=number) from error
            self.lines += 1
            if not isinstance(value, dict) or value.get("sequence") != self.lines:
                raise JournalFault("journal.gap", path=name, line=number)
            if event is not None:
                self.take(event)
        return len(whole)


def read_record(folder: Path) -> Record:
    """Of the run in `folder`, while somebody may be at work on it: the file is only read. Raises JournalFault, also
    where there is none: it comes with the folder, and a run that has lost it must not begin anew in silence."""
    record, path = Record(), folder / FILE
    try:
        data = read_regular(path)
    except OSError as error:
        raise JournalFault("journal.unreadable", path=str(path), reason=reason(error)) from error
    record.read(data, str(path))
    return record
