"""Where a fence stands in an agent's instructions (I3): between fence marks, on lines of its own, with nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class _Mark(NamedTuple):
    """A line that begins with a fence mark: `run`, and `rest` of it; from where to where."""

    start: int
    end: int
    run: str
    rest: str


def missing_fences(instructions: str, expected: Sequence[tuple[int, str]]) -> list[int]:
    """The numbers of the fences that have no place of their own in the instructions, in the order given.

    `expected`: (number, text). A place: a line that begins with a fence mark, the text on the lines below, exactly,
    and the same mark alone on the next line. Each place serves one fence, and what stands inside of it serves none: so
    two equal fences need two places, and a fence quoted in another one's text is not there. Time is linear in both
    arguments.
    """
    if not expected:
        return []
    wanted: dict[str, list[int]] = {}
    for number, text in reversed(expected):
        wanted.setdefault(text if text.endswith("\n") else f"{text}\n", []).append(number)
    lengths = set(map(len, wanted))
    marks = _marks(instructions)
    closers = _closers(marks)
    place = 0
    while place < len(marks):
        closer = closers[place]
        if closer is not None:
            start, end = marks[place].end + 1, marks[closer].start
            # Only a text of a length that is looked for is cut out: places may lie inside each other.
            if end - start in lengths:
                numbers = wanted.get(instructions[start:end])
                if numbers:
                    numbers.pop()
                    place = closer
        place += 1
    lost = {number for numbers in wanted.values() for number in numbers}
    return [number for number, _ in expected if number in lost]


def _marks(instructions: str) -> list[_Mark]:
    marks: list[_Mark] = []
    text = f"\n{instructions}"  # so that every line stands behind a line end
    for sign in "`~":
        before = f"\n{sign * 3}"
        at = text.find(before)
        while at >= 0:
            end = text.find("\n", at + 1)
            line = text[at + 1 :] if end < 0 else text[at + 1 : end]
            rest = line.lstrip(sign)
            marks.append(_Mark(at, at + len(line), line[: len(line) - len(rest)], rest))
            at = -1 if end < 0 else text.find(before, end)
    marks.sort()
    return marks


def _closers(marks: Sequence[_Mark]) -> list[int | None]:
    """For each mark the one that closes it: the next of its length or longer, if it has its length and its own line."""
    closers: list[int | None] = [None] * len(marks)
    behind: dict[str, list[int]] = {"`": [], "~": []}
    for place in range(len(marks) - 1, -1, -1):
        run = marks[place].run
        candidates = behind[run[0]]  # the marks further down, the nearest last, none hidden by a longer or equal one
        while candidates and len(marks[candidates[-1]].run) < len(run):
            candidates.pop()
        if candidates and marks[candidates[-1]].run == run and not marks[candidates[-1]].rest.strip(" \t"):
            closers[place] = candidates[-1]
        candidates.append(place)
    return closers
