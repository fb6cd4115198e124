"""What a tree of processes takes: the limits of the kernel count each process by itself."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """`memory`: resident bytes that no file backs; what processes share counts once. `threads`: of all processes."""

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
            status = _fields(folder / "status")
            threads += status.get("Threads", 0)
            memory += 1024 * _memory(folder, status)
            for task in (folder / "task").iterdir():
                with suppress(OSError):
                    waiting += map(int, (task / "children").read_text(encoding="ascii").split())
    return Usage(memory, threads)


def _memory(folder: Path, status: dict[str, int]) -> int:
    """KiB."""
    try:
        shares = _fields(folder / "smaps_rollup")
        return shares["Pss_Anon"] + shares["Pss_Shmem"]
    except (OSError, KeyError):
        # Not for us to see, or an older kernel: what is shared then counts for each process.
        return status.get("RssAnon", 0) + status.get("RssShmem", 0)


def _fields(file: Path) -> dict[str, int]:
    """The whole numbers among `Name: number` lines."""
    fields: dict[str, int] = {}
    for line in file.read_text(encoding="ascii", errors="replace").splitlines():
        name, _, value = line.partition(":")
        first = value.split(maxsplit=1)[:1]
        if first and first[0].isdigit():
            fields[name] = int(first[0])
    return fields
