"""Tools that record what they do, and people who answer as they are told."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.dispatch import Plane, RunSetting
from aop_runtime.plane.envelope import Output
from aop_runtime.plane.hooks import Hook
from aop_runtime.plane.journal import CallJournal
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.permission import Rule, Rules
from aop_runtime.plane.questions import Answer, Person, Question
from aop_runtime.plane.spec import Tool, ToolSpec

TEXT: dict[str, Json] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

Act = Callable[[Mapping[str, Json], ToolContext], Awaitable[Output | str]]


class Ops:
    """Makes tools, and keeps what was really carried out, in order."""

    def __init__(self) -> None:
        self.done: list[tuple[str, dict[str, Json]]] = []

    def tool(self, name: str, effect: str = "read", act: Act | None = None, **spec: Any) -> Tool:  # noqa: ANN401 - of ToolSpec
        async def handler(arguments: Mapping[str, Json], context: ToolContext) -> Output:
            self.done.append((name, dict(arguments)))
            answer = "done" if act is None else await act(arguments, context)
            return answer if isinstance(answer, Output) else Output(content=answer)

        inner = spec.pop("inner", ())
        given: dict[str, Any] = {"name": name, "tool": "crm", "operation": name, "description": name}
        given |= {"input_schema": TEXT, "effect": effect, **spec}
        return Tool(ToolSpec(**given), handler, inner)


class Somebody:
    """Answers each question with the next of `answers`; None, or none left: not now."""

    def __init__(self, *answers: Answer | None) -> None:
        self.answers = list(answers)
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer | None:
        self.questions.append(question)
        return self.answers.pop(0) if self.answers else None


YES = Answer(verdict="yes", by="花子")
NO = Answer(verdict="no", text="高すぎる", by="花子")


def rules(*given: Mapping[str, Any]) -> Rules:
    return Rules(tuple(Rule.model_validate(rule) for rule in given))


def plane(
    tools: Sequence[Tool],
    *,
    person: Person | None = None,
    given: Sequence[Rules] = (),
    hooks: Sequence[Hook] = (),
    journal: CallJournal | None = None,
    folder: Path | None = None,
) -> Plane:
    setting = RunSetting(
        run="run-1",
        phase=0,
        folder=folder or Path(tempfile.gettempdir()),
        state={},
        cancelled=asyncio.Event(),
        progress=lambda text: None,
        notify=lambda text: None,
    )
    return Plane(
        tools,
        setting=setting,
        rules=given,
        hooks=hooks,
        journal=journal or MemoryJournal(),
        person=person or Somebody(),
    )
