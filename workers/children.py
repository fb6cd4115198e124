"""Processes that end with the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> None:
    """Called in a child before its program begins: the system asks it to end when the thread that started it does.
    On Linux; elsewhere nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """As a crash would. The process leads the group, and has not been waited for."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=10)
