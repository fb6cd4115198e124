"""Timing whole processes: the least of several runs, since whatever else the machine does only adds."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def process(command: Sequence[str | Path], folder: Path, runs: int, before: Callable[[], None] | None = None) -> float:
    """Seconds of wall time of the fastest of `runs` runs of a command in `folder`; `before` runs ahead of each,
    untimed.

    Modules are compiled once, as on a user's machine. Raises RuntimeError where the command fails.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    best = float("inf")
    for _ in range(runs):
        if before is not None:
            before()
        start = time.perf_counter()
        done = subprocess.run(
            [str(word) for word in command], cwd=folder, env=environment, capture_output=True, check=False
        )
        best = min(best, time.perf_counter() - start)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')[-500:]}")
    return best


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"
