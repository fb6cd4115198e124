"""What a live MCP server lists: over stdio or Streamable HTTP, within limits of time and size.

The only module that imports the MCP SDK, which is an extra (`aop[mcp]`) and slow to load: import it where a server is
asked. A server is not trusted: it may hang, flood, or answer anything.
"""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final, cast

import anyio
import httpx2
from anyio.abc import Process
from mcp import Client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import Implementation, ListToolsRequest, ListToolsResult, PaginatedRequestParams, jsonrpc_message_adapter
from pydantic import ValidationError

from catalog.live import Limits, ListedTool, Listing, ServerFault
from catalog.mcp_connection import Connection
from catalog.nodes import Json

_READ_SIZE: Final = 65_536
_CLOSING_S: Final = 2.0
_SHOWN: Final = 300
"""Characters of a server's own words in a message."""

_Streams = tuple[
    anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage | Exception],
    anyio.streams.memory.MemoryObjectSendStream[SessionMessage],
]


def list_tools(connection: Connection, limits: Limits) -> Listing:
    """All tools of a server, from all pages. Raises ServerFault; its process is gone in any case."""
    with _quiet():
        return anyio.run(_list, connection, limits)


async def _list(connection: Connection, limits: Limits) -> Listing:
    budget = _Budget(limits)
    try:
        with anyio.fail_after(limits.seconds):
            async with _client(connection, budget) as client:
                return await _pages(client, limits)
    except TimeoutError:
        raise ServerFault("server-slow", seconds=_number(limits.seconds)) from None
    except Exception as error:  # noqa: BLE001 — the SDK's task groups wrap whatever happened; all of it is the server's
        raise _fault(error, budget, connection) from None


async def _pages(client: Client, limits: Limits) -> Listing:
    tools: list[ListedTool] = []
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(limits.pages):
        params = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        # Not `client.list_tools`: that leaves out tools which it cannot call itself.
        page = await client.session.send_request(ListToolsRequest(params=params), ListToolsResult)
        for tool in page.tools:
            hints = tool.annotations
            tools.append(
                ListedTool(
                    name=tool.name,
                    description=tool.description or "",
                    input_schema=cast("dict[str, Json]", tool.input_schema),
                    output_schema=cast("dict[str, Json] | None", tool.output_schema),
                    read_only=None if hints is None else hints.read_only_hint,
                )
            )
        if len(tools) > limits.tools:
            raise ServerFault("server-too-many", limit=limits.tools)
        cursor = page.next_cursor
        if cursor is None:
            return Listing(_described(client.server_info), tuple(tools))
        if cursor in seen:
            raise ServerFault("server-pages-circle")
        seen.add(cursor)
    raise ServerFault("server-pages", limit=limits.pages)


def _described(info: Implementation | None) -> str:
    return "" if info is None else f"{info.name} {info.version}"


# ------------------------------------------------------------------------------------------------- connections


class _Budget:
    """How much a server may say. `exceeded` or `broken` tell why a connection ended that the SDK only saw end."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._total = 0
        self.fault: ServerFault | None = None
        self.heard = b""

    def take(self, size: int) -> None:
        """Raises ServerFault."""
        self._total += size
        if self._total > self.limits.total_bytes:
            self.refuse("server-flood", limit=self.limits.total_bytes)

    def message(self, size: int) -> None:
        """Raises ServerFault."""
        if size > self.limits.message_bytes:
            self.refuse("server-flood", limit=self.limits.message_bytes)

    def refuse(self, reason: str, **arguments: str | int) -> None:
        self.fault = self.fault or ServerFault(reason, **arguments)
        raise self.fault

    def overhear(self, chunk: bytes) -> None:
        """What a server says on standard error: the end of it may tell why it ended."""
        self.heard = (self.heard + chunk)[-4 * _SHOWN :]


@asynccontextmanager
async def _client(connection: Connection, budget: _Budget) -> AsyncIterator[Client]:
    limits = budget.limits
    if connection.transport == "stdio":
        async with Client(_stdio(connection, budget), read_timeout_seconds=limits.seconds, cache=None) as client:
            yield client
        return

    async def bound(response: httpx2.Response) -> None:
        response.stream = _BoundedStream(response.stream, budget)

    timeout = httpx2.Timeout(limits.seconds)
    hooks = {"response": [bound]}
    async with httpx2.AsyncClient(headers=dict(connection.headers), timeout=timeout, event_hooks=hooks) as http:
        transport = streamable_http_client(connection.url, http_client=http, max_sse_event_size=limits.message_bytes)
        async with Client(transport, read_timeout_seconds=limits.seconds, cache=None) as client:
            yield client


class _BoundedStream(httpx2.AsyncByteStream):
    """A response's body that ends with a fault where it becomes too much."""

    def __init__(self, stream: object, budget: _Budget) -> None:
        self._stream = cast(httpx2.AsyncByteStream, stream)
        self._budget = budget

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._budget.take(len(chunk))
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def _stdio(connection: Connection, budget: _Budget) -> AsyncIterator[_Streams]:
    """As the SDK's own, but within the budget, and ended by the first line that is no message.

    The SDK keeps a line without an end in memory for as long as it comes, and waits on after one that is no message.
    """
    environment = get_default_environment() | dict(connection.env)
    command = [connection.command, *connection.args]
    process = await anyio.open_process(command, env=environment, start_new_session=os.name == "posix")
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_read, process, incoming, budget)
        tasks.start_soon(_write, process, outgoing)
        tasks.start_soon(_overhear, process, budget)
        try:
            yield received, sent
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
            tasks.cancel_scope.cancel()


