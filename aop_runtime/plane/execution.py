"""Carrying a call out: time-out, and trying again only where nothing can happen twice."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.spec import Tool

MOST_READS: Final = 3
LONGEST_PAUSE_S: Final = 30.0
_AGAIN: Final = frozenset({"dependency_failure", "rate_limited"})


class Clock:
    """The time-out of a call. It stands still while the call waits for a person, or for calls that it makes."""

    def __init__(self) -> None:
        self._deadline: asyncio.Timeout | None = None
        self._pauses = 0
        self._left_s = 0.0

    def start(self, deadline: asyncio.Timeout | None) -> None:
        """None: it is over."""
        self._deadline = deadline

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Several may wait at once; it goes on when none does any more."""
        self._pauses += 1
        deadline = self._deadline
        now = asyncio.get_running_loop().time()
        if self._pauses == 1 and deadline is not None and (when := deadline.when()) is not None:
            self._left_s = when - now
            deadline.reschedule(None)
        try:
            yield
        finally:
            self._pauses -= 1
            if self._pauses == 0 and deadline is not None and deadline is self._deadline and not deadline.expired():
                deadline.reschedule(asyncio.get_running_loop().time() + self._left_s)


async def execute(tool: Tool, arguments: Mapping[str, Json], context: ToolContext, clock: Clock) -> Output:
    """Raises ToolFailure, and what a handler should not raise.

    A read that failed outside is tried again, a few times, unless the other side asks for a longer pause than we make.
    A write is tried again once, and only with an idempotency key: the server then finds the first try by it. A write
    without one that broke off has an unknown outcome.
    """
    spec = tool.spec
    keyed = spec.effect == "write" and spec.idempotency_argument is not None
    most = MOST_READS if spec.effect == "read" and not tool.inner else 2 if keyed else 1
    unknown = False
    for attempt in range(1, most + 1):
        try:
            return await _once(tool, arguments, context, clock)
        except ToolFailure as failure:
            # What the second try says of itself does not tell what became of the first.
            unknown = failure.unknown_outcome = unknown or failure.unknown_outcome
            pause_s = _pause(failure, attempt)
            again = failure.code in _AGAIN and (spec.effect == "read" or keyed) and pause_s <= LONGEST_PAUSE_S
            if not again or attempt == most:
                raise
            await asyncio.sleep(pause_s)
    raise AssertionError("unreachable: the last attempt returns or raises")


async def _once(tool: Tool, arguments: Mapping[str, Json], context: ToolContext, clock: Clock) -> Output:
    spec = tool.spec
    try:
        async with asyncio.timeout(spec.timeout_s) as deadline:
            clock.start(deadline)
            return await tool.handler(arguments, context)
    except TimeoutError as error:
        if not deadline.expired():
            raise
        unknown = spec.effect == "write"
        said = "; whether it was done is not known" if unknown else ""
        raise ToolFailure(
            "dependency_failure",
            f"{spec.address} did not answer within {spec.timeout_s:g} s{said}",
            {"timeout_s": spec.timeout_s},
            unknown_outcome=unknown,
        ) from error
    finally:
        clock.start(None)


def _pause(failure: ToolFailure, attempt: int) -> float:
    """Seconds: what the other side asked for, or longer each time."""
    asked = failure.details.get("retry_after_s")
    if isinstance(asked, int | float) and not isinstance(asked, bool) and math.isfinite(asked):
        return max(float(asked), 0.0)
    return 0.2 * 4.0 ** (attempt - 1)


class Stopwatch:
    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start
