"""The stdio transport of MCP, as the SDK's own, but within a budget, and ended by the first line that is no message.

The SDK keeps a line without an end in memory for as long as it comes, and waits on after one that is no message.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from catalog.live import ServerFault
from catalog.mcp_budget import SHOWN, Budget
from catalog.mcp_connection import Connection
from catalog.mcp_process import ProcessGroup

_READ_SIZE: Final = 65_536
_LAST_WORDS_S: Final = 0.5

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]
_Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def stdio(connection: Connection, budget: Budget) -> AsyncIterator[_Streams]:
    """Raises OSError where the command cannot be run. Afterwards no process of it is left."""
    environment = get_default_environment() | dict(connection.env)
    command = [connection.command, *connection.args]
    with ProcessGroup() as group:
        process = await anyio.open_process(command, env=environment, start_new_session=os.name == "posix")
        group.began(process)
        incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        silent, asked_to_end = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, process, incoming, budget, silent, asked_to_end)
            tasks.start_soon(_write, process, outgoing)
            tasks.start_soon(_overhear, process, budget, silent)
            try:
                yield received, sent
            finally:
                asked_to_end.set()
                with anyio.CancelScope(shield=True):
                    await group.end(process)
                tasks.cancel_scope.cancel()


async def _read(
    process: Process, incoming: _Incoming, budget: Budget, silent: anyio.Event, asked_to_end: anyio.Event
) -> None:
    """Lines to messages. Whatever ends it closes `incoming`, which the session takes as the end of the connection."""
    async with incoming:
        # Our own end closes pipe and stream below this; a fault is in the budget.
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, ServerFault):
            await _messages(process, incoming, budget)
        if asked_to_end.is_set():
            return
        budget.hung_up = True
        with anyio.move_on_after(_LAST_WORDS_S):
            await process.wait()
            budget.status = process.returncode
            await silent.wait()


async def _messages(process: Process, incoming: _Incoming, budget: Budget) -> None:
    if process.stdout is None:
        raise AssertionError("the server's output is a pipe")
    rest = bytearray()
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


def _message(line: bytes, budget: Budget) -> SessionMessage:
    """Raises ServerFault."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        budget.garbled = line[: 8 * SHOWN].decode("utf-8", "replace")
        budget.refuse("server-not-json")


async def _write(process: Process, outgoing: _Outgoing) -> None:
    if process.stdin is None:
        raise AssertionError("the server's input is a pipe")
    # A server that ended is noticed where its output ends.
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        async with outgoing:
            async for message in outgoing:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{line}\n".encode())


async def _overhear(process: Process, budget: Budget, silent: anyio.Event) -> None:
    if process.stderr is None:
        raise AssertionError("the server's standard error is a pipe")
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
        while True:
            budget.overhear(await process.stderr.receive(_READ_SIZE))
    silent.set()
