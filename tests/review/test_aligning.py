"""Given two sequences, when they are compared, then what is shown makes the one of the other, whatever their size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.review.aligning import runs, unified

lines = st.lists(st.sampled_from(["", "a", "b", "c", "--- d", "+e", "@@ f"]), max_size=40)


def applied(old: Sequence[str], hunks: Sequence[str]) -> list[str]:
    """What `patch` makes of it."""
    new: list[str] = []
    at = 0
    for line in hunks:
        head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line)
        if head is not None:
            start = int(head[1]) - (head[2] != "0")
            new += old[at:start]
            at = start
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            new += [line[1:]] if line[0] == " " else []
    return [*new, *old[at:]]


def check(old: Sequence[str], new: Sequence[str]) -> None:
    found = runs(old, new)
    assert [part for run in found for part in old[run[1] : run[2]]] == list(old)
    assert [part for run in found for part in new[run[3] : run[4]]] == list(new)
    for kind, i1, i2, j1, j2 in found:
        assert (kind == "equal") == (old[i1:i2] == new[j1:j2])
        assert (kind in ("equal", "replace")) == (i1 < i2 and j1 < j2)
    assert all((one[0] == "equal") != (two[0] == "equal") for one, two in pairwise(found))
    assert applied(old, unified(old, new)) == list(new)


@given(lines, lines)
def test_what_is_shown_makes_the_one_of_the_other(old: list[str], new: list[str]) -> None:
    """Each element is in one run, in order; the hunks are those of a patch."""
    check(old, new)


@pytest.mark.parametrize("size", [1_500, 30_000])
def test_many_changes_far_apart(size: int) -> None:
    """Every second line is another one: beyond a certain size less is told apart, and nothing takes for ever."""
    old = [f"{number}" if number % 2 else f"x{number}" for number in range(size)]
    new = [f"{number}" if number % 2 else f"y{number}" for number in range(size)]
    check(old, new)


def test_of_a_long_text_only_what_changed_is_shown() -> None:
    """Two words in two thousand lines, far from each other."""
    old = [f"{number % 50}" for number in range(2_000)]
    new = [*old[:10], "one", *old[11:1_900], "two", *old[1_901:]]
    assert [line for line in unified(old, new) if line[0] in "+-"] == ["-10", "+one", "-0", "+two"]
    assert runs(old, old) == [("equal", 0, 2_000, 0, 2_000)]
    assert unified(old, old) == ()