async def _read(
    process: Process,
    incoming: anyio.streams.memory.MemoryObjectSendStream[SessionMessage | Exception],
    budget: _Budget,
) -> None:
    """Lines to messages. Whatever ends it closes `incoming`, which the session takes as the end of the connection."""
    if process.stdout is None:
        raise AssertionError("the server's output is a pipe")
    rest = bytearray()
    # Our own end closes pipe and stream below this; the fault is in the budget.
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, ServerFault):
        async with incoming:
            while True:
                chunk = await process.stdout.receive(_READ_SIZE)
                budget.take(len(chunk))
                start = len(rest)
                rest += chunk
                end = rest.find(b"\n", start)
                while end >= 0:
                    budget.message(end)
                    line = bytes(rest[:end])
                    del rest[: end + 1]
                    if line.strip():
                        await incoming.send(_message(line, budget))
                    end = rest.find(b"\n")
                budget.message(len(rest))


def _message(line: bytes, budget: _Budget) -> SessionMessage:
    """Raises ServerFault."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        budget.refuse("server-not-json", said=line[: 4 * _SHOWN].decode("utf-8", "replace"))
        raise


async def _write(process: Process, outgoing: anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage]) -> None:
    if process.stdin is None:
        raise AssertionError("the server's input is a pipe")
    # A server that ended is noticed where its output ends.
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        async with outgoing:
            async for message in outgoing:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{line}\n".encode())


async def _overhear(process: Process, budget: _Budget) -> None:
    if process.stderr is None:
        raise AssertionError("the server's standard error is a pipe")
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
        while True:
            budget.overhear(await process.stderr.receive(_READ_SIZE))


async def _end(process: Process) -> None:
    """Closed input asks a server to end; then its whole process group is ended. Takes a few seconds at most."""
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    with anyio.move_on_after(_CLOSING_S):
        while process.returncode is None:
            await anyio.sleep(0.01)
    if sys.platform == "win32":
        with suppress(ProcessLookupError):
            process.kill()
    else:
        await terminate_posix_process_tree(process, _CLOSING_S)
    with anyio.move_on_after(_CLOSING_S):
        await process.aclose()


# ------------------------------------------------------------------------------------------------------ faults


def _fault(error: Exception, budget: _Budget, connection: Connection) -> ServerFault:
    """What the user is told. The budget knows best, then a fault of ours, then what the SDK or the system says."""
    if budget.fault is not None:
        said = str(budget.fault.arguments.get("said", ""))
        if said:
            return ServerFault(budget.fault.reason, said=_shown(said, connection))
        return budget.fault
    causes = list(_leaves(error))
    for cause in causes:
        if isinstance(cause, ServerFault):
            return cause
    for cause in causes:
        if isinstance(cause, TimeoutError | httpx2.TimeoutException):
            return ServerFault("server-slow", seconds=_number(budget.limits.seconds))
        if isinstance(cause, ValidationError):
            return ServerFault("server-wrong-list", detail=_shown(_first(cause), connection))
        if isinstance(cause, OSError | ValueError | httpx2.TransportError):
            return ServerFault("server-unreachable", detail=_shown(_words(cause), connection))
    said = budget.heard.decode("utf-8", "replace").strip()
    detail = said.splitlines()[-1] if said else _words(causes[0])
    return ServerFault("server-refused", detail=_shown(detail, connection))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _words(error: BaseException) -> str:
    if isinstance(error, MCPError):
        return error.error.message
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def _first(error: ValidationError) -> str:
    """Where the list breaks the protocol, without the value."""
    details = error.errors(include_url=False, include_input=False, include_context=False)
    place = ".".join(str(part) for part in details[0]["loc"] if not str(part).endswith("Result"))
    return f"{place}: {details[0]['msg']}"


def _shown(text: str, connection: Connection) -> str:
    return " ".join(connection.hide(text).split())[:_SHOWN]


def _number(seconds: float) -> str:
    return str(math.ceil(seconds)) if seconds >= 1 else str(seconds)


@contextmanager
def _quiet() -> Iterator[None]:
    """The SDK logs what it received, secrets included, and without a handler Python prints it."""
    loggers = [logging.getLogger(name) for name in ("mcp", "httpx2", "httpcore2", "asyncio")]
    upward = [logger.propagate for logger in loggers]
    handler = logging.NullHandler()
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, before in zip(loggers, upward, strict=True):
            logger.removeHandler(handler)
            logger.propagate = before
