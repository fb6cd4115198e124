"""Given a process that takes more and more memory, when it is too much, then it is told; who does not hear is killed.

Each in a process of its own: what is tested may end it.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

_BEGIN: Final = """
import sys, threading, time
from workers.memory import MemoryGuard, limit_requests, resident_bytes
unit = max(64, resident_bytes() >> 20)
guard = MemoryGuard(unit)
def watch():
    while True:
        time.sleep(0.05)
        guard.look()
threading.Thread(target=watch, daemon=True).start()
guard.begin()
taken = []
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[3]
    return subprocess.run(
        [sys.executable, "-c", _BEGIN + code], cwd=root, capture_output=True, text=True, timeout=60, check=False
    )


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say how much is in use")


def test_too_much_raises_in_the_main_thread() -> None:
    """In the middle of whatever it does; afterwards it goes on."""
    done = run("""
try:
    while True:
        taken.append(bytearray(1 << 20))
        time.sleep(0.005)
except MemoryError:
    taken.clear()
    print("told", resident_bytes() < 3 * unit << 20)
guard.end()
time.sleep(0.2)
print("goes on")
""")
    assert done.stdout.split("\n")[:2] == ["told True", "goes on"], done.stderr


def test_who_does_not_hear_is_killed() -> None:
    """An exception that is swallowed again and again."""
    done = run("""
while True:
    try:
        taken.append(bytearray(1 << 20))
        time.sleep(0.002)
    except MemoryError:
        pass
""")
    assert done.returncode == -signal.SIGKILL


def test_one_request_for_too_much_fails() -> None:
    """And harms nothing."""
    done = run("""
limit_requests(unit)
try:
    bytearray(unit * 5 << 20)
except MemoryError:
    print("refused", len(bytearray(1 << 20)))
""")
    assert done.stdout == "refused 1048576\n", done.stderr


def test_nothing_is_raised_between_jobs() -> None:
    """What is told too late is not told."""
    done = run("""
guard.end()
taken.extend(bytearray(1 << 20) for _ in range(int(unit * 2.5)))
time.sleep(0.3)
print("nothing")
""")
    assert done.stdout == "nothing\n", done.stderr
