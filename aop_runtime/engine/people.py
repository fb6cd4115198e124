"""Whoever answers a run's questions: files in its folder, a terminal, or what was said when it was resumed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from aop_runtime.faults import Fault
from aop_runtime.messages import Message, reason
from aop_runtime.plane.permission import matches
from aop_runtime.plane.questions import Answer, Person, Question
from aop_runtime.runs.folder import write_json
from aop_runtime.runs.regular import read_regular


class AnswerFault(Fault):
    """An answer's file is not an answer. The message names file and what to write."""


class _AnswerFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    verdict: Literal["yes", "no", "text"]
    text: Annotated[str, StringConstraints(max_length=100_000)] = ""
    by: Annotated[str, StringConstraints(max_length=200)] = ""


class Files:
    """`questions/ID.json` says what is asked; `answers/ID.json` is looked for as the answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def ask(self, question: Question) -> Answer | None:
        """Raises AnswerFault."""
        place = self._folder / "questions" / f"{question.id}.json"
        try:
            write_json(place, asdict(question))
        except OSError as error:
            raise AnswerFault("answer.not-asked", path=str(place), reason=reason(error)) from error
        path = self._folder / "answers" / f"{question.id}.json"
        try:
            return _checked(question, Answer(**_AnswerFile.model_validate_json(read_regular(path)).model_dump()), path)
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise AnswerFault("answer.none", path=str(path)) from error


def write_answer(folder: Path, question: Question, answer: Answer) -> None:
    """As `Files` reads it. Raises AnswerFault."""
    path = folder / "answers" / f"{question.id}.json"
    _checked(question, answer, path)
    write_json(path, asdict(answer))


def _checked(question: Question, answer: Answer, path: Path) -> Answer:
    wanted = Message("answer.text") if question.kind == "question" else Message("answer.yes-no")
    if (answer.verdict == "text") != (question.kind == "question"):
        raise AnswerFault("answer.other-kind", path=str(path), kind=question.kind, wanted=wanted)
    return answer


class Beforehand:
    """Approves calls whose address matches one of the patterns, unasked: said on the command line, for this process."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)

    async def ask(self, question: Question) -> Answer | None:
        if question.kind == "approval" and any(matches(pattern, question.address) for pattern in self._patterns):
            return Answer(verdict="yes", by="--allow")
        return None


_WORDS: Mapping[str, Mapping[str, str]] = {
    "ja": {"yes-no": "[y/n/あとで]", "text": "（空のままなら、あとで）", "by": "端末"},
    "en": {"yes-no": "[y/n/later]", "text": "(empty: later)", "by": "terminal"},
}
_YES = frozenset({"y", "yes", "はい", "ｙ"})
_NO = frozenset({"n", "no", "いいえ", "ｎ"})


class Terminal:
    """`read` shows a prompt and returns a line, "" at the end of the input; `show` prints a line."""

    def __init__(self, read: Callable[[str], Awaitable[str]], show: Callable[[str], None], language: str) -> None:
        self._read = read
        self._show = show
        self._words = _WORDS["en" if language == "en" else "ja"]

    async def ask(self, question: Question) -> Answer | None:
        self._show(f"? {question.text}")
        for name, value in question.arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            self._show(f"    {name}: {text}")
        for number, choice in enumerate(question.choices, 1):
            self._show(f"    {number}) {choice}")
        by = self._words["by"]
        if question.kind == "question":
            line = (await self._read(f"{self._words['text']} > ")).strip()
            if line.isdigit() and 1 <= int(line) <= len(question.choices):
                line = question.choices[int(line) - 1]
            return Answer(verdict="text", text=line, by=by) if line else None
        line = (await self._read(f"{self._words['yes-no']} > ")).strip().casefold()
        if line in _YES:
            return Answer(verdict="yes", by=by)
        return Answer(verdict="no", by=by) if line in _NO else None


class FirstOf:
    """The first who answers."""

    def __init__(self, people: Sequence[Person]) -> None:
        self._people = tuple(people)

    async def ask(self, question: Question) -> Answer | None:
        for person in self._people:
            answer = await person.ask(question)
            if answer is not None:
                return answer
        return None
