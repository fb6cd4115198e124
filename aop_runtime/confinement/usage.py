"""What a tree of processes takes: the limits of the kernel count each process by itself."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """`memory`: resident bytes that no file backs. `threads`: of all processes."""

    memory: int
    threads: int


def can_be_measured() -> bool:
    """Whether the kernel tells the children of a process."""
    me = os.getpid()
    return (_PROC / str(me) / "task" / str(me) / "children").exists()


def usage(root: int) -> Usage:
    """Of the process `root` and all that descend from it."""
    memory = threads = 0
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        process = waiting.pop()
        if process in seen:
            continue
        seen.add(process)
        # A process may end while it is looked at.
        with suppress(OSError, ValueError, IndexError):
            folder = _PROC / str(process)
            for line in (folder / "status").read_text(encoding="ascii", errors="replace").splitlines():
                if line.startswith(("RssAnon:", "RssShmem:")):
                    memory += int(line.split()[1]) * 1024
                elif line.startswith("Threads:"):
                    threads += int(line.split()[1])
            for task in (folder / "task").iterdir():
                with suppress(OSError):
                    waiting += map(int, (task / "children").read_text(encoding="ascii").split())
    return Usage(memory, threads)
