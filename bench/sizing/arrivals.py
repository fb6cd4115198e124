"""When saves come: by chance, and many at once now and then."""

from __future__ import annotations

import random
from typing import Final

_BURST_S: Final = 1.0


def poisson(rate: float, seconds: float, seed: int = 1) -> list[float]:
    """When each of `rate` a second on average comes, by chance; in order."""
    if rate <= 0:
        return []
    chance = random.Random(seed)  # noqa: S311 - no secret
    times: list[float] = []
    at = chance.expovariate(rate)
    while at < seconds:
        times.append(at)
        at += chance.expovariate(rate)
    return times


def with_burst(times: list[float], at: float, count: int) -> list[float]:
    """So many more within a second from `at` on: somebody pushes a whole folder."""
    return sorted([*times, *(at + _BURST_S * number / count for number in range(count))])
