"""What a run may use, together with all runs that it calls and over all processes that work on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager

from aop_runtime.engine.people import AnswerFault
from aop_runtime.faults import Fault
from aop_runtime.plane.questions import Answer, Person, Question, Stopped, Waiting
from aop_runtime.runs.events import CallFinished, Event, ModelReplied
from aop_runtime.runs.folder import Limits
from aop_runtime.runs.record import Record


class LimitReached(Fault, Stopped):
    """The run has used up what it may. The message says which limit, and how to go on."""


class Budget:
    """`records`: of the run and of those that it has called, as they stand. What happens from now on is told by `take`.

    The clock goes while the run is worked on. Where a person is asked it stands still.
    """

    def __init__(self, limits: Limits, records: Iterable[Record] = ()) -> None:
        self.limits = limits
        self._requests = self._calls = self._tokens = self._open = 0
        self._before_s = 0.0
        for record in records:
            for event in record.events:
                self.take(event)
                self._before_s = max(self._before_s, event.active_s)
        self._since: float | None = time.monotonic()
        self._pauses = 0
        self._deadline: asyncio.Timeout | None = None

    @property
    def seconds(self) -> float:
        return self._before_s + (0.0 if self._since is None else time.monotonic() - self._since)

    def take(self, event: Event) -> None:
        match event:
            case ModelReplied():
                self._requests += 1
                self._tokens += event.tokens
            case CallFinished():
                self._calls += 1
                # Calls inside of others have their ids with a dot behind it.
                self._open -= self._open > 0 and "." not in event.call
            case _:
                pass

    def check_request(self) -> None:
        """Whether the model may be asked once more. Raises LimitReached."""
        self._check("requests", self._requests + 1, self.limits.requests)
        self._check("tokens", self._tokens + 1, self.limits.tokens)
        self._check("seconds", self.seconds, self.limits.seconds)

    def check_calls(self, count: int) -> None:
        """Whether `count` more calls may be made, those of one answer of the model. Raises LimitReached."""
        self._check("tool_calls", self._calls + count, self.limits.tool_calls)
        self._open = count

    def check_inner_call(self) -> None:
        """Whether one of them may make one more itself. Raises LimitReached."""
        self._check("tool_calls", self._calls + self._open + 1, self.limits.tool_calls)

    def _check(self, name: str, wanted: float, most: float) -> None:
        if wanted > most:
            raise LimitReached("limit.reached", most=most, name=name)

    @asynccontextmanager
    async def timed(self) -> AsyncIterator[None]:
        """Ends what is done in it when the time is up. Raises LimitReached."""
        try:
            async with asyncio.timeout(max(0.0, self.limits.seconds - self.seconds)) as self._deadline:
                yield
        except TimeoutError:
            if self._deadline is None or not self._deadline.expired():
                raise
            self._check("seconds", max(self.seconds, self.limits.seconds + 1), self.limits.seconds)
        finally:
            self._deadline = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Several may pause it at once; it goes on when none does any more."""
        self._pauses += 1
        if self._pauses == 1:
            self._before_s, self._since = self.seconds, None
            self._reschedule(None)
        try:
            yield
        finally:
            self._pauses -= 1
            if self._pauses == 0:
                self._since = time.monotonic()
                self._reschedule(asyncio.get_running_loop().time() + self.limits.seconds - self.seconds)

    def _reschedule(self, when: float | None) -> None:
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(when)


class Untimed:
    """A person whose time is not the run's. `fault`: why an answer could not be read.

    The run stops where an answer is none, as it does where there is none: a tool that asks must not take it for a
    failure of its own.
    """

    def __init__(self, person: Person, budget: Budget) -> None:
        self._person = person
        self._budget = budget
        self.fault: AnswerFault | None = None

    async def ask(self, question: Question) -> Answer | None:
        """Raises Waiting."""
        with self._budget.paused():
            try:
                return await self._person.ask(question)
            except AnswerFault as fault:
                self.fault = fault
                raise Waiting(question) from fault
