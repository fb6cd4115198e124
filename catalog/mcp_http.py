"""Streamable HTTP to an MCP server, by the SDK's transport, within a budget."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from catalog.mcp_budget import Budget
from catalog.mcp_connection import Connection


@asynccontextmanager
async def http_client(connection: Connection, budget: Budget) -> AsyncIterator[Client]:
    """Follows no redirect: the headers hold secrets that are for one server."""

    async def bound(response: httpx2.Response) -> None:
        if response.status_code >= 400:
            budget.refusal = response.status_code
        # The budget counts what comes over the wire: a small compressed answer may be gigabytes.
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            budget.refuse("server-compressed")
        response.stream = _BoundedStream(response.stream, budget)

    limits = budget.limits
    headers = httpx2.Headers(dict(connection.headers))
    headers["Accept-Encoding"] = "identity"
    timeout = httpx2.Timeout(limits.seconds)
    async with httpx2.AsyncClient(headers=headers, timeout=timeout, event_hooks={"response": [bound]}) as http:
        transport = streamable_http_client(connection.url, http_client=http, max_sse_event_size=limits.message_bytes)
        async with Client(transport, read_timeout_seconds=limits.seconds, cache=None) as client:
            yield client


class _BoundedStream(httpx2.AsyncByteStream):
    """A response's body that ends with a fault where it becomes too much."""

    def __init__(self, stream: object, budget: Budget) -> None:
        self._stream = cast(httpx2.AsyncByteStream, stream)
        self._budget = budget

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._budget.take(len(chunk))
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
