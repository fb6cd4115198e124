"""A pattern as the rules see it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from catalog.lint.regex.ambiguity import Work, is_exponential
from catalog.lint.regex.extent import longest
from catalog.lint.regex.parse import MAX_LENGTH, NotARegex, TooComplex, parse
from catalog.lint.regex.program import Program, Unknown
from catalog.lint.regex.syntax import Part

Risk = Literal["none", "exponential", "too-complex"]


@dataclass(frozen=True)
class Pattern:
    """`error`: the offset at which it stops being a regular expression, None where it is one. `part` None: it is none,
    or one that is longer or deeper than we look at."""

    text: str
    error: int | None
    part: Part | None

    @cached_property
    def risk(self) -> tuple[Risk, int]:
        """What a backtracking engine risks with it, and how much work it was to tell."""
        if self.part is None:
            return ("none" if self.error is not None else "too-complex"), 1
        work = Work()
        try:
            return ("exponential" if is_exponential(self.part, work) else "none"), work.done
        except TooComplex:
            return "too-complex", work.done

    @cached_property
    def longest(self) -> int | None:
        """The length of the longest string that it allows; None: without end."""
        return None if self.part is None else longest(self.part)

    @cached_property
    def program(self) -> Program | None:
        """None: we cannot tell what it matches."""
        if self.part is None:
            return None
        try:
            return Program(self.part)
        except Unknown:
            return None

    def search(self, text: str) -> tuple[bool | None, int]:
        """Whether it matches anywhere in `text` (None: we cannot tell), and the steps that it takes to tell."""
        if self.program is None:
            return None, MAX_LENGTH
        matched, steps = self.program.search(text)
        return matched, steps + self.program.size

    def matches(self, text: str) -> bool | None:
        """Anywhere in `text`; None: we cannot tell."""
        return self.search(text)[0]


def read_pattern(text: str) -> Pattern:
    """Read once for as long as it is in use."""
    return _read(text) if len(text) <= MAX_LENGTH else Pattern(text, None, None)


@lru_cache(maxsize=256)
def _read(text: str) -> Pattern:
    try:
        return Pattern(text, None, parse(text))
    except NotARegex as error:
        return Pattern(text, error.offset, None)
    except TooComplex:
        return Pattern(text, None, None)
