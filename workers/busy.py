"""Which children of a worker run a task right now, as its parent sees it without asking them."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_PLACES: Final = 1_024


class Busy:
    """One byte a child, in memory that parent and children share: made before they are forked.

    A child that is killed at work seems to be at it until its successor's first task.
    """

    def __init__(self) -> None:
        self._bytes = mmap.mmap(-1, _PLACES)

    @contextmanager
    def at_work(self, place: int) -> Iterator[None]:
        place %= _PLACES
        self._bytes[place] = 1
        try:
            yield
        finally:
            self._bytes[place] = 0

    def any(self) -> bool:
        return any(self._bytes[:])
