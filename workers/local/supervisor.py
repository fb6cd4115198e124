"""Several processes kept running by one: those of `aop dev`.

A child that ends is started again, later and later while it keeps ending at once. When the supervisor ends, asked to or
not, so do its children: on Linux the system sees to it, elsewhere they are asked to.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from workers.children import die_with_parent

_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 15.0
_WELL_S: Final = 30.0
"""A child that ran for so long is started again at once."""


@dataclass(slots=True)
class _Child:
    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    begun: float = 0.0
    pause: float = _FIRST_PAUSE_S
    next_start: float = 0.0


@dataclass(slots=True)
class Supervisor:
    """`environment`: of all children, beside this process's own. `logs`: a file each, `NAME.log`."""

    environment: Mapping[str, str]
    logs: Path
    _children: dict[str, _Child] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ending: bool = False

    def add(self, name: str, command: Sequence[str]) -> None:
        with self._lock:
            child = self._children[name] = _Child(name, command)
            self._start(child)

    def pid(self, name: str) -> int | None:
        with self._lock:
            process = self._children[name].process
            return None if process is None or process.poll() is not None else process.pid

    def look(self) -> list[tuple[str, int]]:
        """Start what has ended again. What ended, with its status; negative: by that signal."""
        ended: list[tuple[str, int]] = []
        now = time.monotonic()
        with self._lock:
            if self._ending:
                return ended
            for child in self._children.values():
                if child.process is not None and child.process.poll() is not None:
                    ended.append((child.name, child.process.returncode))
                    well = now - child.begun > _WELL_S
                    child.pause = _FIRST_PAUSE_S if well else min(_LONGEST_PAUSE_S, child.pause * 2)
                    child.next_start = now if well else now + child.pause
                    child.process = None
                if child.process is None and now >= child.next_start:
                    self._start(child)
        return ended

    def stop(self, patience_s: float = 25.0) -> None:
        """Ask all to end, the last that was added first, and make those that do not within `patience_s`."""
        with self._lock:
            self._ending = True
            running = [child.process for child in reversed(self._children.values()) if child.process is not None]
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        end = time.monotonic() + patience_s
        for process in running:
            try:
                process.wait(timeout=max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=10)
            # Children of its own that a killed one leaves behind.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def _start(self, child: _Child) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.logs / f"{child.name}.log").open("ab") as log:
            child.process = subprocess.Popen(  # noqa: S603 - our own commands
                child.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                # A group of its own: Ctrl-C at the terminal reaches the supervisor alone, which ends them in order.
                start_new_session=True,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call
            )
        child.begun = time.monotonic()
