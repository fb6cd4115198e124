"""Every word of a catalog's tools and categories, and what it leads to (T5, T6)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from catalog.affixes import without_thing
from catalog.category_words import CategoryWords, Target
from catalog.compiled import Entry
from catalog.readings import first_sounds, read_alike
from catalog.sounds import Sound, sound, sounds_alike
from catalog.words import has_kanji, joined, joined_content, loose, loose_and_runs, runs, singular

EQUAL: Final = 100
PLURAL: Final = 97
LESS: Final = 94
PART: Final = 85

_LEAST_CONSONANTS: Final = 3
_LEAST_READ: Final = 2
_LEAST_NAME: Final = 4
_DOUBLED: Final = re.compile(r"(.)\1+")
_MARK: Final = re.compile("[ _-]")
_WORD_OF_NAME: Final = re.compile("[A-Z]?[a-z]+")
_VOWEL: Final = re.compile("[aeiou]")


class WordIndex:
    """`words`: what a loosened word leads to, and how sure that is (0 to 100). `keys`: all of them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.words: dict[str, dict[Target, float]] = {}
        self._entries = {entry.name: entry for entry in entries}
        self._categories: dict[str, CategoryWords] = {}
        self._english: dict[str, list[tuple[Sound, Target]]] = {}
        self._katakana: dict[str, list[tuple[Sound, Target]]] = {}
        self._names: dict[str | Sound, list[Target]] = {}
        self._spoken = _spoken(entries)
        of_one_run: set[str] = set()
        for entry in entries:
            of_one_run.update(self._learn(entry))
        self.keys = tuple(self.words)
        self._of_lengths: dict[tuple[int, int], tuple[str, ...]] = {}
        self._by_first_sound: dict[str, list[str]] = {}
        self._single = sorted(of_one_run)

    def of_about(self, length: int, more_or_less: int) -> tuple[str, ...]:
        """The keys whose lengths differ from `length` by at most so many: no other is so few edits away."""
        known = self._of_lengths.get((length, more_or_less))
        if known is None:
            least, most = length - more_or_less, length + more_or_less
            known = tuple(key for key in self.keys if least <= len(key) <= most)
            self._of_lengths[length, more_or_less] = known
        return known

    def category_words(self, tool: str) -> CategoryWords:
        found = self._categories.get(tool)
        if found is None:
            entry = self._entries[tool]
            own = frozenset(map(loose, (entry.name, entry.title, *entry.hints)))
            found = self._categories[tool] = CategoryWords(tool, entry.categories, own, self.words)
        return found

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

    def misheard_names(self, word: str) -> Iterator[Target]:
        """Tools whose English name or title sounds the same to Japanese ears (`zira`), or is the same but for letters
        that are doubled (`zomm`)."""
        query = loose(word)
        if len(query) >= _LEAST_NAME and query.isascii():
            for form in _forms_of_name(query):
                yield from self._names.get(form, ())

    def read_alike(self, query: str) -> Iterator[str]:
        """Keys with kanji that are read as `query` is: in kana (`きんたい`), or with other kanji (`勤待`)."""
        if query.isascii() or len(query) < _LEAST_READ:
            return
        if not self._by_first_sound:
            for key in filter(has_kanji, self.keys):
                for kana in first_sounds(key):
                    self._by_first_sound.setdefault(kana, []).append(key)
        near = {key: None for kana in first_sounds(query) for key in self._by_first_sound.get(kana, ())}
        kanji = sum(map(has_kanji, query))
        # A kanji is one kana or more; in kana alone one kanji says too little.
        for key in near:
            fits = len(key) == len(query) if kanji == len(query) else len(key) <= len(query)
            if fits and key != query and read_alike(query, key) and (kanji or sum(map(has_kanji, key)) > 1):
                yield key

    def cut_short(self, query: str) -> Iterator[str]:
        """Words that people say the beginning of (`コンフル`), but no word before another one (`ビジネス`), unless that
        leads to the same (`スプレッド`)."""
        for place in range(bisect_left(self._single, query), len(self._single)):
            word = self._single[place]
            if not word.startswith(query):
                return
            rest = self.words.get(word[len(query) :], {})
            if len(query) < len(word) <= 2 * len(query) and (not rest or rest.keys() >= self.words[word].keys()):
                yield word

    def begin_with(self, start: str) -> Iterator[str]:
        """Words of one run that begin so."""
        for place in range(bisect_left(self._single, start), len(self._single)):
            if not self._single[place].startswith(start):
                return
            yield self._single[place]

    def _learn(self, entry: Entry) -> Iterator[str]:
        """Yields the words that are one run."""
        tool = Target("", entry.name)
        for word in (entry.name, entry.title, *entry.hints):
            yield from self._add(word, tool)
        for name in (entry.name, entry.title):
            for form in _forms_of_name(loose(name)):
                self._names.setdefault(form, []).append(tool)
            if initials := _initials(name):
                self._add_form(initials, tool, LESS)
            for part in runs(name):
                if len(part) >= _least_part(part):
                    self._add_form(part, tool, PART)
        for category in entry.categories:
            if initials := _initials(category.name):
                self._add_form(initials, Target(category.name, entry.name), LESS)
            for word in (category.name, category.title, *category.hints):
                yield from self._add(word, Target(category.name, entry.name))

    def _add(self, word: str, target: Target) -> Iterator[str]:
        text, pieces = loose_and_runs(word)
        for key in (text, *self._respoken(pieces)):
            self._add_form(key, target, EQUAL)
            self._add_form(singular(key), target, PLURAL)
            self._add_form(without_thing(key), target, LESS)
        if len(pieces) == 1:
            yield text
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

    def _respoken(self, pieces: tuple[str, ...]) -> Iterator[str]:
        """`freeeサイン` in katakana alone: with the name of another tool as that tool spells it."""
        if len(pieces) < 2:
            return
        for index, piece in enumerate(pieces):
            for spoken in self._spoken.get(piece, ()):
                yield joined((*pieces[:index], spoken, *pieces[index + 1 :]))


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


def _forms_of_name(name: str) -> Iterator[str | Sound]:
    """What two loosened English names have in common that are soon taken for each other."""
    if name.isascii() and name.isalpha():
        yield _DOUBLED.sub(r"\1", name)
        if (heard := sound(name)).length > 1:
            yield heard


def _initials(name: str) -> str:
    """Of a name of several words (`BigQuery`, `merge_requests`); with a vowel they are soon another word."""
    words = _WORD_OF_NAME.findall(name)
    found = "".join(word[0] for word in words).lower()
    return found if len(words) > 1 and "".join(words) == _MARK.sub("", name) and not _VOWEL.search(found) else ""


def _least_part(part: str) -> int:
    """How long a piece of a name must be to stand for the name."""
    return 4 if part.isascii() else 2 if has_kanji(part) else 3
