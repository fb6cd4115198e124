"""Where something stands in a document.

Apart from the artifacts, whose classes take long to make: findings have places, and an unchanged document's are
replayed without a look at an artifact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias


class Span(NamedTuple):
    """1-based lines and columns, columns in code points, `end_column` exclusive (O2)."""

    line: int
    column: int
    end_line: int
    end_column: int


span_of: Final[Callable[[tuple[int, int, int, int]], Span]] = partial(tuple.__new__, Span)
"""A `Span` of its fields, in half the time: there is one for each thing that is found."""

Positions: TypeAlias = tuple[Span, ...]
"""Indexed by anchor."""


class At(NamedTuple):
    """A place: an anchor, or a part of it on the anchor's first line.

    `start` and `end` are in code points; `end` None: the anchor's end.
    """

    anchor: int
    start: int = 0
    end: int | None = None
