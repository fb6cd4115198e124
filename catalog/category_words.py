"""The words of one tool's categories, arranged so that few of them need comparing (T6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from catalog.affixes import is_generic
from catalog.model import Category
from catalog.sounds import Sound, sound
from catalog.words import joined_content, loose, runs, singular


class Target(NamedTuple):
    """What a word leads to. Its order breaks ties: tools before categories, then by name."""

    category: str
    tool: str

    @property
    def text(self) -> str:
        return f"{self.tool} の {self.category}" if self.category else self.tool


class CategoryWord(NamedTuple):
    """`place`: of its category. `core`: without particles and the tool's own name (`リニアの Issue`). `head`: the last
    of its pieces, which says what it is (`チャットのタスク` is a task). `hint`: neither the category's name nor title.
    """

    place: int
    text: str
    core: str
    pieces: frozenset[str]
    head: str
    sound: Sound
    hint: bool


class CategoryWords:
    """Of one tool. `by_form`: by text and core; `by_piece`, `by_sound` (consonants) likewise. `siblings`: for each
    category, those of any tool that share a word with it. `initials`: of names of several words (`pull_requests`).
    """

    def __init__(
        self,
        tool: str,
        categories: Sequence[Category],
        own: frozenset[str],
        known: Mapping[str, Mapping[Target, float]],
    ) -> None:
        """`own`: the tool's words, loosened. `known`: every word of the catalog, and what it leads to."""
        self.targets = tuple(Target(category.name, tool) for category in categories)
        self.words = tuple(
            _word(place, each, own, hint=position > 1)
            for place, category in enumerate(categories)
            for position, each in enumerate((category.name, category.title, *category.hints))
        )
        self.texts = tuple(word.text for word in self.words)
        self.by_form = _grouped(self.words, lambda word: {word.text, word.core})
        self.by_piece = _grouped(self.words, lambda word: word.pieces)
        self.by_sound = _grouped(self.words, lambda word: {word.sound.consonants} - {""})
        self.initials = {initials: place for place, each in enumerate(categories) if (initials := _initials(each.name))}
        self.siblings = tuple(
            frozenset(
                target
                for word in self.words
                if word.place == place
                for target in known.get(word.text, ())  # signs alone, as in a title `―`, lead nowhere
                if target.category
            )
            for place in range(len(categories))
        )


def content(pieces: Sequence[str]) -> list[str]:
    """The words of `runs`, if there are any without those that are said of everything."""
    found = [singular(piece) for piece in pieces if len(piece) > 1]
    return [piece for piece in found if not is_generic(piece)] or found


def _word(place: int, word: str, own: frozenset[str], *, hint: bool) -> CategoryWord:
    pieces = runs(word)
    others = tuple(piece for piece in pieces if piece not in own) or pieces
    core = singular(joined_content(others))
    said = [singular(piece) for piece in others if len(piece) > 1]
    head = said[-1] if said else ""
    return CategoryWord(place, singular(loose(word)), core, frozenset(said), head, sound(singular(word)), hint)


def _initials(name: str) -> str:
    pieces = runs(name)
    return "".join(piece[0] for piece in pieces) if len(pieces) > 1 else ""


def _grouped(
    words: Sequence[CategoryWord], keys: Callable[[CategoryWord], frozenset[str] | set[str]]
) -> dict[str, list[CategoryWord]]:
    found: dict[str, list[CategoryWord]] = {}
    for word in words:
        for key in keys(word):
            found.setdefault(key, []).append(word)
    return found
