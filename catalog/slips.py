"""Slips of the fingers: which known words a word may have been meant to be (T5, T6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from catalog.words import has_kanji

_KEYS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ALIKE_BY_EAR: Final = ("lr", "bv", "sz", "cs", "ck", "kq", "au", "ou", "ei", "iy", "mn", "uw", "fh", "jz", "gj")
_CONFUSED: Final = frozenset(frozenset(pair) for row in (*_KEYS, *_ALIKE_BY_EAR) for pair in pairwise(row))


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
        if _another_word(word, query, edits):
            continue
        # Two letters wrong make another word of most that are not long (projects, protests).
        yield Slip(word, 92 - 6 * edits - 2 * max(0, 6 - shorter), weak=edits > 1 and shorter < 10)


def close_words(query: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The positions of the words that so few edits (second) make of `query`, in a small choice: no other is meant."""
    most = allowed_edits(len(query), has_kanji(query))
    if most:
        for word, edits, position in extract(query, words, scorer=OSA.distance, score_cutoff=most, limit=None):
            if 0 < edits <= allowed_edits(min(len(word), len(query)), has_kanji(word) or has_kanji(query)):
                yield position, edits


def allowed_edits(length: int, kanji: bool) -> int:
    """A kanji carries a meaning, so words with kanji allow less; short words are close to too many others."""
    if kanji:
        return 0 if length < 5 else 1 if length < 9 else 2
    return 0 if length < 4 else 1 if length < 8 else 2 if length < 12 else 3


def _another_word(word: str, query: str, edits: int) -> bool:
    """One letter exchanged makes another word of a short one (zoom, room), unless by a slip to the next key or by ear.
    The first letter is seldom wrong, and with others it makes another word (black, older, research)."""
    place = _exchanged(word, query) if edits == 1 else None
    if place is not None:
        if len(word) < 5 or (place == 0 and (len(word) < 7 or word.isascii())):
            return True
        return word.isascii() and len(word) < 7 and frozenset((word[place], query[place])) not in _CONFUSED
    if word[0] == query[0] or word[:2] == query[1::-1] or not query[0].isalpha():
        return False
    return edits > 1 or (word.isascii() and min(len(word), len(query)) < 7)


def _exchanged(word: str, query: str) -> int | None:
    """Where the only letter is that differs between two words of one length."""
    if len(word) != len(query):
        return None
    differing = [index for index, (mine, theirs) in enumerate(zip(word, query, strict=True)) if mine != theirs]
    return differing[0] if len(differing) == 1 else None
