"""Processes that work through tasks: nothing is lost, nothing hangs, whatever becomes of a process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from cli.pool import Pool, Worker, WorkerDied, WorkerFailed

Task = tuple[str, int]


class Errands:
    """Does what a task says, so that a test can say what goes wrong."""

    def __call__(self, task: Task) -> bytes:
        match task:
            case ("size", number):
                return b"x" * number
            case ("die", number):
                os.kill(os.getpid(), number)
                time.sleep(60)
            case ("exit", number):
                os._exit(number)
            case ("sleep", number):
                time.sleep(number)
        if task[0] == "raise":
            raise ZeroDivisionError("of ours")
        return str(os.getpid()).encode()

    def close(self) -> None:
        """There is nothing to release."""


@contextmanager
def pool(start: Callable[[], Worker[Task, bytes]] = Errands, size: int = 2) -> Iterator[Pool[Task, bytes]]:
    made = Pool[Task, bytes](start, size)
    try:
        yield made
    finally:
        made.end()


def results(pool: Pool[Task, bytes], tasks: list[Task]) -> list[tuple[Task, bytes | WorkerDied]]:
    done = []
    left = iter(tasks)
    task = next(left, None)
    while task is not None or pool.busy:
        while task is not None and pool.room:
            pool.give(task)
            task = next(left, None)
        done += pool.wait()
    return done


def test_every_task_is_done_once_by_several_processes() -> None:
    """The results come in any order, each with its task."""
    tasks = [("size", number) for number in range(50)]
    with pool() as two:
        done = results(two, tasks)
    assert sorted((task, len(result) if isinstance(result, bytes) else -1) for task, result in done) == [
        (task, task[1]) for task in tasks
    ]


def test_large_tasks_and_large_results_do_not_wait_for_each_other() -> None:
    """Both ends of a pipe write more than it holds at the same time."""
    large = "n" * (4 << 20)

    with pool(size=1) as one:
        one.give(("size", 4 << 20))
        one.give((large, 1))
        one.give((large, 2))
        assert len([one.wait() for _ in range(3)]) == 3


@pytest.mark.parametrize(
    ("death", "exitcode"), [(("die", signal.SIGKILL), -9), (("die", signal.SIGTERM), -15), (("exit", 7), 7)]
)
def test_a_process_that_dies_takes_only_its_own_task_along(death: Task, exitcode: int) -> None:
    """The task comes back with how the process ended; all others are done."""
    tasks = [("size", number) for number in range(10)]
    with pool() as two:
        done = dict(results(two, [*tasks[:5], death, *tasks[5:]]))
    lost = done.pop(death)
    assert isinstance(lost, WorkerDied)
    assert lost.exitcode == exitcode
    assert set(done) == set(tasks)
    assert all(isinstance(result, bytes) for result in done.values())


def test_every_process_dying_again_and_again_ends() -> None:
    """Each death costs one task, so a run ends however many processes die."""
    with pool() as two:
        done = results(two, [("exit", number) for number in range(1, 7)])
    assert [type(result) for _, result in done] == [WorkerDied] * 6


def test_a_fault_of_ours_in_a_process_is_raised_with_its_traceback() -> None:
    """It is not taken for an answer."""
    with pool() as two:
        two.give(("raise", 0))
        with pytest.raises(WorkerFailed, match="ZeroDivisionError: of ours"):
            two.wait()


def test_ending_ends_processes_at_work() -> None:
    """An interrupt does not wait for a long task."""
    started = time.monotonic()
    with pool() as two:
        two.give(("sleep", 60))
        two.give(("sleep", 60))
    assert time.monotonic() - started < 50


def test_closing_waits_for_work_that_was_given() -> None:
    """Each process does what it was given and then releases what it holds."""

    class Writing(Errands):
        def close(self) -> None:
            os.write(pipe[1], b"closed")

    pipe = os.pipe()
    made = Pool[Task, bytes](Writing, 1)
    made.give(("size", 1))
    made.wait()
    made.close()
    written = os.read(pipe[0], 100)
    os.close(pipe[0])
    os.close(pipe[1])
    assert written == b"closed"


def test_a_worker_that_cannot_close_is_heard() -> None:
    """What it failed to store must not pass for stored."""

    class Full(Errands):
        def close(self) -> None:
            raise OSError(28, "no space left")

    made = Pool[Task, bytes](Full, 1, (OSError,))
    made.give(("size", 1))
    made.wait()
    with pytest.raises(OSError, match="no space left"):
        made.close()
