"""What somebody may have meant by a word that is no tool (T5) or no category of its tool (T6).

Only the catalog's words decide. One is *found* in what was written when it is equal (after `words.loose`), a plural, a
close spelling, or stands in it as a whole word (`メール送信`). A tool's word and a word of one of its categories
together (`Googleカレンダー`) mean that category. Kinds of likeness are told apart by a score from 0 to 100; the
numbers only order them and cut off noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from catalog.compiled import Entry
from catalog.fold import fold
from catalog.model import Category, Tool
from catalog.words import has_kanji, loose, runs, singular

_MAX_LENGTH = 64
_MAX_RUNS = 12
_MAX_REMEMBERED = 4096

_EQUAL = 100
_PLURAL = 97
_COMPOUND = 95
_PART = 85
_WRITTEN_CATEGORY = 3
_NOISE_BELOW_BEST = 12


class _Target(NamedTuple):
    """What a word leads to. Its order breaks ties: tools before categories, then by name."""

    category: str
    tool: str

    @property
    def text(self) -> str:
        return f"{self.tool} の {self.category}" if self.category else self.tool


class Suggester:
    """Over the tools of one catalog. Built on the first mistake; remembers its answers."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._words: dict[str, dict[_Target, float]] = {}
        self._category_words: dict[str, dict[str, _Target]] = {}
        for entry in entries:
            self._learn(entry)
        self._keys = tuple(self._words)
        self._answers: dict[tuple[str, str], tuple[str, ...]] = {}

    def _learn(self, entry: Entry) -> None:
        tool = _Target("", entry.name)
        for word in (entry.name, entry.title, *entry.hints):
            self._add(word, tool, _EQUAL)
        for name in (entry.name, entry.title):
            for part in runs(name):
                if len(part) >= _least_part(part):
                    self._add(part, tool, _PART)
        own: dict[str, _Target] = {}
        for category in entry.categories:
            target = _Target(category.name, entry.name)
            for word in (category.name, category.title, *category.hints):
                self._add(word, target, _EQUAL)
                own.setdefault(singular(loose(word)), target)
        self._category_words[entry.name] = own

    def _add(self, word: str, target: _Target, score: float) -> None:
        key = loose(word)
        for spelling, worth in ((key, score), (singular(key), min(score, _PLURAL))):
            if spelling:
                known = self._words.setdefault(spelling, {})
                known[target] = max(known.get(target, 0), worth)

    def tools(self, name: str, category: str | None) -> tuple[str, ...]:
        """For an item `NAME` or `NAME の CATEGORY` that names no tool: best first (T5)."""
        asked = (name, category or "")
        answer = self._answers.get(asked)
        if answer is None:
            if len(self._answers) >= _MAX_REMEMBERED:
                self._answers.clear()
            answer = self._answers[asked] = self._find(*asked)
        return answer

    def categories(self, tool: Tool, written: str) -> tuple[str, ...]:
        """`TOOL の CATEGORY`: the tool's categories, closest first, then in the catalog's order (T6)."""
        query = loose(written)[:_MAX_LENGTH]
        scored = sorted((-_category_likeness(query, entry), index) for index, entry in enumerate(tool.categories))
        return tuple(f"{tool.name} の {tool.categories[index].name}" for _, index in scored)

    def _find(self, name: str, category: str) -> tuple[str, ...]:
        query = loose(name)
        if not 0 < len(query) <= _MAX_LENGTH:
            return ()
        scores: dict[_Target, float] = {}
        for target, score in self._likenesses(query, runs(name)):
            scores[target] = max(score, scores.get(target, 0))
        if not scores:
            return ()
        if category:
            self._weigh_category(scores, category)
        least = max(scores.values()) - _NOISE_BELOW_BEST
        ranked = sorted((-score, target) for target, score in scores.items() if score >= least)
        return tuple(target.text for _, target in ranked)

    def _weigh_category(self, scores: dict[_Target, float], written: str) -> None:
        """The written category speaks for the tools that have it; a mere word for a category is put right too."""
        word = singular(loose(written))
        for tool in [target for target in scores if not target.category]:
            meant = self._category_words[tool.tool].get(word)
            if meant is None:
                continue
            better = tool if fold(meant.category) == fold(written) else meant
            scores[better] = max(scores.get(better, 0), scores[tool] + _WRITTEN_CATEGORY)

    def _likenesses(self, query: str, pieces: tuple[str, ...]) -> Iterator[tuple[_Target, float]]:
        yield from self._words.get(query, {}).items()
        for target, score in self._words.get(singular(query), {}).items():
            yield target, min(score, _PLURAL)
        yield from self._typos(query)
        contained = dict(self._contained(query, pieces))
        compounds = set(self._compounds(query, contained))
        for target in compounds:
            yield target, _COMPOUND
        explained = {target.tool for target in compounds}
        for target, score in contained.items():
            if target.tool not in explained:
                yield target, score

    def _typos(self, query: str) -> Iterator[tuple[_Target, float]]:
        most = _allowed_edits(len(query), has_kanji(query))
        if most == 0:
            return
        for word, edits, _ in extract(query, self._keys, scorer=OSA.distance, score_cutoff=most, limit=None):
            shorter = min(len(word), len(query))
            if edits == 0 or edits > _allowed_edits(shorter, has_kanji(word) or has_kanji(query)):
                continue
            if edits == 1 and _too_weak(word, query):
                continue
            # An English word of five letters becomes too many others (block, black) to be a category's.
            tools_only = edits == 1 and _exchanged(word, query) is not None and len(query) < 6 and word.isascii()
            score = 92 - 6 * edits - 2 * max(0, 6 - shorter)
            for target, worth in self._words[word].items():
                if not (tools_only and target.category):
                    yield target, score - (_EQUAL - worth) / 2

    def _contained(self, query: str, pieces: tuple[str, ...]) -> Iterator[tuple[_Target, float]]:
        """Words that stand in the query as whole runs of script, or begin or end it and make up at least half of it."""
        found: set[str] = set()
        if 1 < len(pieces) <= _MAX_RUNS:
            for start in range(len(pieces)):
                for end in range(start + 1, len(pieces) + 1):
                    word = "".join(pieces[start:end])
                    if 1 < len(word) < len(query) and len(word) * 5 >= len(query):
                        found.add(word)
        for length in range((len(query) + 1) // 2, len(query) - 1):
            for word in (query[:length], query[-length:]):
                if length >= (5 if word.isascii() else 3):
                    found.add(word)
        best: dict[_Target, float] = {}
        for word in found:
            targets = self._words.get(word, {})
            # Words that many tools have for a category (`search`) say nothing about the tool that is meant, and short
            # English words are in too many others (`read`, `web`): there only a tool's own name is worth it.
            tools_only = len({target.tool for target in targets}) > 1 or (word.isascii() and len(word) < 5)
            for target, worth in targets.items():
                if worth >= _PLURAL and not (tools_only and target.category):
                    best[target] = max(best.get(target, 0), 70 + 18 * len(word) / len(query))
        yield from best.items()

    def _compounds(self, query: str, contained: dict[_Target, float]) -> Iterator[_Target]:
        """Categories named together with their tool: both contained, or put together without a seam."""
        tools = {target.tool for target in contained if not target.category}
        yield from (target for target in contained if target.category and target.tool in tools)
        for seam in range(2, len(query) - 1):
            heads, tails = self._words.get(query[:seam]), self._words.get(query[seam:])
            if heads and tails:
                named = {target.tool for target in (*heads, *tails) if not target.category}
                yield from (target for target in (*heads, *tails) if target.category and target.tool in named)


def _category_likeness(query: str, category: Category) -> float:
    best = 0.0
    for each in (category.name, category.title, *category.hints):
        word = loose(each)
        if not word or not query:
            continue
        if singular(word) == singular(query):
            return _EQUAL
        shorter, longer = sorted((word, query), key=len)
        part = 70 + 18 * len(shorter) / len(longer) if len(shorter) > 1 and shorter in longer else 0
        best = max(best, part, round(80 * OSA.normalized_similarity(word, query)))
    return best


def _least_part(part: str) -> int:
    """How long a piece of a name must be to stand for the name."""
    return 4 if part.isascii() else 2 if has_kanji(part) else 3


def _allowed_edits(length: int, kanji: bool) -> int:
    """A kanji carries a meaning, so words with kanji allow less; short words are close to too many others."""
    if kanji:
        return 0 if length < 5 else 1 if length < 9 else 2
    return 0 if length < 4 else 1 if length < 8 else 2 if length < 12 else 3


def _too_weak(word: str, query: str) -> bool:
    """One letter exchanged makes another word of a very short one (zoom, room); so does the first letter (black)."""
    place = _exchanged(word, query)
    return place is not None and (len(word) < 5 or (len(word) < 7 and place == 0))


def _exchanged(word: str, query: str) -> int | None:
    """Where the only letter is that differs between two words of one length."""
    if len(word) != len(query):
        return None
    differing = [index for index, (mine, theirs) in enumerate(zip(word, query, strict=True)) if mine != theirs]
    return differing[0] if len(differing) == 1 else None
