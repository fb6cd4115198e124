"""What a live MCP server lists: over stdio or Streamable HTTP, within limits of time and size.

It imports the MCP SDK, which is an extra (`aop[mcp]`) and slow to load: import it where a server is asked. A server is
not trusted: it may hang, flood, or answer anything.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation, ListToolsRequest, PaginatedRequestParams
from pydantic import BaseModel, ConfigDict, StrictBool, ValidationError
from pydantic.alias_generators import to_camel

from catalog.live import Limits, ListedTool, Listing, ServerFault
from catalog.mcp_budget import SHOWN, Budget, status_text
from catalog.mcp_connection import Connection
from catalog.mcp_http import http_client
from catalog.mcp_stdio import stdio


def list_tools(connection: Connection, limits: Limits) -> Listing:
    """All tools of a server, from all pages. Raises ServerFault; its process is gone in any case."""
    with _quiet():
        listing = anyio.run(_list, connection, limits)
    for text in _texts([listing.server, *listing.tools]):
        secret = connection.secret_in(text)
        if secret is not None:
            raise ServerFault("server-tells-secret", where=secret)
    return listing


def _texts(value: object) -> Iterator[str]:
    """Every string within, names of members too; without recursion, because nothing bounds the depth yet."""
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            pending += [*current, *current.values()]
        elif isinstance(current, list | tuple):
            pending += current


async def _list(connection: Connection, limits: Limits) -> Listing:
    budget = Budget(limits)
    try:
        with anyio.fail_after(limits.seconds):
            async with _client(connection, budget) as client:
                return await _pages(client, limits)
    except TimeoutError:
        raise ServerFault("server-slow", seconds=_number(limits.seconds)) from None
    except Exception as error:  # noqa: BLE001 — the SDK's task groups wrap whatever happened; all of it is the server's
        raise _fault(error, budget, connection) from None


@asynccontextmanager
async def _client(connection: Connection, budget: Budget) -> AsyncIterator[Client]:
    if connection.transport == "http":
        async with http_client(connection, budget) as client:
            yield client
        return
    seconds = budget.limits.seconds
    async with Client(stdio(connection, budget), read_timeout_seconds=seconds, cache=None) as client:
        yield client


# ------------------------------------------------------------------------------------------------------ the list


class _Wire(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class _Annotations(_Wire):
    """Strict, because the word of a server decides what `(read-only)` allows: "false" is no boolean."""

    read_only_hint: StrictBool | None = None


class _Tool(_Wire):
    name: str
    description: str | None = None
    input_schema: dict[str, Any]  # Any: JSON; recursive types make pydantic slow
    output_schema: dict[str, Any] | None = None
    annotations: _Annotations | None = None


class _Page(_Wire):
    """What we read of a `ListToolsResult`; the SDK has checked it against the protocol's version."""

    tools: list[_Tool]
    next_cursor: str | None = None


async def _pages(client: Client, limits: Limits) -> Listing:
    tools: list[ListedTool] = []
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(limits.pages):
        params = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        # Not `client.list_tools`: that leaves out tools which it cannot call itself.
        page = await client.session.send_request(ListToolsRequest(params=params), _Page)
        tools += map(_listed, page.tools)
        if len(tools) > limits.tools:
            raise ServerFault("server-too-many", limit=limits.tools)
        cursor = page.next_cursor
        if cursor is None:
            return Listing(_described(client.server_info), tuple(tools))
        if cursor in seen:
            raise ServerFault("server-pages-circle")
        seen.add(cursor)
    raise ServerFault("server-pages", limit=limits.pages)


def _listed(tool: _Tool) -> ListedTool:
    read_only = None if tool.annotations is None else tool.annotations.read_only_hint
    return ListedTool(tool.name, tool.description or "", tool.input_schema, tool.output_schema, read_only)


def _described(info: Implementation | None) -> str:
    return "" if info is None else f"{info.name} {info.version}"


# ------------------------------------------------------------------------------------------------------ faults


def _fault(error: Exception, budget: Budget, connection: Connection) -> ServerFault:
    """What the user is told. The budget knows best, then a fault of ours, then what the SDK or the system says."""
    if budget.garbled:
        return ServerFault("server-not-json", said=_shown(budget.garbled, connection))
    if budget.fault is not None:
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
            where = f"{connection.command}: " if connection.transport == "stdio" else ""
            return ServerFault("server-unreachable", detail=_shown(f"{where}{_words(cause)}", connection))
    last = _shown_end(budget.last_words(), connection) if budget.hung_up else ""
    if budget.hung_up and budget.status is not None:
        return ServerFault("server-ended", status=status_text(budget.status), said=last or "—")
    status = "" if budget.refusal is None else f"HTTP {budget.refusal}: "
    detail = _shown(f"{status}{_words(causes[0])}", connection)
    return ServerFault("server-refused", detail=f"{detail}: {last}" if last else detail)


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
    return " ".join(connection.hide(text).split())[:SHOWN]


def _shown_end(text: str, connection: Connection) -> str:
    shown = " ".join(connection.hide(text).split())
    return shown if len(shown) <= SHOWN else f"…{shown[-SHOWN:]}"


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
