"""Waiting for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(ask: Callable[[], Found | None], within_s: float = 120.0, told: Callable[[], str] = str) -> Found:
    """Ask until the answer is something; the time is generous, since only what fails takes it. `told`: what a failure
    says beside that."""
    end = time.monotonic() + within_s
    while True:
        found = ask()
        if found:
            return found
        assert time.monotonic() < end, f"not within {within_s} s\n{told()}"
        time.sleep(0.05)
