"""One connection to one MCP server: opened when it is first needed, again after a death, and closed without a trace.

Whatever the SDK enters must be left by the task that entered it; so each connection has a task of its own, and calls
come from others. What a server says of itself (instructions) is not even looked at, and it is offered nothing that it
could ask of us.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeVar, cast

import httpx2
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    PaginatedRequestParams,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from aop_runtime.declarations import Json
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
_Answer = TypeVar("_Answer")
_FAULT_STATUS: Final = 502
_FORGOTTEN: Final = (400, 404)
"""How servers answer a session that they do not know: the second by the protocol, the first by a widespread example.
Neither has looked at the request then."""


class Unreachable(Worded):
    """No connection, or none any more. `sent`: a request may have reached the server. `late`: it lives, but has not
    answered in time. The message holds no secret."""

    def __init__(self, why: Message, *, sent: bool, late: bool = False) -> None:
        super().__init__(why)
        self.sent = sent
        self.late = late


class Refused(Worded):
    """The server answered with an error of the protocol: a request that was not carried out."""

    def __init__(self, code: int, why: Message, exchange: Exchange) -> None:
        super().__init__(why)
        self.code = code
        self.exchange = exchange


class Nonsense(Worded):
    """The server answered what is no answer of the protocol."""


@dataclass(frozen=True, slots=True)
class LiveOperation:
    name: str
    description: str
    input_schema: dict[str, Json] = field(hash=False)
    output_schema: dict[str, Json] | None = field(hash=False)
    read_only: bool | None
    """`readOnlyHint`."""


class Connection:
    """`generation` counts what makes an earlier list stale: reconnections, and changes that the server announces."""

    def __init__(self, server: Server, limits: Limits, watchdog: Watchdog) -> None:
        self.server = server
        self.generation = 0
        self._limits = limits
        self._watchdog = watchdog
        self._link: _Link | None = None
        self._closed = False
        self._lock = asyncio.Lock()

    @property
    def alive(self) -> bool:
        return self._link is not None and not self._link.ended

    async def list(self) -> tuple[LiveOperation, ...]:
        """All operations, from all pages. Raises Unreachable, Refused, Nonsense."""
        link = await self.open()
        try:
            async with asyncio.timeout(self._limits.connect_s):
                return await self._ask(link, self._pages)
        except TimeoutError:
            why = Message("connection.listed-late", seconds=self._limits.connect_s)
            raise Unreachable(why, sent=False, late=True) from None

    async def call(
        self, operation: str, arguments: dict[str, Json], timeout_s: float, watch: Callable[[str], None]
    ) -> CallToolResult:
        """Over the connection that `list` was answered by, and no other. Raises Unreachable, Refused, Nonsense."""
        link = self._link
        if link is None or link.ended:
            raise Unreachable((link and link.why()) or Message("connection.ended"), sent=False)
        await link.ready()
        request = CallToolRequest(params=CallToolRequestParams(name=operation, arguments=arguments))

        async def report(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
            watch(one_line(self.server.secrets.hide(f"{share} {message or ''}"), 200))

        # Not `client.call_tool`: it judges results by the server's own schema, regular expressions included.
        return await self._ask(
            link,
            lambda client: client.session.send_request(
                request, CallToolResult, request_read_timeout_seconds=timeout_s, progress_callback=report
            ),
        )

    async def aclose(self) -> None:
        """For good: a call that is still under way opens nothing any more."""
        self._closed = True
        async with self._lock:
            link, self._link = self._link, None
            if link is not None:
                await link.aclose()

    async def open(self) -> _Link:
        """Raises Unreachable, with nothing sent."""
        async with self._lock:
            if self._closed:
                raise Unreachable(Message("connection.run-over"), sent=False)
            if self._link is not None and self._link.ended:
                await self._link.aclose()
                self._link = None
            if self._link is None:
                self.generation += 1
                self._link = _Link(self.server, self._limits, self._watchdog, self._stale)
            link = self._link
        await link.ready()
        return link

    def _stale(self) -> None:
        self.generation += 1

    async def _ask(self, link: _Link, ask: Callable[[Client], Awaitable[_Answer]]) -> _Answer:
        exchange = Exchange(sent=link.server.transport == "stdio")
        token = EXCHANGE.set(exchange)
        try:
            return await ask(link.client)
        except MCPError as error:
            if link.ended or exchange.fault is not None or _is_closed(error):
                raise Unreachable(self._why(link, exchange), sent=exchange.sent) from None
            if exchange.status in _FORGOTTEN and _of_session(error):
                why = Message("connection.forgotten", status=exchange.status)
                link.drop(why)
                raise Unreachable(why, sent=False) from None
            if error.code == REQUEST_TIMEOUT:
                raise Unreachable(Message("connection.late"), sent=True, late=True) from None
            if error.code == PARSE_ERROR:
                raise Nonsense(Message("connection.no-message")) from None
            said = Message("connection.said", said=self._shown(error.message))
            raise Refused(error.code, said, exchange) from None
        except ValidationError as error:
            raise Nonsense(Message("connection.no-protocol", said=_first(error))) from None
        finally:
            EXCHANGE.reset(token)

    def _why(self, link: _Link, exchange: Exchange) -> Message:
        return exchange.fault or link.why() or Message("connection.ended")

    def _shown(self, text: str) -> str:
        return one_line(self.server.secrets.hide(text[: 8 * self._limits.words]), self._limits.words)

    async def _pages(self, client: Client) -> tuple[LiveOperation, ...]:
        found: list[LiveOperation] = []
        seen: set[str] = set()
        listed = 0
        cursor: str | None = None
        for _ in range(self._limits.pages):
            page = await client.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            for tool in page.tools:
                # Page by page: many of them would fill the memory before the last one has come.
                size = len(json.dumps([tool.description, tool.input_schema, tool.output_schema]))
                listed += size
                if size > self._limits.operation_bytes or listed > self._limits.listed_bytes:
                    raise Nonsense(Message("list.too-large", name=one_line(tool.name, 80)))
                hints = tool.annotations
                found.append(
                    LiveOperation(
                        name=tool.name,
                        description=tool.description or "",
                        input_schema=cast("dict[str, Json]", tool.input_schema),
                        output_schema=cast("dict[str, Json] | None", tool.output_schema),
                        read_only=None if hints is None else hints.read_only_hint,
                    )
                )
            if len(found) > self._limits.operations:
                raise Nonsense(Message("list.operations", most=self._limits.operations))
            cursor = page.next_cursor
            if cursor is None:
                return tuple(found)
            if cursor in seen:
                raise Nonsense(Message("list.circle"))
            seen.add(cursor)
        raise Nonsense(Message("list.pages", most=self._limits.pages))


class _Link:
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


def _is_closed(error: MCPError) -> bool:
    """Servers use the code for faults of their own as well; these words are the SDK's."""
    return error.code == CONNECTION_CLOSED and error.message.startswith(("Connection closed", "SSE stream"))


def _of_session(error: MCPError) -> bool:
    """That says so, or says nothing in the protocol: the SDK puts these words in its place then."""
    return "session" in error.message.lower() or error.message == "Server returned an error response"


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
        return Message("connection.no-protocol", said=_first(error))
    if isinstance(error, FileNotFoundError):
        return Message("connection.no-program", program=str(error.filename))
    if isinstance(error, OSError) and error.strerror:
        return reason(error)
    return Message("connection.said", said=str(error) or type(error).__name__)


def _first(error: ValidationError) -> str:
    """Where an answer breaks the protocol, without the value."""
    details = error.errors(include_url=False, include_input=False, include_context=False)
    return one_line(f"{'.'.join(map(str, details[0]['loc']))}: {details[0]['msg']}", 200)
