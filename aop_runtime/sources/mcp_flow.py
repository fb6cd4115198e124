"""How much a server has said on a connection, and what ended the connection."""

from __future__ import annotations

from typing import Final

from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse, RequestId

from aop_runtime.messages import Message
from aop_runtime.sources.limits import Limits

_HEARD: Final = 2_000


class Flooded(Exception):
    """A server said more than it may. Caught where the connection ends; `Flow.fault` keeps why."""


class Flow:
    """`lost`: the connection is of no use any more. `fault`: why, where we ended it ourselves."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._said = self._messages = self._requests = 0
        self._waiting: set[RequestId] = set()
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

    def sent(self, message: JSONRPCMessage) -> None:
        """A request of ours goes out: what comes now is counted afresh. A reply to the server's own requests is none:
        it could ask without an end."""
        if isinstance(message, JSONRPCRequest):
            self._waiting.add(message.id)
            self._afresh()

    def received(self, message: JSONRPCMessage) -> None:
        """Only the answer to what was asked begins the count afresh. Raises Flooded."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id in self._waiting:
            self._waiting.discard(message.id)
            self._afresh()
            return
        self._messages += 1
        if self._messages > self._limits.messages:
            self.refuse(Message("connection.messages", most=self._limits.messages))
        self._requests += isinstance(message, JSONRPCRequest)
        if self._requests > self._limits.requests:
            self.refuse(Message("connection.requests", most=self._limits.requests))

    def _afresh(self) -> None:
        self._said = self._messages = self._requests = 0

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
