"""How like a word is to each category of one tool (T6), from 0 to 100."""

from __future__ import annotations

from typing import Final

from rapidfuzz.distance import OSA

from catalog.affixes import barer, is_generic
from catalog.category_words import CategoryWord, CategoryWords, Target, content
from catalog.slips import close_words
from catalog.sounds import sound, sounds_alike
from catalog.word_index import WordIndex
from catalog.words import joined_content, loose, runs, singular

SURE: Final = 84
"""From here on a category is meant; below, likeness only orders the categories that there are."""

EQUAL: Final = 100
_CORE: Final = 99
_BARE: Final = 96
_INITIALS: Final = 93
_HEARD: Final = 92
_SLIP: Final = 92
_READ_ALIKE: Final = 90
_ELSEWHERE: Final = 88
_PIECE: Final = 86
_MODIFIER: Final = 75
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
        self._bare = tuple(dict.fromkeys(singular(form) for form in barer(self._core)))
        said = content(pieces)
        self._pieces = frozenset(said)
        self._head = said[-1] if said else ""
        self._sound = sound(singular(written.lower()))
        self._ascii = self._query.isascii()
        self._elsewhere = self._known_elsewhere()
        self._read_alike = tuple(index.read_alike(self._query))

    def surely(self, tool: str) -> tuple[Target, float] | None:
        """The category of `tool` that the word means, and how sure that is; None if none."""
        categories = self._index.category_words(tool)
        meant = self._meant(categories)
        if not meant:
            return None
        place = max(meant, key=lambda each: (meant[each], -each))
        least = _CORE if is_generic(self._query) else SURE
        return (categories.targets[place], meant[place]) if meant[place] >= least else None

    def likenesses(self, tool: str) -> list[float]:
        """In the order of the tool's categories."""
        categories = self._index.category_words(tool)
        likenesses = [0.0] * len(categories.targets)
        if self._query:
            for word in categories.words:
                likenesses[word.place] = max(likenesses[word.place], self._alike(word.text))
        for place, likeness in self._meant(categories).items():
            likenesses[place] = max(likenesses[place], likeness)
        return likenesses

    def _meant(self, categories: CategoryWords) -> dict[int, float]:
        """By the category's place: those that may well be meant."""
        found: dict[int, float] = {}

        def note(word: CategoryWord, likeness: float) -> None:
            # A name and a title say what a category is; a hint (`アプリのレコード`) may only mention another one.
            worth = likeness - _LESS_FOR_A_HINT if word.hint and likeness < _CORE else likeness
            found[word.place] = max(worth, found.get(word.place, 0))

        for form, likeness in ((self._query, EQUAL), (self._core, _CORE), *((bare, _BARE) for bare in self._bare)):
            for word in categories.by_form.get(form, ()):
                note(word, likeness)
        for form in self._read_alike:
            for word in categories.by_form.get(form, ()):
                note(word, _READ_ALIKE)
        for word in categories.by_sound.get(self._sound.consonants, ()):
            if self._heard(word):
                note(word, _HEARD)
        for piece in self._pieces:
            for word in categories.by_piece.get(piece, ()):
                note(word, self._common(word))
        for position, edits in close_words(self._query, categories.texts):
            note(categories.words[position], _SLIP - 4 * edits)
        if self._query in categories.initials:
            place = categories.initials[self._query]
            found[place] = max(_INITIALS, found.get(place, 0))
        if self._elsewhere:
            # Another tool's category of that word has a word of this one (`jira の 課題`: both have `issues`).
            for place, siblings in enumerate(categories.siblings):
                if not self._elsewhere.isdisjoint(siblings):
                    found[place] = max(_ELSEWHERE, found.get(place, 0))
        return found

    def _heard(self, word: CategoryWord) -> bool:
        if self._sound.length < _LEAST_CONSONANTS or self._ascii == word.text.isascii():
            return False
        return sounds_alike(self._sound, word.sound) if self._ascii else sounds_alike(word.sound, self._sound)

    def _common(self, word: CategoryWord) -> float:
        """Whole words of one that are all of the other; less where the other is about something else, as
        `チャットのタスク` is for `チャット`."""
        common = self._pieces & word.pieces
        if len(common) < min(len(self._pieces), len(word.pieces)):
            return 0.0
        least = _PIECE if self._head == word.head else _MODIFIER
        return least + 8 * sum(map(len, common)) / sum(map(len, self._pieces | word.pieces))

    def _alike(self, text: str) -> float:
        """Part of it, or as many letters in common as there are: this only orders."""
        shorter, longer = sorted((text, self._query), key=len)
        if len(shorter) > 1 and shorter in longer:
            return _INSIDE + 8 * len(shorter) / len(longer)
        return _ALIKE * OSA.normalized_similarity(text, self._query)

    def _known_elsewhere(self) -> frozenset[Target]:
        """The categories of any tool that the word is a word of."""
        for form in (self._query, self._core, *self._bare):
            found = frozenset(target for target in self._index.words.get(form, ()) if target.category)
            if found:
                return found
        return frozenset()
