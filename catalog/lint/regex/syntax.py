"""The parts that a regular expression is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from catalog.lint.regex.charset import CharSet


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set; None: of a set that we do not know (`\\p{Script=Han}`)."""

    chars: CharSet | None


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; empty: the empty string."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`most` None: without end."""

    part: Part
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    kind: Literal["start", "end", "boundary", "inside"]


@dataclass(frozen=True, slots=True)
class Look:
    """A look ahead or behind, asserted or denied."""

    part: Part


@dataclass(frozen=True, slots=True)
class Back:
    """A reference to what a group matched."""


Part: TypeAlias = Chars | Sequence | Choice | Repeat | Anchor | Look | Back
EMPTY = Sequence(())
