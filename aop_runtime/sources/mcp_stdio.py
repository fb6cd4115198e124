"""MCP over the standard input and output of a process of ours, within limits, and without leaving it behind.

The SDK's own transport keeps a line without an end in memory for as long as it comes, waits on after a line that is no
message, and shows what a server writes on standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from aop_runtime.messages import Message
from aop_runtime.sources.mcp_flow import Flooded, Flow
from aop_runtime.sources.mcp_watchdog import Watchdog
from aop_runtime.sources.servers import Server

_READ_SIZE: Final = 65_536
_CLOSING_S: Final = 1.0

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]
_Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

_CLOSED: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)


@asynccontextmanager
async def stdio_transport(server: Server, flow: Flow, watchdog: Watchdog) -> AsyncIterator[_Streams]:
    """Raises OSError where the program cannot be started."""
    posix = os.name == "posix"
    process = await anyio.open_process(
        [server.command, *server.args], env=dict(server.env), cwd=server.cwd, start_new_session=posix
    )
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise AssertionError("the process has pipes")
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        await watchdog.watch(process.pid)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read, stdout, incoming, flow)
            tasks.start_soon(_write, stdin, outgoing, flow)
            tasks.start_soon(_overhear, stderr, flow)
            try:
                yield received, sent
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process, stdin)
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process, stdin)
        watchdog.forget(process.pid)
        for stream in (incoming, received, sent, outgoing):
            stream.close()


async def _read(stdout: ByteReceiveStream, incoming: _Incoming, flow: Flow) -> None:
    """Lines to messages. Whatever ends it closes `incoming`, which the session takes as the end of the connection."""
    rest = bytearray()
    with suppress(*_CLOSED, Flooded):
        async with incoming:
            try:
                while True:
                    chunk = await stdout.receive(_READ_SIZE)
                    flow.take(len(chunk))
                    start = len(rest)
                    rest += chunk
                    end = rest.find(b"\n", start)
                    while end >= 0:
                        flow.message(end)
                        line = bytes(rest[:end])
                        del rest[: end + 1]
                        if line.strip():
                            await incoming.send(_message(line, flow))
                        end = rest.find(b"\n")
                    flow.message(len(rest))
            finally:
                flow.lost = True


def _message(line: bytes, flow: Flow) -> SessionMessage:
    """Raises Flooded for what is no message: what follows cannot be trusted to be in step."""
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        flow.refuse(Message("connection.no-line"))
        raise
    return SessionMessage(message)


async def _write(stdin: ByteSendStream, outgoing: _Outgoing, flow: Flow) -> None:
    with suppress(*_CLOSED):
        async with outgoing:
            async for message in outgoing:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stdin.send(f"{line}\n".encode())
    # A server that does not read any more is lost, though it may live.
    flow.lost = True


async def _overhear(stderr: ByteReceiveStream, flow: Flow) -> None:
    with suppress(*_CLOSED):
        while True:
            flow.overhear(await stderr.receive(_READ_SIZE))


async def _end(process: Process, stdin: ByteSendStream) -> None:
    """Closed input asks a server to end; then its whole process group is ended. Takes a few seconds at most."""
    with suppress(*_CLOSED):
        await stdin.aclose()
    with anyio.move_on_after(_CLOSING_S):
        while process.returncode is None:
            await anyio.sleep(0.005)
    if sys.platform == "win32":
        with suppress(ProcessLookupError):
            process.kill()
    else:
        await terminate_posix_process_tree(process, _CLOSING_S)
    with anyio.move_on_after(_CLOSING_S):
        await process.aclose()
