"""What the plane must know of the past of a run, and what it must leave behind, so that no write happens twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.questions import Answer, Question
from aop_runtime.plane.spec import ToolSpec


class CallJournal(Protocol):
    """Every method that records returns only when what it records would survive the machine's power cut."""

    def finished(self, call: str) -> Envelope | None:
        """How this call ended, if it did."""
        ...

    def begun(self, call: str) -> int:
        """How often its handler was started; without an end, in processes that did not live to record one."""
        ...

    def inner_writes(self, call: str) -> Collection[str]:
        """The ids of the writes inside this call whose handlers were started."""
        ...

    def unknown_outcome(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> bool:
        """Whether an equal call ended in this run without anybody knowing if it was done."""
        ...

    def begin(self, call: str, spec: ToolSpec, arguments: Mapping[str, Json]) -> None:
        """The handler is about to start with these arguments."""
        ...

    def finish(self, call: str, name: str, envelope: Envelope) -> None:
        """`name`: what the model called, which may be no tool at all."""
        ...

    def answered(self, question: str) -> Answer | None:
        """What a person answered to the question with this id."""
        ...

    def asked(self, question: Question) -> None: ...

    def answer(self, question: str, answer: Answer) -> None: ...
