"""Patterns over ids and paths: `*`, `?` and `[…]` within one segment, `**` for any number of segments, none as well.

The time that a match takes is bounded by pattern times text: ids come from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

_ANY: Final = "**"


def matches_any(patterns: Iterable[str], text: str) -> bool:
    """Whether one of the `patterns` describes the whole of `text`: `sales/**` is all under `sales`, `*` one segment."""
    segments = text.split("/")
    return any(_match(pattern.split("/"), segments) for pattern in patterns)


def _match(wanted: Sequence[str], found: Sequence[str]) -> bool:
    # The usual walk with one way back: to the last `**`, which then takes one segment more. An earlier one need never
    # be asked again, because what stood between the two has found its first place already.
    at, here = 0, 0
    any_at, any_here = -1, 0
    while here < len(found):
        if at < len(wanted) and wanted[at] == _ANY:
            any_at, any_here = at, here
            at += 1
        elif at < len(wanted) and fnmatchcase(found[here], wanted[at]):
            at += 1
            here += 1
        elif any_at >= 0:
            any_here += 1
            at, here = any_at + 1, any_here
        else:
            return False
    return all(segment == _ANY for segment in wanted[at:])
