"""What the servers of this folder have in common."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Final, Self

from workers.children import kill_group

HOST: Final = "127.0.0.1"


class ServerNotStarted(Exception):
    """The program is missing, or did not begin to answer. The message says which, and shows the end of its log."""


def free_ports(count: int) -> list[int]:
    """Free together, at this moment."""
    holders = [socket.socket() for _ in range(count)]
    try:
        for holder in holders:
            holder.bind((HOST, 0))
        return [int(holder.getsockname()[1]) for holder in holders]
    finally:
        for holder in holders:
            holder.close()


def is_free(port: int) -> bool:
    with socket.socket() as holder:
        # As a server does: a port whose last connections linger is free.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind((HOST, port))
        except OSError:
            return False
    return True


def stop_group(process: subprocess.Popen[bytes], patience_s: float = 10.0) -> None:
    """Ask the process and all its children to end, and make them."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            pass
        return


class LocalServer(ABC):
    """One process with its children. Whoever starts it sets `_process`, and waits with `_wait_for_answer`."""

    _process: subprocess.Popen[bytes] | None = None
    _patience_s: float = 10.0
    """How long it is waited for after it was asked to end."""

    @abstractmethod
    def start(self) -> None:
        """Raises ServerNotStarted."""

    @abstractmethod
    def _answers(self) -> bool: ...

    def _wait_for_answer(self, name: str, log: Path, limit_s: float, look_s: float) -> None:
        """Raises ServerNotStarted."""
        end = time.monotonic() + limit_s
        while not self._answers():
            if self._process is None or self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
                raise ServerNotStarted(f"{name} did not start; the end of its log {log}:\n{tail}")
            time.sleep(look_s)

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def has_ended(self) -> bool:
        """By itself: it was started, and nobody stopped it."""
        return self._process is not None and self._process.poll() is not None

    def stop(self) -> None:
        """The data stays. The second time nothing."""
        process, self._process = self._process, None
        if process is not None:
            stop_group(process, self._patience_s)

    def kill(self) -> None:
        """As a crash would."""
        process, self._process = self._process, None
        if process is not None:
            kill_group(process)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
