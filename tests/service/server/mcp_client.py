"""What the tests ask the MCP server with: the SDK's client, and JSON-RPC as anybody can write it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any, Final, TypeVar

import anyio
import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from .running import Running

CURRENT: Final = LATEST_MODERN_VERSION
PREVIOUS: Final = LATEST_HANDSHAKE_VERSION
BOUND_S: Final = 60.0

T = TypeVar("T")
Json = dict[str, Any]
_ids = count(1)


def with_client(running: Running, token: str, work: Callable[[Client], Awaitable[T]], version: str = CURRENT) -> T:
    """What `work` makes of a client that speaks that revision."""

    async def main() -> T:
        headers = {"authorization": f"Bearer {token}", "accept-language": "en"}
        with anyio.fail_after(BOUND_S):
            async with httpx2.AsyncClient(headers=headers, timeout=320) as http:
                transport: AbstractAsyncContextManager[Any] = streamable_http_client(
                    f"{running.url}/mcp", http_client=http
                )
                async with Client(transport, mode="legacy" if version == PREVIOUS else version) as client:
                    assert client.protocol_version == version
                    return await work(client)

    return anyio.run(main)


def called(running: Running, token: str, tool: str, version: str = CURRENT, **arguments: object) -> Json:
    """The structured answer of a tool that succeeds; its text says the same."""
    answer, failed = outcome(running, token, tool, version, **arguments)
    assert not failed, answer
    return answer


def refused(running: Running, token: str, tool: str, version: str = CURRENT, **arguments: object) -> Json:
    """The error of a tool that does not. That it has the one form is checked on the way."""
    answer, failed = outcome(running, token, tool, version, **arguments)
    assert failed, answer
    assert answer.keys() == {"code", "message", "details"}
    assert answer["message"]
    return answer


def outcome(running: Running, token: str, tool: str, version: str, **arguments: object) -> tuple[Json, bool]:
    """By JSON-RPC itself, without what a client checks beforehand. Whether it failed comes second."""
    response = rpc(running, "tools/call", {"name": tool, "arguments": arguments}, token=token, version=version)
    assert response.status_code == 200, response.text
    result = response.json()["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"], bool(result.get("isError"))


def rpc(
    running: Running,
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    token: str = "",
    version: str = CURRENT,
    headers: Mapping[str, str] | None = None,
) -> httpx2.Response:
    """One request, as the revision wants it written."""
    given = dict(params or {})
    sent = {"accept": "application/json, text/event-stream", "mcp-protocol-version": version, "accept-language": "en"}
    if version == CURRENT:
        given["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        sent |= {"mcp-method": method}
        if "name" in given:
            sent |= {"mcp-name": str(given["name"])}
    if token:
        sent["authorization"] = f"Bearer {token}"
    body = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": given}
    return post(running, json.dumps(body).encode(), **{**sent, **(headers or {})})


def post(running: Running, body: bytes, **headers: str) -> httpx2.Response:
    given = {"content-type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
    # Without certificates, which nobody asks for here: to read them takes longer than most requests.
    return httpx2.post(f"{running.url}/mcp", content=body, headers=given, timeout=320, verify=False)
