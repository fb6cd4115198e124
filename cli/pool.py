"""Processes that work through tasks, each with a state of its own; for compiling on all cores.

What a process does is given by `start`, a callable that makes the process's worker. Where the system can fork, a
process begins as a copy of this one, so nothing needs to be imported or sent twice; elsewhere it is spawned, and
`start` must be picklable, as tasks and results always are. Fork before starting threads.

A process that dies takes its task with it, not the run: `wait` gives the task back with `WorkerDied`, and another
process takes the place. Interrupts are the parent's to handle: it stops the others.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from multiprocessing.context import ForkContext, SpawnContext

TaskT_contra = TypeVar("TaskT_contra", contravariant=True)
ResultT_co = TypeVar("ResultT_co", covariant=True)
T = TypeVar("T")
R = TypeVar("R")

_QUEUED = 2
"""Tasks given to a process at once: while it works on one, the next is already there."""

_STOP_S = 5.0


class Worker(Protocol[TaskT_contra, ResultT_co]):
    def __call__(self, task: TaskT_contra, /) -> ResultT_co:
        """Raises nothing that is to be expected: a fault that belongs to the task is part of the result."""
        ...

    def close(self) -> None:
        """Raises the pool's `expected`."""
        ...


class WorkerDied(Exception):
    """A process ended before it had done its task: killed by the system, for want of memory perhaps, or by somebody.

    `exitcode` is negative for the number of the signal that ended it, None where it is not known.
    """

    def __init__(self, exitcode: int | None) -> None:
        super().__init__(f"a worker process ended with exit status {exitcode} before its task was done")
        self.exitcode = exitcode

    def __reduce__(self) -> tuple[type[WorkerDied], tuple[int | None]]:
        return WorkerDied, (self.exitcode,)


class WorkerFailed(Exception):
    """A worker raised what it must not raise: a fault of ours. The message is its traceback."""


class _Raised(NamedTuple):
    error: Exception


def cores() -> int:
    """How many processes may run at once on this machine, as far as this one may use it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


@dataclass(slots=True)
class _Process(Generic[T]):
    process: BaseProcess
    connection: Connection
    tasks: deque[T] = field(default_factory=deque)


class Pool(Generic[T, R]):
    """`size` processes, begun as they are needed.

    Give tasks while there is `room`, else `wait`; at last `close` or `end`.
    """

    def __init__(
        self, start: Callable[[], Worker[T, R]], size: int, expected: tuple[type[Exception], ...] = ()
    ) -> None:
        """`expected`: what beginning and closing a worker may raise; it is raised here, too."""
        self._start = start
        self._expected = expected
        self._size = size
        self._context = _context()
        self._processes: list[_Process[T]] = []

    @property
    def busy(self) -> int:
        """How many tasks were given and not yet taken back."""
        return sum(len(process.tasks) for process in self._processes)

    @property
    def room(self) -> bool:
        return self.busy < self._size * _QUEUED

    def give(self, task: T) -> None:
        """Have one of the processes do it. Blocks at most for as long as the task takes to be sent."""
        process = self._idlest()
        process.tasks.append(task)
        with suppress(OSError):  # it has died: `wait` finds that out and gives back all of its tasks, this one too
            process.connection.send(task)

    def _idlest(self) -> _Process[T]:
        idle = [process for process in self._processes if not process.tasks]
        if idle:
            return idle[0]
        if len(self._processes) < self._size:
            self._processes.append(self._begin())
            return self._processes[-1]
        return min(self._processes, key=lambda process: len(process.tasks))

    def wait(self) -> list[tuple[T, R | WorkerDied]]:
        """Wait until at least one task is done or lost; all that are. Raises WorkerFailed, what is expected."""
        done: list[tuple[T, R | WorkerDied]] = []
        ready = multiprocessing.connection.wait([process.connection for process in self._processes if process.tasks])
        for process in [process for process in self._processes if process.connection in ready]:
            try:
                result = process.connection.recv()
            except (EOFError, OSError):
                done += self._lost(process)
                continue
            if isinstance(result, _Raised):
                raise result.error
            done.append((process.tasks.popleft(), result))
        return done

    def _lost(self, process: _Process[T]) -> list[tuple[T, R | WorkerDied]]:
        """The task that a dead process was at. Those that it had not begun are given to others."""
        self._processes.remove(process)
        process.connection.close()
        process.process.join(_STOP_S)
        at_work = process.tasks.popleft()
        for task in process.tasks:
            self.give(task)
        return [(at_work, WorkerDied(process.process.exitcode))]

    def _begin(self) -> _Process[T]:
        ours, theirs = self._context.Pipe()
        # A forked process has copies of our ends of all pipes; while it holds them, nobody would see that we are gone.
        forked = self._context.get_start_method() == "fork"
        inherited = [ours, *(process.connection for process in self._processes)] if forked else []
        process = self._context.Process(
            target=_serve, args=(self._start, self._expected, theirs, inherited), daemon=True
        )
        process.start()
        theirs.close()
        return _Process(process, ours)

    def close(self) -> None:
        """End the processes when their workers have closed. Raises WorkerFailed, WorkerDied, what is expected."""
        faults: list[Exception] = []
        for process in self._processes:
            with suppress(OSError):
                process.connection.send(None)
        for process in self._processes:
            try:
                last = process.connection.recv()
                while last is not None and not isinstance(last, _Raised):  # results that nobody waited for
                    last = process.connection.recv()
                if last is not None:
                    faults.append(last.error)
            except (EOFError, OSError):
                process.process.join(_STOP_S)
                faults.append(WorkerDied(process.process.exitcode))
        self.end()
        if faults:
            raise faults[0]

    def end(self) -> None:
        """End the processes now, whatever they are at."""
        processes, self._processes = self._processes, []
        for process in processes:
            process.process.terminate()
            process.connection.close()
        for process in processes:
            process.process.join(_STOP_S)
            if process.process.is_alive():
                process.process.kill()
                process.process.join()


def _context() -> ForkContext | SpawnContext:
    """Fork where it is safe: elsewhere system libraries may not survive it."""
    if sys.platform == "linux" and "fork" in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def _serve(
    start: Callable[[], Worker[T, R]],
    expected: tuple[type[Exception], ...],
    connection: Connection,
    inherited: list[Connection],
) -> None:
    """A process's life: tasks, one after another, until there comes None or the other end of the pipe is closed."""
    for other in inherited:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Tasks are received beside the work: were both ends of the pipe to wait until the other reads, none ever would.
    received: SimpleQueue[T | None] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, received), daemon=True).start()
    try:
        worker = start()
        while (task := received.get()) is not None:
            connection.send(worker(task))
        worker.close()
        connection.send(None)
    except BrokenPipeError:
        return
    except expected as error:
        with suppress(OSError):
            connection.send(_Raised(error))
    except BaseException:  # noqa: BLE001 - a fault of ours, whatever it is, must reach the parent
        import traceback  # noqa: PLC0415 - not needed otherwise

        with suppress(OSError):
            connection.send(_Raised(WorkerFailed(traceback.format_exc())))


def _receive(connection: Connection, received: SimpleQueue[T | None]) -> None:
    with suppress(EOFError, OSError):
        while True:
            received.put(connection.recv())
    received.put(None)  # the parent is gone
