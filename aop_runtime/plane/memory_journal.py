"""The journal of a run that is not kept: what it knows goes with the process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from aop_runtime.declarations import Json
from aop_runtime.plane.arguments import canonical
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.questions import Answer, Question
from aop_runtime.plane.spec import ToolSpec


class MemoryJournal:
    """A `CallJournal`."""

    def __init__(self) -> None:
        self._begun: dict[str, tuple[ToolSpec, str]] = {}
        self._counts: Counter[str] = Counter()
        self._finished: dict[str, Envelope] = {}
        self._answers: dict[str, Answer] = {}
        self.questions: list[Question] = []

    def finished(self, call: str) -> Envelope | None:
        return self._finished.get(call)

    def begun(self, call: str) -> int:
        return self._counts[call]

    def inner_writes(self, call: str) -> Collection[str]:
        return [
            other for other, (spec, _) in self._begun.items() if other.startswith(f"{call}.") and spec.effect == "write"
        ]

    def unknown_outcome(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> bool:
        key = canonical(arguments)
        return any(
            begun.address == spec.address
            and made == key
            and envelope.error is not None
            and envelope.error.unknown_outcome
            for call, (begun, made) in self._begun.items()
            if (envelope := self._finished.get(call)) is not None
        )

    def begin(self, call: str, spec: ToolSpec, arguments: Mapping[str, Json]) -> None:
        self._begun[call] = (spec, canonical(arguments))
        self._counts[call] += 1

    def finish(self, call: str, name: str, envelope: Envelope) -> None:
        self._finished[call] = envelope

    def answered(self, question: str) -> Answer | None:
        return self._answers.get(question)

    def asked(self, question: Question) -> None:
        self.questions.append(question)

    def answer(self, question: str, answer: Answer) -> None:
        self._answers[question] = answer
