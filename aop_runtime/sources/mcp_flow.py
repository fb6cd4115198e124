"""How much a server has said on a connection, and what ended the connection."""

from __future__ import annotations

from typing import Final

from aop_runtime.messages import Message
from aop_runtime.sources.limits import Limits

_HEARD: Final = 2_000


class Flooded(Exception):
    """A server said more than it may. Caught where the connection ends; `Flow.fault` keeps why."""


class Flow:
    """`lost`: the connection is of no use any more. `fault`: why, where we ended it ourselves."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._said = 0
        self._heard = b""
        self.lost = False
        self.fault: Message | None = None

    def take(self, size: int) -> None:
        """Raises Flooded."""
        self._said += size
        if self._said > self._limits.flood_bytes:
            self.refuse(Message("connection.flood", most=self._limits.flood_bytes))

    def message(self, size: int) -> None:
        """Raises Flooded."""
        if size > self._limits.message_bytes:
            self.refuse(Message("connection.message-too-large", most=self._limits.message_bytes))

    def answered(self) -> None:
        """A request went out, or its answer came: what comes now is counted afresh."""
        self._said = 0

    def refuse(self, why: Message) -> None:
        """Raises Flooded."""
        self.fault = self.fault or why
        self.lost = True
        raise Flooded

    def overhear(self, chunk: bytes) -> None:
        """What it says on standard error: the end of it may tell why it ended. The rest is dropped."""
        self._heard = (self._heard + chunk)[-_HEARD:]

    @property
    def last_words(self) -> str:
        lines = self._heard.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""
