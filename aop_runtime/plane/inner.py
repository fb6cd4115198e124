"""The calls that one handler makes, gated and recorded like any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

from aop_runtime.declarations import Json
from aop_runtime.plane.arguments import canonical
from aop_runtime.plane.envelope import CallError, Envelope
from aop_runtime.plane.execution import Clock
from aop_runtime.plane.journal import CallJournal
from aop_runtime.plane.questions import Stopped
from aop_runtime.plane.spec import Tool, ToolCall

Run: TypeAlias = Callable[[ToolCall, Tool | None, Sequence[str]], Awaitable[Envelope]]


class InnerCalls:
    """Their ids tell what is called with what, and how often before: a handler that is started again after a crash gets
    the recorded ends of the same calls, in whatever order it makes them.

    When it goes another way than before, and a write of the earlier way is not asked for again, no further write is
    made: it could be the same one in other words. `admit` raises Stopped where no more calls may be made.
    """

    def __init__(
        self, run: Run, admit: Callable[[], None], journal: CallJournal, call: ToolCall, tool: Tool, clock: Clock
    ) -> None:
        self._run = run
        self._admit = admit
        self._journal = journal
        self._call = call
        self._tools = {(inner.spec.tool, inner.spec.operation): inner for inner in tool.inner}
        self._clock = clock
        self._counts: dict[str, int] = {}
        self._missing = set(journal.inner_writes(call.id))
        self.stopped: Stopped | None = None

    async def call(self, tool: str, operation: str, arguments: Mapping[str, Json]) -> Envelope:
        """`ToolContext.inner`. Raises Stopped."""
        found = self._tools.get((tool, operation))
        call = ToolCall(self._identity(tool, operation, arguments), f"{tool}.{operation}", arguments)
        self._missing.discard(call.id)
        finished = self._journal.finished(call.id)
        if finished is not None:
            return finished
        if self._missing and found is not None and found.spec.effect == "write":
            return _other_way(len(self._missing))
        try:
            self._admit()
            # It has a time-out of its own.
            with self._clock.paused():
                return await self._run(call, found, sorted(f"{one}.{other}" for one, other in self._tools))
        except Stopped as stopped:
            self.stopped = stopped
            raise

    def _identity(self, tool: str, operation: str, arguments: Mapping[str, Json]) -> str:
        try:
            key = f"{tool}.{operation} {canonical(arguments)}"
        except (TypeError, ValueError, RecursionError):
            # No arguments that a tool will take; the plane says why.
            key = f"{tool}.{operation}"
        digest = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        count = self._counts[digest] = self._counts.get(digest, 0) + 1
        return f"{self._call.id}.{digest}.{count}"


def _other_way(made: int) -> Envelope:
    message = (
        "started again after the run broke off, this went another way than before: writes that were made then are not "
        "asked for again, so no further one is made"
    )
    return Envelope(content="", error=CallError(code="conflict", message=message, details={"made_before": made}))
