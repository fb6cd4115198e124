"""What a run asks a person, and what it gets back. Without an answer the run stops, and goes on when there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from aop_runtime.declarations import Json

QuestionKind = Literal["approval", "question", "outcome"]
"""`approval`: may this call be made? `question`: one that the procedure asks. `outcome`: was this write done, which was
under way when the run broke off?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`id`: the same one whenever the run comes to this place again. `arguments`: of the call, redacted."""

    id: str
    kind: QuestionKind
    text: str
    call: str
    address: str
    arguments: Mapping[str, Json] = field(default_factory=dict, hash=False)
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`yes` and `no` answer an approval or an outcome, `text` a question. `text` beside `no` is its reason."""

    verdict: Literal["yes", "no", "text"]
    text: str = ""
    by: str = ""


class Person(Protocol):
    """Whoever can be asked now: at a terminal, by a page, by a file."""

    async def ask(self, question: Question) -> Answer | None:
        """None: nobody answers now."""
        ...


class Stopped(Exception):
    """Raised through a call, and through the handler that makes it: the run stops there and can be resumed."""


class Waiting(Stopped):
    """A question has no answer yet."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.text)
        self.question = question
