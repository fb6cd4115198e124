"""One confined program from start to end: its time, its output, what its processes take; nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, Literal

Reason = Literal["time", "output", "memory", "processes", "scratch"]
"""The limit at which a program was ended."""

_CHUNK: Final = 65_536
_POLL_S: Final = 0.05
_CLOSING_S: Final = 2.0


class Budget:
    """Wall-clock time of a program, in seconds. It stands still while the program waits for us."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._since: float | None = time.monotonic()
        self._pauses = 0

    @property
    def spent(self) -> bool:
        return self._left - (0.0 if self._since is None else time.monotonic() - self._since) <= 0

    @contextmanager
    def paused(self) -> Iterator[None]:
        self._pauses += 1
        if self._since is not None:
            self._left -= time.monotonic() - self._since
            self._since = None
        try:
            yield
        finally:
            self._pauses -= 1
            if self._pauses == 0:
                self._since = time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """`status`: of its exit, 128 + N when signal N ended it, whether or not a shell or a wall lay between. `stopped`:
    we ended it, at this limit; then the status says nothing."""

    status: int
    stdout: bytes
    stderr: bytes
    stopped: Reason | None = None

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it."""
        if self.status <= 128 or self.stopped is not None:
            return None
        try:
            return signal.Signals(self.status - 128).name
        except ValueError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """`executable`: the program, where it is not `command[0]`. `output_bytes`: of standard output and of standard
    error, each; more of either ends it. `watch` looks at what the process and its descendants take, and names the limit
    that they are over. `started` is awaited first, with the process. `beside` runs while it lives: what it raises ends
    the program and is raised by `run`; its event is set when the program has ended, and it is waited for."""

    command: Sequence[str]
    environment: Mapping[str, str]
    folder: str
    budget: Budget
    output_bytes: int
    executable: str | None = None
    stdin: bytes = b""
    descriptors: Sequence[int] = ()
    watch: Callable[[int], Reason | None] | None = None
    started: Callable[[int], Awaitable[None]] | None = None
    beside: Callable[[int, asyncio.Event], Coroutine[None, None, None]] | None = None


@dataclass(slots=True)
class _Output:
    most: int
    over: asyncio.Event
    text: bytearray = field(default_factory=bytearray)

    async def read(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(_CHUNK):
            if len(chunk) > self.most - len(self.text):
                self.over.set()
            # Read on to the end all the same: a full pipe would keep the end of the program from being seen.
            self.text += chunk[: self.most - len(self.text)]


async def run(program: Program) -> Ended:
    """Raises OSError where it cannot be started, and what `started` and `beside` raise. Whatever ends it (cancellation
    too), none of its processes is left in its group."""
    process = await asyncio.create_subprocess_exec(
        *program.command,
        stdin=asyncio.subprocess.PIPE if program.stdin else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(program.environment),
        cwd=program.folder,
        executable=program.executable,
        pass_fds=tuple(program.descriptors),
        start_new_session=True,
    )
    over = asyncio.Event()
    out, err = _Output(program.output_bytes, over), _Output(program.output_bytes, over)
    if process.stdout is None or process.stderr is None:
        raise AssertionError("the process has pipes")
    readers = [asyncio.create_task(out.read(process.stdout)), asyncio.create_task(err.read(process.stderr))]
    tasks: list[asyncio.Task[None]] = []
    beside: asyncio.Task[None] | None = None
    ended = asyncio.Event()
    stopped: Reason | None = None
    try:
        if process.stdin is not None:
            tasks.append(asyncio.create_task(_write(process.stdin, program.stdin)))
        if program.started is not None:
            await program.started(process.pid)
        if program.beside is not None:
            beside = asyncio.create_task(program.beside(process.pid, ended))
            tasks.append(beside)
        stopped = await _until_end(process, program, over, tasks)
        if beside is not None:
            ended.set()
            _kill(process)
            # What it has begun for the program may not be broken off.
            await beside
    finally:
        _kill(process)
        await _finish(process, [*readers, *tasks])
    status = process.returncode if process.returncode is not None else 128 + signal.SIGKILL
    return Ended(
        status=status if status >= 0 else 128 - status, stdout=bytes(out.text), stderr=bytes(err.text), stopped=stopped
    )


async def _until_end(
    process: asyncio.subprocess.Process, program: Program, over: asyncio.Event, tasks: list[asyncio.Task[None]]
) -> Reason | None:
    ended = asyncio.create_task(_exit(process))
    flooded = asyncio.create_task(_flood(over))
    try:
        waiting: set[asyncio.Task[None]] = {ended, flooded, *tasks}
        while True:
            done, waiting = await asyncio.wait(waiting, timeout=_POLL_S, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if flooded.done():
                return "output"
            if ended.done():
                return None
            if program.budget.spent:
                return "time"
            reason = None if program.watch is None else program.watch(process.pid)
            if reason is not None:
                return reason
    finally:
        ended.cancel()
        flooded.cancel()


async def _exit(process: asyncio.subprocess.Process) -> None:
    await process.wait()


async def _flood(over: asyncio.Event) -> None:
    await over.wait()


async def _write(stream: asyncio.StreamWriter, text: bytes) -> None:
    # A program need not read what it is given.
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(text)
        await stream.drain()
        stream.close()


def _kill(process: asyncio.subprocess.Process) -> None:
    """The whole group: also what the program started and left. Not by `process.kill`, which would reap the process
    before asyncio does."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _finish(process: asyncio.subprocess.Process, tasks: Sequence[asyncio.Task[None]]) -> None:
    """Reads what is still in the pipes, and reaps the process, also when this is cancelled meanwhile."""
    closing = asyncio.create_task(_close(process, tasks))
    cancelled = False
    while not closing.done():
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            if closing.cancelled():
                break
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


async def _close(process: asyncio.subprocess.Process, tasks: Sequence[asyncio.Task[None]]) -> None:
    readers, others = tasks[:2], tasks[2:]
    for task in others:
        task.cancel()
    await asyncio.wait([asyncio.create_task(_exit(process)), *readers], timeout=_CLOSING_S)
    for task in readers:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
