"""What was parsed lately, where several steps of a job parse the same document (`steps`).

Each step parses the saved text itself (docs/decisions/0013). A process that takes two of them soon has the outcome
still: it is that of the same bytes, and immutable. What is kept is small, whatever the documents are: more would seldom
be asked for in time.
"""

from __future__ import annotations

from threading import Lock
from typing import Final, TypeAlias

from pipeline.stages.parse import ParseOutcome, parse

MOST: Final = 128
MOST_BYTES: Final = 16 << 10
MOST_PLACES: Final = 256
"""Of a document with more positions or findings nothing is kept: a byte of it may take up a hundred."""

_Key: TypeAlias = tuple[bytes, str, int]


class LatelyParsed:
    """The outcomes that were asked for last, by all that `parse` reads. Several threads may use it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._known: dict[_Key, ParseOutcome] = {}  # the one that was asked for last is last

    def parse(self, data: bytes, stem: str, max_bytes: int) -> ParseOutcome:
        """As `pipeline.stages.parse.parse`."""
        key = data, stem, max_bytes
        with self._lock:
            outcome = self._known.pop(key, None)
        if outcome is None:
            outcome = parse(data, stem, max_bytes)
            if len(data) > MOST_BYTES or len(outcome.positions) + len(outcome.findings) > MOST_PLACES:
                return outcome
        with self._lock:
            self._known[key] = outcome
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]
        return outcome


LATELY: Final = LatelyParsed()
"""This process's."""
