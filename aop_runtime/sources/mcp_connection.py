"""One connection to one MCP server: opened when it is first needed, again after a death, and what is asked over it.

What a server says of itself (instructions) is not even looked at.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar, cast

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    PaginatedRequestParams,
)
from pydantic import ValidationError

from aop_runtime.declarations import Json
from aop_runtime.messages import Message, Worded
from aop_runtime.sources.http_guard import EXCHANGE, Exchange
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.mcp_link import Link, Unreachable, first_fault
from aop_runtime.sources.mcp_watchdog import Watchdog
from aop_runtime.sources.servers import Server
from aop_runtime.sources.words import one_line

_Answer = TypeVar("_Answer")
_FORGOTTEN: Final = (400, 404)
"""How servers answer a session that they do not know: the second by the protocol, the first by a widespread example.
Neither has looked at the request then."""


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
        self._link: Link | None = None
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

    async def open(self) -> Link:
        """Raises Unreachable, with nothing sent."""
        async with self._lock:
            if self._closed:
                raise Unreachable(Message("connection.run-over"), sent=False)
            if self._link is not None and self._link.ended:
                await self._link.aclose()
                self._link = None
            if self._link is None:
                self.generation += 1
                self._link = Link(self.server, self._limits, self._watchdog, self._stale)
            link = self._link
        await link.ready()
        return link

    def _stale(self) -> None:
        self.generation += 1

    async def _ask(self, link: Link, ask: Callable[[Client], Awaitable[_Answer]]) -> _Answer:
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
            raise Nonsense(Message("connection.no-protocol", said=first_fault(error))) from None
        finally:
            EXCHANGE.reset(token)

    def _why(self, link: Link, exchange: Exchange) -> Message:
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


def _is_closed(error: MCPError) -> bool:
    """Servers use the code for faults of their own as well; these words are the SDK's."""
    return error.code == CONNECTION_CLOSED and error.message.startswith(("Connection closed", "SSE stream"))


def _of_session(error: MCPError) -> bool:
    """That says so, or says nothing in the protocol: the SDK puts these words in its place then."""
    return "session" in error.message.lower() or error.message == "Server returned an error response"
