"""The processes of an installation, each started, killed and started again when the run says so."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from workers.ledger.records import STAGES

ROOT: Final = Path(__file__).parents[2]
PRELOAD: Final = Path(__file__).parent / "preload"
NAMES: Final = (*STAGES, "dispatcher", "server")

_SETTLED_S: Final = 2.0

Found = TypeVar("Found")


def until(ask: Callable[[], Found | None], within_s: float, what: str) -> Found:
    """Ask until the answer is something. Raises TimeoutError, which says `what` did not come."""
    end = time.monotonic() + within_s
    while True:
        found = ask()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"not within {within_s} s: {what}")
        time.sleep(0.05)


def command_of(name: str) -> list[str]:
    """`name`: a stage, alone (both classes) or as STAGE.CLASS, or another command of `aop`."""
    stage, _, taken = name.partition(".")
    arguments = ["worker", stage, "--class", taken or "both"] if stage in STAGES else [name]
    return [sys.executable, "-m", "cli", *arguments]


def _age_s(pid: int) -> float:
    try:
        return time.time() - Path(f"/proc/{pid}").stat().st_ctime
    except OSError:
        return 0.0


class Processes:
    """`environment`: the settings of all; `own`: of one, beside them. `folder`: for their logs."""

    def __init__(
        self, environment: Mapping[str, str], folder: Path, own: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("AOP_", "CHAOS_"))},
            "PYTHONPATH": os.pathsep.join((str(PRELOAD), str(ROOT))),
            **environment,
        }
        self._own = own or {}
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def start(self, *names: str) -> None:
        for name in names:
            with self._lock, (self._folder / f"{name}.log").open("ab") as log:
                self._running[name] = subprocess.Popen(
                    command_of(name),
                    env={**self.environment, **self._own.get(name, {})},
                    cwd=ROOT,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )

    def run(self, *arguments: str, within_s: float = 120.0) -> str:
        """A command of `aop` to its end; what it says. Raises AssertionError where it fails."""
        done = subprocess.run(
            [sys.executable, "-m", "cli", *arguments],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
        )
        assert done.returncode == 0, f"aop {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def kill(self, name: str) -> None:
        """As the system kills: without a word, children and all."""
        with self._lock:
            process = self._running.pop(name)
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)

    def kill_child(self, name: str, chosen: Callable[[list[int]], int]) -> bool:
        """One of the processes that run a worker's tasks; its parent is to go on. False: there is none right now."""
        children = self.children(name)
        if not children:
            return False
        try:
            os.kill(chosen(children), signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def children(self, name: str) -> list[int]:
        """Those that have been there for a while: a worker that loses one in its very start ends."""
        with self._lock:
            process = self._running.get(name)
        if process is None:
            return []
        try:
            text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        except OSError:
            return []
        return [int(part) for part in text.split() if _age_s(int(part)) > _SETTLED_S]

    def ended(self) -> list[str]:
        """Those that ended though nobody killed them."""
        with self._lock:
            return [name for name, process in self._running.items() if process.poll() is not None]

    def stop(self, names: Iterable[str] = ()) -> None:
        """Asked to end, and made to where they do not."""
        with self._lock:
            chosen = {name: self._running.pop(name) for name in (tuple(names) or tuple(self._running))}
        for process in chosen.values():
            process.send_signal(signal.SIGTERM)
        for process in chosen.values():
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=10)

    def log(self, name: str) -> str:
        path = self._folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""
