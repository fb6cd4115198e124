"""Which phase of the old version became which one of the new (R2: phases match by content, not by number)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from pipeline.review.version import VersionPhase

_ALIKE: Final = 60.0
"""Similarity in percent from which two phases count as versions of each other."""

_MOST_PAIRS: Final = 2_500
"""More are not compared letter by letter; what is left then matches by number."""

_COMPARED: Final = 4_000
"""Characters of a phase's text that are compared."""

Pairs = dict[int, int]
"""From indices in the new version to indices in the old."""


def match(old: Sequence[VersionPhase], new: Sequence[VersionPhase]) -> Pairs:
    """Equal ones first, then equal titles, alike texts, equal numbers; what is left is new, or gone."""
    pairs: Pairs = {}
    for key in (_whole, _title):
        _match_equal(old, new, pairs, key)
    _match_alike(old, new, pairs)
    _match_equal(old, new, pairs, _number)
    return pairs


def _whole(phase: VersionPhase) -> Hashable:
    return phase.title, tuple(phase.text()), tuple(phase.fences())


def _title(phase: VersionPhase) -> Hashable:
    return phase.title or None


def _number(phase: VersionPhase) -> Hashable:
    return (phase.number,)  # a single-phase document's phase has None for a number, and matches by it


def _match_equal(
    old: Sequence[VersionPhase], new: Sequence[VersionPhase], pairs: Pairs, key: Callable[[VersionPhase], Hashable]
) -> None:
    """Those of equal key, in order; None is no key."""
    taken = set(pairs.values())
    waiting: dict[Hashable, list[int]] = {}
    for index, phase in enumerate(old):
        if index not in taken:
            waiting.setdefault(key(phase), []).append(index)
    for index, phase in enumerate(new):
        wanted = key(phase)
        candidates = waiting.get(wanted)
        if wanted is not None and index not in pairs and candidates:
            pairs[index] = candidates.pop(0)


def _match_alike(old: Sequence[VersionPhase], new: Sequence[VersionPhase], pairs: Pairs) -> None:
    taken = set(pairs.values())
    before = {index: _sample(phase) for index, phase in enumerate(old) if index not in taken}
    after = {index: _sample(phase) for index, phase in enumerate(new) if index not in pairs}
    if not before or not after or len(before) * len(after) > _MOST_PAIRS:
        return
    # Most comparisons find every phase before this, so the library is loaded only here.
    from rapidfuzz import fuzz  # noqa: PLC0415 - see above

    scored = [
        (fuzz.ratio(text, other, score_cutoff=_ALIKE), index, place)
        for index, text in after.items()
        for place, other in before.items()
    ]
    for score, index, place in sorted(scored, key=lambda entry: (-entry[0], entry[1], entry[2])):
        if score >= _ALIKE and index in after and place in before:
            pairs[index] = place
            del after[index], before[place]


def _sample(phase: VersionPhase) -> str:
    return "\n".join((phase.title, *phase.text()))[:_COMPARED]
