"""How much memory a worker's child may take, so that one document cannot take the machine down.

The system's own limit is no help: an interpreter that gets no memory at all cannot even say so. So a second thread
looks how much is in use, and has the main thread raise MemoryError while there is some left.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Final

MIB: Final = 1 << 20
AT_WORK: Final = 2
"""A child is replaced after a task that left it above the setting; in a task it may have so many times as much."""
BEYOND: Final = 3
"""At so many times as much it is killed: it is in the middle of something that does not end for an exception."""
AT_ALL: Final = 4
"""And so much is not even given: one request for a gigabyte fails."""

_SIGNAL: Final = signal.SIGUSR2
_STATM: Final = Path("/proc/self/statm")
_PAGE: Final = resource.getpagesize()


def resident_bytes() -> int:
    """What this process has in memory, its parent's pages that it shares included; 0 where the system does not say."""
    try:
        return int(_STATM.read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


class MemoryGuard:
    """`megabytes`: of the setting."""

    def __init__(self, megabytes: int) -> None:
        self._unit = megabytes * MIB
        self._at_work = False
        self._told = False

    def begin(self) -> None:
        """A job begins. Called by the main thread."""
        self._at_work, self._told = True, False
        # Each time: the pool sets up signals of its own after it has started a child.
        signal.signal(_SIGNAL, self._raise)

    def end(self) -> None:
        self._at_work = False

    def look(self) -> None:
        """Called by another thread, many times a second while a job runs."""
        used = resident_bytes()
        main = threading.main_thread().ident
        if used > self._unit * BEYOND:
            os.kill(os.getpid(), signal.SIGKILL)
        if used > self._unit * AT_WORK and not self._told and main is not None:
            self._told = True
            signal.pthread_kill(main, _SIGNAL)

    def _raise(self, _number: int, _frame: FrameType | None) -> None:
        if self._at_work:
            raise MemoryError


def limit_requests(megabytes: int) -> None:
    """Of this process: where it asks for too much at once it gets a MemoryError."""
    if sys.platform == "darwin":
        return  # which has no limit that counts what is asked for
    most = megabytes * MIB * AT_ALL
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
