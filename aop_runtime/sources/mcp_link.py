"""A connection to an MCP server while it lives, and what ended it; closed without a trace.

Whatever the SDK enters must be left by the task that entered it; so each connection has a task of its own, and calls
come from others. A server is offered nothing that it could ask of us.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import httpx2
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from aop_runtime.messages import Message, Worded, reason
from aop_runtime.sources.http_guard import EXCHANGE, Exchange, Guard
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.mcp_counted import counted
from aop_runtime.sources.mcp_flow import Flow
from aop_runtime.sources.mcp_logging import quiet
from aop_runtime.sources.mcp_stdio import stdio_transport
from aop_runtime.sources.mcp_watchdog import Watchdog
from aop_runtime.sources.servers import Server
from aop_runtime.sources.words import one_line

_CLOSING_S: Final = 10.0
_FAULT_STATUS: Final = 502


class Unreachable(Worded):
    """No connection, or none any more. `sent`: a request may have reached the server. `late`: it lives, but has not
    answered in time. The message holds no secret."""

    def __init__(self, why: Message, *, sent: bool, late: bool = False) -> None:
        super().__init__(why)
        self.sent = sent
        self.late = late


class Link:
    """A connection while it lives, in a task that enters and leaves the SDK's client."""

    def __init__(self, server: Server, limits: Limits, watchdog: Watchdog, changed: Callable[[], None]) -> None:
        self.server = server
        self._limits = limits
        self._watchdog = watchdog
        self._changed = changed
        self._flow = Flow(limits)
        self._exchange = Exchange()
        self._opened = asyncio.Event()
        self._stop = asyncio.Event()
        self._client: Client | None = None
        self._fault: Message | None = None
        self._task = asyncio.create_task(self._run(), name=f"mcp {server.name}")

    @property
    def client(self) -> Client:
        if self._client is None:
            raise AssertionError("asked before it was opened")
        return self._client

    @property
    def ended(self) -> bool:
        return self._flow.lost or self._task.done()

    def why(self) -> Message | None:
        """What ended it, as far as is known."""
        known = self._flow.fault or self._fault
        if known is None and self._flow.last_words:
            known = Message("connection.last-words", said=self._flow.last_words)
        if known is None:
            return None
        return known.mapped(lambda text: one_line(self.server.secrets.hide(text), self._limits.words))

    def drop(self, why: Message) -> None:
        """It is of no use any more."""
        self._fault = self._fault or why
        self._flow.lost = True

    async def ready(self) -> None:
        """Raises Unreachable."""
        await self._opened.wait()
        if self._client is None:
            raise Unreachable(self.why() or Message("connection.ended-at-once"), sent=False)

    async def aclose(self) -> None:
        self._stop.set()
        done, _ = await asyncio.wait({self._task}, timeout=_CLOSING_S)
        if not done:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CLOSING_S)

    async def _run(self) -> None:
        try:
            with quiet():
                async with self._entered() as client:
                    self._client = client
                    self._opened.set()
                    listening = asyncio.create_task(self._listen(client))
                    try:
                        await self._stop.wait()
                    finally:
                        listening.cancel()
                        await asyncio.wait({listening})
        except Exception as error:  # noqa: BLE001 - the SDK's task groups wrap whatever happened; all of it is the server's
            self._fault = self._exchange.fault or _status(self._exchange) or _words(next(_leaves(error)))
        finally:
            self._flow.lost = True
            self._opened.set()

    @asynccontextmanager
    async def _entered(self) -> AsyncIterator[Client]:
        """Raises TimeoutError where the server is not up in time."""
        limits, server = self._limits, self.server
        timeout = asyncio.timeout(limits.connect_s)
        async with timeout:
            if server.transport == "stdio":
                pipes = stdio_transport(server, self._flow, self._watchdog)
                client = Client(counted(pipes, self._flow), cache=None, message_handler=self._heard)
                async with client:
                    timeout.reschedule(None)
                    yield client
                return
            guard = Guard(server.url, limits.message_bytes, limits.flood_bytes, status_for_faults=_FAULT_STATUS)
            async with httpx2.AsyncClient(
                transport=guard, headers=dict(server.headers), timeout=httpx2.Timeout(None), trust_env=False
            ) as http:
                transport = streamable_http_client(
                    server.url, http_client=http, max_sse_event_size=limits.message_bytes
                )
                token = EXCHANGE.set(self._exchange)
                try:
                    over_http = Client(counted(transport, self._flow), cache=None, message_handler=self._heard)
                    async with over_http as client:
                        timeout.reschedule(None)
                        yield client
                finally:
                    EXCHANGE.reset(token)

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed()

    async def _listen(self, client: Client) -> None:
        """Of newer servers changes must be asked for. Those that refuse are asked for their list now and then."""
        tools = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
            return
        with suppress(MCPError, SubscriptionLost, TimeoutError):
            async with client.listen(tools_list_changed=True) as subscription:
                async for _ in subscription:
                    self._changed()
        self._changed()


def _status(exchange: Exchange) -> Message | None:
    if exchange.status is None or exchange.status < 400:
        return None
    return Message("connection.status", status=exchange.status)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _words(error: BaseException) -> Message:
    if isinstance(error, TimeoutError):
        return Message("connection.slow-start")
    if isinstance(error, ValidationError):
        return Message("connection.no-protocol", said=first_fault(error))
    if isinstance(error, FileNotFoundError):
        return Message("connection.no-program", program=str(error.filename))
    if isinstance(error, OSError) and error.strerror:
        return reason(error)
    return Message("connection.said", said=str(error) or type(error).__name__)


def first_fault(error: ValidationError) -> str:
    """Where an answer breaks the protocol, without the value."""
    details = error.errors(include_url=False, include_input=False, include_context=False)
    return one_line(f"{'.'.join(map(str, details[0]['loc']))}: {details[0]['msg']}", 200)
