"""Which elements of one sequence stand for which of another, in bounded time and memory whatever they are."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from typing import Final, TypeAlias

_READABLE: Final = 1_000_000
"""Pairs of elements up to which runs that belong together are kept together, as readers like it: difflib may take the
square of that many steps at worst, a second."""
_MINIMAL: Final = 400_000_000
"""And up to which as little as possible is shown as changed: a bit of memory a pair."""
_AROUND: Final = 2
"""Equal lines that are shown around those that changed."""

Run: TypeAlias = tuple[str, int, int, int, int]
"""`equal`, `delete`, `insert` or `replace`, and the ranges of both sequences that it is about, as difflib has them."""


def runs(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Run]:
    """All of both sequences, in order; no two that differ stand side by side."""
    shorter = min(len(old), len(new))
    start = next((index for index in range(shorter) if old[index] != new[index]), shorter)
    end = next((index for index in range(shorter - start) if old[-1 - index] != new[-1 - index]), shorter - start)
    middle = _middle(old[start : len(old) - end], new[start : len(new) - end])
    found: list[Run] = [(kind, i1 + start, i2 + start, j1 + start, j2 + start) for kind, i1, i2, j1, j2 in middle]
    before, after = (0, start, 0, start), (len(old) - end, len(old), len(new) - end, len(new))
    return _joined([("equal", *before), *found, ("equal", *after)])


def unified(old: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    """The hunks of a unified diff, without the lines that would name files."""
    matcher = difflib.SequenceMatcher[str](None, "", "")
    matcher.opcodes = runs(old, new)  # type: ignore[attr-defined]  # what get_opcodes would find, where it is set
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(_AROUND):
        first, last = group[0], group[-1]
        lines.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@")
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                lines += [f" {line}" for line in old[i1:i2]]
            else:
                lines += [f"-{line}" for line in old[i1:i2]]
                lines += [f"+{line}" for line in new[j1:j2]]
    return tuple(lines)


def _middle(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Run]:
    pairs = len(old) * len(new)
    if pairs <= _READABLE:
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        return [(kind, i1, i2, j1, j2) for kind, i1, i2, j1, j2 in matcher.get_opcodes()]
    if pairs <= _MINIMAL:
        from rapidfuzz.distance import Indel  # noqa: PLC0415 - seldom needed, and slow to load

        return [
            (step.tag, step.src_start, step.src_end, step.dest_start, step.dest_end) for step in Indel.opcodes(old, new)
        ]
    return [("replace", 0, len(old), 0, len(new))]


def _joined(found: Sequence[Run]) -> list[Run]:
    """Empty ones left out, and what stands side by side made one."""
    joined: list[Run] = []
    for run in found:
        kind, _, i2, _, j2 = run
        if run[1:] == (i2, i2, j2, j2):
            continue
        beside = joined.pop() if joined and (joined[-1][0] == "equal") == (kind == "equal") else run
        joined.append(
            (kind if kind == "equal" else _kind(i2 - beside[1], j2 - beside[3]), beside[1], i2, beside[3], j2)
        )
    return joined


def _kind(gone: int, came: int) -> str:
    return "replace" if gone and came else "delete" if gone else "insert"


def _range(start: int, stop: int) -> str:
    """As POSIX has it: lines are counted from 1, and an empty range names the line before it."""
    length = stop - start
    return str(start + 1) if length == 1 else f"{start + 1 if length else start},{length}"
