"""One program from start to end: its time, its output, and nothing left of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aop_runtime.confinement import process as process_module
from aop_runtime.confinement.process import Budget, Ended, Program, run
from tests.runtime.given import Clock


def program(code: str, **more: Any) -> Program:  # noqa: ANN401 - of Program
    given: dict[str, Any] = {
        "command": (sys.executable, "-I", "-S", "-c", code),
        "environment": {},
        "folder": "/",
        "budget": Budget(20.0),
        "output_bytes": 100_000,
    }
    return Program(**(given | more))


def ended(code: str, **more: Any) -> Ended:  # noqa: ANN401 - as above
    return asyncio.run(run(program(code, **more)))


def alive(process: int) -> bool:
    """A process that has ended, but that nobody has asked about yet, counts as ended."""
    try:
        return ") Z" not in Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except OSError:
        return False


def soon(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.01)
    return False


def test_what_it_printed_and_its_status_are_handed_on() -> None:
    """Both outputs, apart."""
    found = ended("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert found == Ended(status=3, stdout=b"out\n", stderr=b"err\n")


def test_standard_input_is_given_and_need_not_be_read() -> None:
    """A megabyte that nobody reads keeps nobody waiting; without input there is an end of file."""
    assert ended("import sys; print(len(sys.stdin.read()))", stdin=b"x" * 1_000_000).stdout == b"1000000\n"
    assert ended("print('done')", stdin=b"x" * 1_000_000).stdout == b"done\n"
    assert ended("import sys; print(len(sys.stdin.read()))").stdout == b"0\n"


def test_it_sees_no_environment_and_no_other_open_files() -> None:
    """Only what it is given."""
    found = ended("import os; print(sorted(set(os.environ) - {'LC_CTYPE'}), sorted(os.listdir('/proc/self/fd'))[:3])")
    assert found.stdout == b"[] ['0', '1', '2']\n"


def test_a_signal_is_told_by_its_name() -> None:
    """As shells count: 128 and its number."""
    found = ended("import os; os.kill(os.getpid(), 11)")
    assert (found.status, found.signal, found.stopped) == (128 + 11, "SIGSEGV", None)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_output_ends_it(stream: str) -> None:
    """What came before the limit is kept, and not a byte more."""
    found = ended(f"import sys\nwhile True: sys.{stream}.write('x' * 1000)")
    assert found.stopped == "output"
    assert getattr(found, stream) == b"x" * 100_000


def test_just_the_allowed_output_is_no_flood() -> None:
    """The limit itself may be reached."""
    found = ended("import sys; sys.stdout.write('x' * 100_000)")
    assert found.stopped is None
    assert len(found.stdout) == 100_000


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(1000)"])
def test_one_that_does_not_end_is_ended(code: str) -> None:
    """Whether it works or sleeps."""
    assert ended(code, budget=Budget(0.3)).stopped == "time"


def test_a_stop_asked_for_does_not_help() -> None:
    """Signals that can be ignored are not used."""
    code = "import signal, time\nfor each in (1, 2, 15): signal.signal(each, signal.SIG_IGN)\ntime.sleep(1000)"
    assert ended(code, budget=Budget(0.5)).stopped == "time"


def test_what_it_left_in_its_group_is_ended_too() -> None:
    """Also when it itself ended well."""
    code = (
        "import os, time\nchild = os.fork()\nif child: print(child, flush=True)\n"
        "else:\n os.close(1); os.close(2); time.sleep(1000)"
    )
    found = ended(code)
    assert found.status == 0
    assert soon(lambda: not alive(int(found.stdout)))


def test_the_time_stands_still_while_it_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several pauses may overlap."""
    clock = Clock()
    monkeypatch.setattr(process_module, "time", clock)
    budget = Budget(100)
    with budget.paused():
        with budget.paused():
            clock.later += 150
        clock.later += 50
        assert not budget.spent
    assert not budget.spent
    clock.later += 120
    assert budget.spent


def test_a_watch_ends_it_with_its_reason() -> None:
    """What processes take together is known by looking only."""
    assert ended("while True: pass", watch=lambda process: "memory").stopped == "memory"


def test_a_cancelled_run_leaves_nothing() -> None:
    """The process is gone when the cancellation comes through."""
    seen: list[int] = []

    async def started(process: int) -> None:
        seen.append(process)

    async def cancelled() -> None:
        task = asyncio.create_task(run(program("while True: pass", started=started)))
        while not seen:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert not alive(seen[0])


class _Odd(Exception):
    pass


def test_what_runs_beside_it_can_end_it() -> None:
    """What it raises is raised, and the program is gone."""
    seen: list[int] = []

    async def beside(process: int, over: asyncio.Event) -> None:
        seen.append(process)
        raise _Odd

    with pytest.raises(_Odd):
        ended("while True: pass", beside=beside)
    assert not alive(seen[0])


@pytest.mark.parametrize("code", ["pass", "while True: print('x' * 1000)"])
def test_what_runs_beside_it_comes_to_its_own_end(code: str) -> None:
    """It learns of the program's end, and is not broken off: it may be in the middle of something."""
    finished: list[str] = []

    async def beside(process: int, over: asyncio.Event) -> None:
        await over.wait()
        await asyncio.sleep(0.05)
        finished.append("whole")

    ended(code, beside=beside)
    assert finished == ["whole"]


def test_a_program_that_is_not_there_is_an_error() -> None:
    """Of the system, with its own words."""
    with pytest.raises(FileNotFoundError):
        ended("", command=("/nowhere/program",))


def test_the_launcher_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Also when that one is killed and can end nothing itself."""
    import subprocess

    from aop_runtime.confinement import launch

    script = (
        "import json, os, subprocess, sys\n"
        "settings = json.dumps({'limits': {'CORE': 0}, 'parent': os.getpid()})\n"
        f"program = [sys.executable, '-I', '-S', {launch.__file__!r}, settings, '/bin/sleep', '1000']\n"
        "child = subprocess.Popen(program)\n"
        "print(child.pid, flush=True)\nchild.wait()"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert soon(lambda: b"sleep" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0])
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert soon(lambda: not alive(child))
