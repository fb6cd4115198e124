"""Ends the servers' processes when this process is killed, and so can end nothing itself any more.

A small shell waits for lines on a pipe whose other end only we hold: the process groups to watch. Where the pipe ends,
whoever held it is gone, and the groups still named are killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import Final

_SHELL: Final = "/bin/sh"
_SCRIPT: Final = """
groups=
while read -r verb group; do
  case $verb in
    watch) groups="$groups $group" ;;
    forget)
      left=
      for each in $groups; do [ "$each" = "$group" ] || left="$left $each"; done
      groups=$left ;;
  esac
done
for each in $groups; do kill -s KILL -- "-$each" 2>/dev/null; done
"""


class Watchdog:
    """Started with the first group. Where there is no such shell, servers end by the end of their input alone."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def watch(self, group: int) -> None:
        async with self._lock:
            if self._process is None and sys.platform != "win32":
                with contextlib.suppress(OSError):
                    self._process = await asyncio.create_subprocess_exec(
                        _SHELL,
                        "-c",
                        _SCRIPT,
                        stdin=asyncio.subprocess.PIPE,
                        stdout=asyncio.subprocess.DEVNULL,
                        stderr=asyncio.subprocess.DEVNULL,
                        env={"PATH": os.defpath},
                        start_new_session=True,
                    )
        self._say(f"watch {group}\n")

    def forget(self, group: int) -> None:
        self._say(f"forget {group}\n")

    def _say(self, line: str) -> None:
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(line.encode())

    async def aclose(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            await process.wait()
