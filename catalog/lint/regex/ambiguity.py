"""Whether a backtracking engine can be made to take exponential time.

That is so exactly where a loop can read one text in two ways: then every round doubles the ways to read the whole.
The expression becomes an automaton of positions (Glushkov's), whose edges remember how often they came about; within
each of its loops we look for a pair of runs that part and meet again on the same text (Weber and Seidl's criterion).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from catalog.lint.graphs import components
from catalog.lint.regex import charset
from catalog.lint.regex.charset import CharSet
from catalog.lint.regex.parse import TooComplex
from catalog.lint.regex.syntax import Anchor, Back, Chars, Choice, Look, Part, Repeat, Sequence

MAX_POSITIONS: Final = 2_000
MAX_LOOP: Final = 120
"""Positions of one loop: pairs of them are looked at."""
MAX_EDGES: Final = 60_000

MAX_WORK: Final = 300_000

_FEW: Final = 8
"""A part that repeats at most so often is written out; beyond that the number might as well be without end."""


class Work:
    """Counts what an analysis does, and ends it in time."""

    def __init__(self) -> None:
        self.done = 0

    def spend(self, amount: int) -> None:
        """Raises TooComplex."""
        self.done += amount
        if self.done > MAX_WORK:
            raise TooComplex


def is_exponential(part: Part, work: Work) -> bool:
    """Raises TooComplex. Back references count as empty, what they make worse is not seen."""
    automaton = _Automaton()
    automaton.add(part)
    work.spend(len(automaton.edges))
    following: list[list[int]] = [[] for _ in automaton.chars]
    for source, target in automaton.edges:
        following[source].append(target)
    for loop in components(range(len(following)), lambda position: following[position]):
        members = set(loop)
        edges = [(source, target) for source in loop for target in following[source] if target in members]
        if any(automaton.edges[edge] > 1 for edge in edges) or _has_two_runs(automaton, members, edges, work):
            return True
    return False


@dataclass(slots=True)
class _Ends:
    """Positions with which a part can begin and end. `nullable`: it can be empty."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    nullable: bool = True


class _Automaton:
    def __init__(self) -> None:
        self.chars: list[CharSet] = []
        self.edges: Counter[tuple[int, int]] = Counter()

    def add(self, part: Part) -> _Ends:
        match part:
            case Chars(chars):
                if len(self.chars) >= MAX_POSITIONS:
                    raise TooComplex
                self.chars.append(charset.ANY if chars is None else chars)
                return _Ends([len(self.chars) - 1], [len(self.chars) - 1], nullable=False)
            case Anchor() | Back():
                return _Ends()
            case Look(inner):
                self.add(inner)  # a loop inside is one that the engine runs as well
                return _Ends()
            case Sequence(parts):
                whole = _Ends()
                for each in parts:
                    whole = self._joined(whole, self.add(each))
                return whole
            case Choice(parts):
                found = [self.add(each) for each in parts]
                first = [position for ends in found for position in ends.first]
                last = [position for ends in found for position in ends.last]
                return _Ends(first, last, any(ends.nullable for ends in found))
            case Repeat(inner, least, most):
                return self._repeated(inner, least, most)

    def _joined(self, left: _Ends, right: _Ends) -> _Ends:
        self._connect(left.last, right.first)
        return _Ends(
            left.first + right.first if left.nullable else left.first,
            left.last + right.last if right.nullable else right.last,
            left.nullable and right.nullable,
        )

    def _repeated(self, inner: Part, least: int, most: int | None) -> _Ends:
        if most is None or most >= _FEW:
            ends = self.add(inner)
            self._connect(ends.last, ends.first)
            return _Ends(ends.first, ends.last, ends.nullable or least == 0)
        whole = _Ends()
        for count in range(most):
            ends = self.add(inner)
            whole = self._joined(whole, _Ends(ends.first, ends.last, ends.nullable or count >= least))
        return whole

    def _connect(self, sources: list[int], targets: list[int]) -> None:
        if len(self.edges) + len(sources) * len(targets) > MAX_EDGES:
            raise TooComplex
        for source in sources:
            for target in targets:
                self.edges[source, target] += 1


def _has_two_runs(automaton: _Automaton, members: set[int], edges: list[tuple[int, int]], work: Work) -> bool:
    """Whether two different runs lead from a position of the loop to itself over the same text."""
    if len(members) > MAX_LOOP:
        raise TooComplex
    following: dict[int, list[int]] = {position: [] for position in members}
    for source, target in edges:
        following[source].append(target)
    meet: dict[tuple[int, int], bool] = {}

    def meeting(one: int, other: int) -> bool:
        key = (min(one, other), max(one, other))
        if key not in meet:
            meet[key] = charset.overlap(automaton.chars[one], automaton.chars[other])
        return meet[key]

    def after(pair: tuple[int, int]) -> list[tuple[int, int]]:
        work.spend(len(following[pair[0]]) * len(following[pair[1]]))
        return [(one, other) for one in following[pair[0]] for other in following[pair[1]] if meeting(one, other)]

    reachable = components([(position, position) for position in members], after)
    return any(len({one == other for one, other in group}) == 2 for group in reachable)
