"""Slips of the fingers: which known words a word may have been meant to be (T5, T6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from catalog.words import has_kanji


class Slip(NamedTuple):
    """`score`: from 0 to 100. `weak`: not unlikely another word, so that only a tool's name is worth it."""

    word: str
    score: float
    weak: bool


def find_slips(query: str, words: Sequence[str]) -> Iterator[Slip]:
    """Of `words` those that few edits make of `query` (a swap of neighbours is one)."""
    most = allowed_edits(len(query), has_kanji(query))
    if most == 0:
        return
    for word, edits, _ in extract(query, words, scorer=OSA.distance, score_cutoff=most, limit=None):
        shorter = min(len(word), len(query))
        if edits == 0 or edits > allowed_edits(shorter, has_kanji(word) or has_kanji(query)):
            continue
        place = _exchanged(word, query) if edits == 1 else None
        if _another_word(word, query, edits, place):
            continue
        # An English word of five letters becomes too many others when one is exchanged (block, black), a longer one
        # when two are (projects, protests).
        weak = len(query) < 6 and word.isascii() if place is not None else edits > 1 and shorter < 10
        yield Slip(word, 92 - 6 * edits - 2 * max(0, 6 - shorter), weak)


def allowed_edits(length: int, kanji: bool) -> int:
    """A kanji carries a meaning, so words with kanji allow less; short words are close to too many others."""
    if kanji:
        return 0 if length < 5 else 1 if length < 9 else 2
    return 0 if length < 4 else 1 if length < 8 else 2 if length < 12 else 3


def _another_word(word: str, query: str, edits: int, place: int | None) -> bool:
    """One letter exchanged makes another word of a very short one (zoom, room). The first letter is seldom wrong, and
    with others it makes another word (black, older, research)."""
    if place is not None and (len(word) < 5 or (place == 0 and (len(word) < 7 or word.isascii()))):
        return True
    if word[0] == query[0] or word[:2] == query[1::-1]:
        return False
    return edits > 1 or (word.isascii() and min(len(word), len(query)) < 7)


def _exchanged(word: str, query: str) -> int | None:
    """Where the only letter is that differs between two words of one length."""
    if len(word) != len(query):
        return None
    differing = [index for index, (mine, theirs) in enumerate(zip(word, query, strict=True)) if mine != theirs]
    return differing[0] if len(differing) == 1 else None
