"""Waiting for what other processes do, and a clock that need not be waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


def until(true: Callable[[], bool], within_s: float = 60.0) -> None:
    """Ask until it is so. The time is generous: only what fails takes it."""
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, f"not within {within_s} s"
        time.sleep(0.02)


class Clock:
    """Stands in for the module `time` of another module; it can be put forward, so that nobody has to wait."""

    def __init__(self) -> None:
        self.later = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.later

    def forward(self, seconds: float) -> None:
        """The running event loop's clock as well: what waits with a deadline finds it passed."""
        self.later += seconds
        asyncio.get_running_loop().time = self.monotonic  # type: ignore[method-assign]  # of this one loop
