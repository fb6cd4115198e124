"""A server's process, and how it ends: with everything that it started, however our own process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import anyio
from anyio.abc import Process
from mcp.os.posix.utilities import terminate_posix_process_tree

_CLOSING_S: Final = 2.0

_SHELL: Final = Path("/bin/sh")
_WATCH: Final = 'read -r group && while read -r line; do :; done; [ -n "$group" ] && kill -s KILL -- "-$group"'


class ProcessGroup:
    """The group of a server's process. What is left of it on exit is killed.

    Where this process is killed instead (and so does nothing on exit), a small shell does it: it waits on a pipe whose
    other end only this process holds. Only on POSIX; elsewhere a server ends by the end of its input.
    """

    def __init__(self) -> None:
        self._leader: int | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        if os.name == "posix" and _SHELL.exists():
            self._watchdog = subprocess.Popen(  # noqa: S603 — a script of ours
                [str(_SHELL), "-c", _WATCH],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        return self

    def began(self, process: Process) -> None:
        """`process` leads the group."""
        self._leader = process.pid
        if self._watchdog is not None and self._watchdog.stdin is not None:
            with suppress(OSError):
                self._watchdog.stdin.write(f"{process.pid}\n".encode())
                self._watchdog.stdin.flush()

    async def end(self, process: Process) -> None:
        """Closed input asks a server to end; then its whole group is ended. Takes a few seconds at most."""
        if process.stdin is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await process.stdin.aclose()
        with anyio.move_on_after(_CLOSING_S):
            while process.returncode is None:
                await anyio.sleep(0.01)
        if sys.platform == "win32":
            with suppress(ProcessLookupError):
                process.kill()
        else:
            await terminate_posix_process_tree(process, _CLOSING_S)
        with anyio.move_on_after(_CLOSING_S):
            await process.aclose()
        self._leader = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._leader is not None and sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, signal.SIGKILL)
        if self._watchdog is not None:
            self._watchdog.kill()
            self._watchdog.communicate()
