"""What the servers of this folder have in common."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
from typing import Final

HOST: Final = "127.0.0.1"
_PR_SET_PDEATHSIG: Final = 1


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


def die_with_parent() -> None:
    """Called in a child before its program begins: the system asks it to end when the thread that started it does.
    On Linux; elsewhere nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


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


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """As a crash would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=10)
