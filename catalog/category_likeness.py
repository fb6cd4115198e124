"""How like a word is to each category of one tool (T6), from 0 to 100."""

from __future__ import annotations

from typing import Final

from rapidfuzz.distance import OSA

from catalog.affixes import barer, is_generic
from catalog.slips import allowed_edits
from catalog.sounds import sound, sounds_alike
from catalog.word_index import EQUAL, CategoryWords, Target, Word, WordIndex, content
from catalog.words import has_kanji, joined_content, loose, runs, singular

SURE: Final = 84
"""From here on a category is meant; below, likeness only orders the categories that there are."""

_CORE: Final = 99
_BARE: Final = 96
_INITIALS: Final = 93
_HEARD: Final = 92
_SLIP: Final = 92
_ELSEWHERE: Final = 88
_PIECE: Final = 86
_INSIDE: Final = 70
_ALIKE: Final = 60
_LESS_FOR_A_HINT: Final = 2

_MAX_LENGTH: Final = 64
_LEAST_CONSONANTS: Final = 2


class CategoryQuery:
    """A word, in the forms in which it is compared with the categories of several tools."""

    def __init__(self, written: str, index: WordIndex) -> None:
        written = written[:_MAX_LENGTH]
        pieces = runs(written)
        self._index = index
        self._query = singular(loose(written)[:_MAX_LENGTH])
        self._core = singular(joined_content(pieces))
        self._bare = frozenset(singular(form) for form in barer(self._core))
        self._pieces = content(pieces)
        self._sound = sound(singular(written.lower()))
        self._ascii = self._query.isascii()
        self._kanji = has_kanji(self._query)
        self._elsewhere = self._known_elsewhere()

    def surely(self, tool: str) -> tuple[Target, float] | None:
        """The category of `tool` that the word means, and how sure that is; None if none."""
        if not self._query or is_generic(self._query):
            return None
        found = [(self._meant(category), category.target) for category in self._index.categories.get(tool, ())]
        best = max(found, key=lambda each: each[0], default=(0.0, Target("", tool)))
        return (best[1], best[0]) if best[0] >= SURE else None

    def likenesses(self, tool: str) -> list[float]:
        """In the order of the tool's categories."""
        categories = self._index.categories.get(tool, ())
        if not self._query:
            return [0.0] * len(categories)
        return [max(self._meant(each), max(map(self._alike, each.words))) for each in categories]

    def _meant(self, category: CategoryWords) -> float:
        best = 0.0
        for place, word in enumerate(category.words):
            likeness = self._word(word)
            # A name and a title say what a category is; a hint (`アプリのレコード`) may only mention another one.
            best = max(best, likeness - _LESS_FOR_A_HINT if place > 1 and likeness < _CORE else likeness)
        if best < _INITIALS and self._query == category.initials:
            return _INITIALS
        return _ELSEWHERE if best < _ELSEWHERE and self._shared(category) else best

    def _word(self, word: Word) -> float:
        """How surely the word is meant; 0 for what is at best alike."""
        if word.text == self._query:
            return EQUAL
        if word.core == self._core:
            return _CORE
        if word.core in self._bare or word.text in self._bare:
            return _BARE
        best = 0.0
        if word.sound.length == self._sound.length >= _LEAST_CONSONANTS and self._ascii != word.text.isascii():
            pair = (self._sound, word.sound) if self._ascii else (word.sound, self._sound)
            best = _HEARD if sounds_alike(*pair) else 0.0
        return max(best, self._common(word), self._slip(word))

    def _common(self, word: Word) -> float:
        """Whole words of one that are all of the other."""
        common = self._pieces & word.pieces
        if not common or not (len(common) == len(self._pieces) or len(common) == len(word.pieces)):
            return 0.0
        return _PIECE + 8 * sum(map(len, common)) / sum(map(len, self._pieces | word.pieces))

    def _slip(self, word: Word) -> float:
        """Few edits away."""
        most = allowed_edits(min(len(word.text), len(self._query)), self._kanji or word.kanji)
        if abs(len(word.text) - len(self._query)) > most or not most:
            return 0.0
        edits = OSA.distance(word.text, self._query, score_cutoff=most)
        return _SLIP - 4 * edits if edits <= most else 0.0

    def _alike(self, word: Word) -> float:
        """Part of it, or as many letters in common as there are: this only orders."""
        shorter, longer = sorted((word.text, self._query), key=len)
        if len(shorter) > 1 and shorter in longer:
            return _INSIDE + 8 * len(shorter) / len(longer)
        return _ALIKE * OSA.normalized_similarity(word.text, self._query)

    def _known_elsewhere(self) -> frozenset[Target]:
        """The categories of any tool that the word is a word of."""
        for form in (self._query, self._core, *self._bare):
            found = frozenset(target for target in self._index.words.get(form, ()) if target.category)
            if found:
                return found
        return frozenset()

    def _shared(self, category: CategoryWords) -> bool:
        """Whether one of those has a word of this one (`jira の 課題`: both have `issues`)."""
        if not self._elsewhere:
            return False
        return any(not self._elsewhere.isdisjoint(self._index.words[word.text]) for word in category.words)
