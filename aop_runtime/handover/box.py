"""The box in which a script runs: Deno without rights, where the host allows it behind a wall of namespaces too."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from aop_runtime.confinement import bubblewrap, launch
from aop_runtime.confinement.process import Budget, Ended, Program, run
from aop_runtime.declarations import Json
from aop_runtime.handover import deno, protocol
from aop_runtime.handover.limits import BoxLimits
from aop_runtime.handover.private_folder import private_folder
from aop_runtime.plane.envelope import CallError, Envelope

Call: TypeAlias = Callable[[str, str, Mapping[str, Json]], Awaitable[Envelope]]

_WALLED: Final = "/box"
_WALLED_DENO: Final = "/deno"
_PEER: Final = struct.Struct("3i")


@dataclass(frozen=True, slots=True)
class Scripted:
    """`ended`: how it ended, without paths of this machine. `calls`: how many it made."""

    ended: Ended
    calls: int


async def run_script(script: str, call: Call, limits: BoxLimits) -> Scripted:
    """Run `script` as TypeScript. `call` is what `callMCPTool` does; what it raises ends the script and is raised here.

    One call after the other, in the order in which the script makes them: a script that is started again then makes
    the same ones. Raises Malformed, Unavailable where the second wall is required, Missing, OSError.
    """
    walled = _walled(limits)
    with private_folder() as folder:
        for name in (deno.ENTRY, deno.CLIENT):
            (folder / name).write_bytes((deno.BOX / name).read_bytes())
        (folder / deno.SCRIPT).write_bytes(script.encode())
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(str(folder / deno.SOCKET))
            listener.listen(1)
            listener.setblocking(False)
            with _command(folder, walled, limits) as (command, descriptors):
                return await _run(_Line(listener, folder / deno.SOCKET, call, limits), command, descriptors, folder)
        finally:
            listener.close()


def _walled(limits: BoxLimits) -> bool:
    if limits.second_wall == "off":
        return False
    fault = bubblewrap.fault()
    if fault is not None and limits.second_wall == "required":
        raise bubblewrap.Unavailable(fault)
    return fault is None


@contextmanager
def _command(folder: Path, walled: bool, limits: BoxLimits) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    program = deno.program()
    if not walled:
        yield (*_launcher(limits), program, *deno.arguments(str(folder), limits.heap_mib)), ()
        return
    inside = [
        *bubblewrap.system(programs=False),
        *("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"),
        *("--ro-bind-try", "/etc/localtime", "/etc/localtime"),
        *("--ro-bind", program, _WALLED_DENO),
        *("--ro-bind", str(folder), _WALLED),
        *("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--chdir", _WALLED),
        *(part for name, value in deno.ENVIRONMENT.items() for part in ("--setenv", name, value)),
    ]
    with bubblewrap.wall(inside) as setting:
        arguments = deno.arguments(_WALLED, limits.heap_mib)
        yield (
            (*_launcher(limits), bubblewrap.bwrap(), *setting.arguments, _WALLED_DENO, *arguments),
            setting.descriptors,
        )


def _launcher(limits: BoxLimits) -> tuple[str, ...]:
    settings: dict[str, Json] = {
        "limits": {
            "CPU": limits.cpu_s,
            "DATA": limits.memory_bytes,
            # Not one byte in any file.
            "FSIZE": 0,
            "NOFILE": limits.open_files,
            "CORE": 0,
        },
        "parent": os.getpid(),
        # The more processors, the more threads, each with memory of its own.
        "processors": limits.processors,
    }
    return (sys.executable, "-I", "-S", launch.__file__, json.dumps(settings))


async def _run(line: _Line, command: Sequence[str], descriptors: Sequence[int], folder: Path) -> Scripted:
    ended = await run(
        Program(
            command=command,
            environment=deno.ENVIRONMENT,
            folder=str(folder),
            budget=line.budget,
            output_bytes=line.limits.output_bytes,
            descriptors=descriptors,
            beside=line.serve,
        )
    )
    hide = _Paths(folder)
    return Scripted(
        Ended(status=ended.status, stdout=ended.stdout, stderr=hide(ended.stderr), stopped=ended.stopped), line.calls
    )


class _Line:
    """The script's end of the socket is `client.js`; this is ours."""

    def __init__(self, listener: socket.socket, path: Path, call: Call, limits: BoxLimits) -> None:
        self._listener = listener
        self._path = path
        self._call = call
        self.limits = limits
        self.budget = Budget(limits.wall_s)
        self.calls = 0

    async def serve(self, process: int, ended: asyncio.Event) -> None:
        """Until the script has ended: a call under way still comes to its end then, and no further one is made."""
        connection = await _unless(ended, self._accept(process))
        if connection is None:
            return
        reader, writer = await asyncio.open_unix_connection(sock=connection, limit=self.limits.message_bytes)
        try:
            while (line := await self._line(reader)) is not None and not ended.is_set():
                request = protocol.request(line)
                self.calls += 1
                envelope = await self._answer(request)
                # A script that has ended does not read its answers.
                with suppress(ConnectionError):
                    writer.write(protocol.answer(request.id, envelope))
                    await writer.drain()
        finally:
            writer.close()

    async def _accept(self, process: int) -> socket.socket:
        """The one connection, of the process that we started; nobody can make another one."""
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self._listener)
            if _session(connection) == process:
                self._listener.close()
                self._path.unlink(missing_ok=True)
                return connection
            connection.close()

    async def _line(self, reader: asyncio.StreamReader) -> bytes | None:
        try:
            return await reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except asyncio.LimitOverrunError as error:
            raise protocol.Malformed(f"a call is larger than {self.limits.message_bytes} bytes") from error

    async def _answer(self, request: protocol.Request) -> Envelope:
        if self.calls > self.limits.calls:
            message = f"the script has made {self.limits.calls} calls; no more are made"
            return Envelope(content="", error=CallError(code="invalid_input", message=message))
        with self.budget.paused():
            return await self._call(request.tool, request.operation, request.arguments)


async def _unless(ended: asyncio.Event, accepting: Coroutine[None, None, socket.socket]) -> socket.socket | None:
    accepted, over = asyncio.create_task(accepting), asyncio.create_task(ended.wait())
    try:
        await asyncio.wait({accepted, over}, return_when=asyncio.FIRST_COMPLETED)
        return accepted.result() if accepted.done() else None
    finally:
        accepted.cancel()
        over.cancel()


def _session(connection: socket.socket) -> int | None:
    """Of the process at the other end; what we start leads a session of its own."""
    peer, _, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    try:
        return os.getsid(peer) if peer else None
    except OSError:
        return None


class _Paths:
    """What is said of a script names its own file, not where it lies."""

    def __init__(self, folder: Path) -> None:
        self._folders = [os.fsencode(folder), _WALLED.encode()]
        self._programs = [os.fsencode(deno.program()), _WALLED_DENO.encode()]

    def __call__(self, text: bytes) -> bytes:
        for folder in self._folders:
            text = text.replace(b"file://" + folder + b"/", b"").replace(folder + b"/", b"")
        for program in self._programs:
            text = text.replace(program + b"(", b"deno(")
        return text
