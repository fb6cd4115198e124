"""What somebody may have meant by a word that is no tool (T5) or no category of its tool (T6).

Only the catalog's words decide. One is *found* in what was written when it is equal (after `words.loose`), a plural,
the same but for what people add to any word (`会計システム`), sounds alike in the other script, is read alike
(`きんたい`), is cut short, is a close spelling, or stands in it as a whole word (`メール送信`). A tool's word and a
word of one of its categories together (`Googleカレンダー`) mean that category. Kinds of likeness are told
apart by a score from 0 to 100; the numbers only order them and cut off noise. `python -m
tests.catalog.measure_suggestions` says how often they are right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from catalog.affixes import barer
from catalog.category_likeness import CategoryQuery
from catalog.category_words import Target
from catalog.compiled import Entry
from catalog.fold import fold
from catalog.model import Tool
from catalog.slips import allowed_edits, find_slips
from catalog.word_index import EQUAL, LESS, PLURAL, WordIndex
from catalog.words import has_kanji, is_clip, is_hiragana, is_katakana, joined, joined_content, loose, runs, singular

_MAX_LENGTH: Final = 64
_MAX_RUNS: Final = 12
_MAX_REMEMBERED: Final = 4096
_LEAST_CLIP: Final = 3
_MOST_CLIPPED: Final = 6

_COMPOUND: Final = 95
_HEARD: Final = 90
_READ_ALIKE: Final = 88
_CLIPPED: Final = 80
_ONE_SLIP: Final = 84
_CUT_SHORT: Final = 84
_CONTAINED: Final = 70
_NOISE_BELOW_BEST: Final = 12

Scored = Iterator[tuple[Target, float]]


class Suggester:
    """Over the tools of one catalog. Built on the first mistake; remembers its answers."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._index = WordIndex(entries)
        self._answers: dict[tuple[str, str], tuple[str, ...]] = {}

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
        likenesses = CategoryQuery(written, self._index).likenesses(tool.name)
        order = sorted(range(len(tool.categories)), key=lambda place: -likenesses[place])
        return tuple(f"{tool.name} の {tool.categories[place].name}" for place in order)

    def _find(self, name: str, category: str) -> tuple[str, ...]:
        query = loose(name)
        if not 0 < len(query) <= _MAX_LENGTH:
            return ()
        scores = _best(self._likenesses(name, query))
        spoken_for = self._spoken_for(scores, category) if category else {}
        # The の may be part of a word (`会議の録画`) that no tool but a category has.
        whole = _best(self._whole(f"{name}の{category}")) if category else {}
        least = max(scores.values(), default=0) - _NOISE_BELOW_BEST
        found = {target: score for target, score in scores.items() if score >= least}
        tools = {target.tool for target in spoken_for}
        others = {target: score for target, score in whole.items() if target.tool not in tools}
        ranked = (target.text for each in (spoken_for, others, found) for target in _ranked(each))
        return tuple(dict.fromkeys(ranked))

    def _spoken_for(self, scores: dict[Target, float], written: str) -> dict[Target, float]:
        """The written category speaks for the tools that have it; a mere word for a category is put right too."""
        found: dict[Target, float] = {}
        tools_meant = {target.tool for target in self._index.words.get(loose(written), ()) if not target.category}
        query = CategoryQuery(written, self._index)
        for target, score in scores.items():
            meant = query.surely(target.tool) if not target.category else None
            if meant is not None:
                better = target if fold(meant[0].category) == fold(written) else meant[0]
                found[better] = max(found.get(better, 0), score)
            elif target.category and target.tool in tools_meant:
                found[target] = score
        return found

    def _whole(self, phrase: str) -> Scored:
        query = loose(phrase)
        if len(query) <= _MAX_LENGTH:
            yield from self._equal(phrase)
            yield from self._read_alike(query)
            yield from self._compounds(query, runs(phrase))

    def _read_alike(self, query: str) -> Scored:
        for key in self._index.read_alike(query):
            yield from ((target, _READ_ALIKE - (EQUAL - worth) / 2) for target, worth in self._index.words[key].items())

    def _likenesses(self, name: str, query: str) -> Scored:
        yield from self._equal(name)
        for target in (*self._index.heard(name), *self._index.misheard_names(name)):
            yield target, _HEARD
        yield from self._read_alike(query)
        slips = _best(self._misspelt(name, query))
        yield from slips.items()
        yield from self._clipped(query)
        pieces = runs(name)
        # A slip in a name that begins with another tool's (`salesforce_reords`) is not that tool with a category.
        meant = [target.tool for target, score in slips.items() if not target.category and score >= _ONE_SLIP]
        compounds = _best(
            each
            for each in self._compounds(query, pieces)
            if not any(tool.startswith(f"{each[0].tool}_") for tool in meant)
        )
        yield from compounds.items()
        explained = {target.tool for target in compounds}
        yield from (each for each in self._contained(query, pieces) if each[0].tool not in explained)

    def _equal(self, name: str) -> Scored:
        """Words that are the same but for plural, particles, and what people add to any word."""
        words = self._index.words
        pieces = runs(name)
        query, content = loose(name), joined_content(pieces)
        yield from words.get(query, {}).items()
        for form in (singular(query), content):
            yield from ((target, min(worth, PLURAL)) for target, worth in words.get(form, {}).items())
        # `請求書を送る` is about 請求書.
        acted_on = (joined_content(pieces[: pieces.index("を")]),) if "を" in pieces else ()
        for form in (*acted_on, *barer(content)):
            known = words.get(singular(form), {})
            yield from ((target, LESS) for target, worth in known.items() if worth >= LESS)
            if known:
                return

    def _misspelt(self, name: str, query: str) -> Scored:
        words = self._index.words
        near = self._index.of_about(len(query), allowed_edits(len(query), has_kanji(query)))
        for slip in find_slips(query, near):
            for target, worth in words[slip.word].items():
                if not (slip.weak and target.category):
                    yield target, slip.score - (EQUAL - worth) / 2
        long = len(query) >= (5 if query.isascii() else 4)
        if long or (len(query) == _LEAST_CLIP and is_katakana(name)):
            for word in self._index.cut_short(query):
                for target, worth in words[word].items():
                    if long or not target.category:
                        yield target, _CUT_SHORT - (EQUAL - worth) / 2

    def _clipped(self, query: str) -> Scored:
        """A tool and one of its categories, the beginnings of both as one word: `グルカレ`."""
        if not (4 <= len(query) <= _MOST_CLIPPED and is_katakana(query)):
            return
        for seam in range(2, len(query) - 1):
            head, tail = query[:seam], query[seam:]
            meant = {
                target for word in self._index.begin_with(tail) for target in self._index.words[word] if target.category
            }
            if meant:
                tools = {
                    target.tool
                    for word in self._index.begin_with(head[0])
                    if is_katakana(word) and is_clip(head, word)
                    for target in self._index.words[word]
                    if not target.category
                }
                yield from ((target, _CLIPPED) for target in meant if target.tool in tools)

    def _contained(self, query: str, pieces: tuple[str, ...]) -> Scored:
        """Words that stand in the query as whole runs of script, or begin or end it and make up at least half of it."""
        found = {word: False for _, _, word in _windows(pieces) if len(word) < len(query) <= 5 * len(word)}
        for length in range((len(query) + 1) // 2, len(query) - 1):
            for word in (query[:length], query[-length:]):
                if length >= (5 if word.isascii() else 3 if has_kanji(word) else 4):
                    found.setdefault(word, True)
        for word, seamless in found.items():
            targets = self._index.words.get(word, {})
            # Words that many tools have for a category (`search`) say nothing about the tool that is meant. Short
            # English words are in too many others (`read`, `web`), and so is whatever stands in the middle of a run
            # (`clickup`, `ジョブカン`): there only a tool's own name is worth it.
            tools_only = (
                len({target.tool for target in targets}) > 1
                or (word.isascii() and (seamless or len(word) < 5))
                or (seamless and len(word) * 3 < len(query) * 2)
            )
            for target, worth in targets.items():
                if worth >= PLURAL and not (tools_only and target.category):
                    yield target, _CONTAINED + 18 * len(word) / len(query)

    def _compounds(self, query: str, pieces: tuple[str, ...]) -> Scored:
        """Categories named together with their tool, as words of their own or without a seam."""
        for start, end, word in _windows(pieces):
            if word in self._index.words:
                yield from self._with_tool(word, joined_content((*pieces[:start], *pieces[end:])))
        for seam in range(2, len(query) - 1):
            head, tail = query[:seam], query[seam:]
            yield from self._with_tool(head, tail)
            yield from self._with_tool(tail, head)

    def _with_tool(self, word: str, rest: str) -> Scored:
        """What `rest` means with the tools that `word` is a word of."""
        known = self._index.words.get(word, {})
        tools = [(target.tool, worth) for target, worth in known.items() if not target.category]
        if tools and rest:
            asked = CategoryQuery(rest, self._index)
            for tool, worth in tools:
                meant = asked.surely(tool)
                # A piece of a tool's name is less than the name (`freee_sales`): there the rest must be a word.
                if meant is not None and (worth >= LESS or meant[1] >= EQUAL):
                    yield meant[0], _COMPOUND - (EQUAL - meant[1]) / 4


def _best(scored: Scored) -> dict[Target, float]:
    found: dict[Target, float] = {}
    for target, score in scored:
        found[target] = max(score, found.get(target, 0))
    return found


def _ranked(scores: dict[Target, float]) -> list[Target]:
    return [target for _, target in sorted((-score, target) for target, score in scores.items())]


def _windows(pieces: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    """From, to and what it says: neighbouring pieces as one word, at least two letters and not hiragana alone."""
    if 1 < len(pieces) <= _MAX_RUNS:
        for start in range(len(pieces)):
            for end in range(start + 1, len(pieces) + 1):
                word = joined(pieces[start:end])
                if len(word) > 1 and not (end == start + 1 and is_hiragana(pieces[start])):
                    yield start, end, word
