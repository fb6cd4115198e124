"""Timing whole processes: the least of several runs, since whatever else the machine does only adds."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple


class Took(NamedTuple):
    """Seconds by the clock, and of processors, those of its own processes included; each the least of all runs.

    Where cores are shared with others, a process on two of them takes up to twice the time by the clock, and hardly
    more of the processors.
    """

    clock: float
    processors: float


def process(command: Sequence[str | Path], folder: Path, runs: int, before: Callable[[], None] | None = None) -> Took:
    """What a command takes in `folder`; `before` runs ahead of each run, untimed.

    Modules are compiled once, as on a user's machine. Raises RuntimeError where the command fails.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    best = Took(float("inf"), float("inf"))
    for _ in range(runs):
        if before is not None:
            before()
        spent, start = _spent(), time.perf_counter()
        done = subprocess.run(
            [str(word) for word in command], cwd=folder, env=environment, capture_output=True, check=False
        )
        best = Took(min(best.clock, time.perf_counter() - start), min(best.processors, _spent() - spent))
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')[-500:]}")
    return best


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"
