"""Every word of a catalog's tools and categories, and what it leads to (T5, T6)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from catalog.affixes import is_generic, without_thing
from catalog.compiled import Entry
from catalog.model import Category
from catalog.sounds import Sound, sound, sounds_alike
from catalog.words import has_kanji, joined, joined_content, loose, runs, singular

EQUAL: Final = 100
PLURAL: Final = 97
LESS: Final = 94
PART: Final = 85

_LEAST_CONSONANTS: Final = 3


class Target(NamedTuple):
    """What a word leads to. Its order breaks ties: tools before categories, then by name."""

    category: str
    tool: str

    @property
    def text(self) -> str:
        return f"{self.tool} の {self.category}" if self.category else self.tool


class Word(NamedTuple):
    """One word of a category, in the forms in which it is compared: `core` has no particles, and not the tool's own
    name (`リニアの Issue`), `pieces` are the words in it that say something."""

    text: str
    core: str
    pieces: frozenset[str]
    sound: Sound
    kanji: bool


class CategoryWords(NamedTuple):
    """`initials`: of a name of several words (`pull_requests`), empty for others. The first two words are the name and
    the title."""

    target: Target
    initials: str
    words: tuple[Word, ...]


class WordIndex:
    """`words`: what a loosened word leads to, and how sure that is (0 to 100). `keys`: all of them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.words: dict[str, dict[Target, float]] = {}
        self.categories: dict[str, tuple[CategoryWords, ...]] = {}
        self._english: dict[str, list[tuple[Sound, Target]]] = {}
        self._katakana: dict[str, list[tuple[Sound, Target]]] = {}
        self._spoken = _spoken(entries)
        of_one_run: set[str] = set()
        for entry in entries:
            of_one_run.update(self._learn(entry))
        self.keys = tuple(self.words)
        self._single = sorted(of_one_run)

    def heard(self, word: str) -> Iterator[Target]:
        """What a katakana word leads to by an English one, and the other way round. An English word is more likely to
        be just another one that sounds alike (last, レシート)."""
        heard = sound(singular(word.lower()))
        if word.isascii():
            if heard.length > _LEAST_CONSONANTS:
                known = self._katakana.get(heard.consonants, ())
                yield from (target for other, target in known if sounds_alike(heard, other))
        elif heard.length >= _LEAST_CONSONANTS:
            known = self._english.get(heard.consonants, ())
            yield from (target for other, target in known if sounds_alike(other, heard))

    def cut_short(self, query: str) -> Iterator[str]:
        """Words that people say the beginning of (`コンフル`), if that is no word before another one (`ビジネスチャット`)."""
        for place in range(bisect_left(self._single, query), len(self._single)):
            word = self._single[place]
            if not word.startswith(query):
                return
            if len(query) < len(word) <= 2 * len(query) and word[len(query) :] not in self.words:
                yield word

    def _learn(self, entry: Entry) -> Iterator[str]:
        """Yields the words that are one run."""
        tool = Target("", entry.name)
        own: set[str] = set()
        for word in (entry.name, entry.title, *entry.hints):
            yield from self._add(word, tool)
            own.add(loose(word))
        for name in (entry.name, entry.title):
            for part in runs(name):
                if len(part) >= _least_part(part):
                    self._add_form(part, tool, PART)
        found: list[CategoryWords] = []
        for category in entry.categories:
            for word in (category.name, category.title, *category.hints):
                yield from self._add(word, Target(category.name, entry.name))
            found.append(_category_words(entry.name, category, own))
        self.categories[entry.name] = tuple(found)

    def _add(self, word: str, target: Target) -> Iterator[str]:
        for spelling in (word, *self._respoken(word)):
            key = loose(spelling)
            self._add_form(key, target, EQUAL)
            self._add_form(singular(key), target, PLURAL)
            self._add_form(without_thing(key), target, LESS)
        pieces = runs(word)
        if len(pieces) == 1:
            yield loose(word)
        else:
            self._add_form(joined_content(pieces), target, PLURAL)
        heard = sound(singular(word))
        if heard.length >= _LEAST_CONSONANTS:
            known = self._english if word.isascii() else self._katakana
            known.setdefault(heard.consonants, []).append((heard, target))

    def _add_form(self, key: str, target: Target, worth: float) -> None:
        if key:
            known = self.words.setdefault(key, {})
            known[target] = max(known.get(target, 0), worth)

    def _respoken(self, word: str) -> Iterator[str]:
        """`freeeサイン` in katakana alone: with the name of another tool as that tool spells it."""
        pieces = runs(word)
        if len(pieces) < 2:
            return
        for index, piece in enumerate(pieces):
            for spoken in self._spoken.get(piece, ()):
                yield joined((*pieces[:index], spoken, *pieces[index + 1 :]))


def content(pieces: Sequence[str]) -> frozenset[str]:
    """The words of `runs` that say something."""
    found = (singular(piece) for piece in pieces if len(piece) > 1)
    return frozenset(piece for piece in found if not is_generic(piece))


def _category_words(tool: str, category: Category, own: set[str]) -> CategoryWords:
    words: list[Word] = []
    for each in (category.name, category.title, *category.hints):
        pieces = runs(each)
        others = [piece for piece in pieces if piece not in own] or pieces
        text, core = singular(loose(each)), singular(joined_content(others))
        words.append(Word(text, core, content(others), sound(singular(each)), has_kanji(text)))
    name = runs(category.name)
    initials = "".join(piece[0] for piece in name) if len(name) > 1 else ""
    return CategoryWords(Target(category.name, tool), initials, tuple(words))


def _spoken(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """English words of tools, with the katakana words of the same tool that sound like them."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        english, katakana = list[tuple[str, Sound]](), list[tuple[str, Sound]]()
        for word in (entry.name, entry.title, *entry.hints):
            heard = sound(word)
            if heard.length and len(runs(word)) == 1:
                (english if word.isascii() else katakana).append((loose(word), heard))
        for word, heard in english:
            found.setdefault(word, set()).update(spoken for spoken, other in katakana if sounds_alike(heard, other))
    return found


def _least_part(part: str) -> int:
    """How long a piece of a name must be to stand for the name."""
    return 4 if part.isascii() else 2 if has_kanji(part) else 3
