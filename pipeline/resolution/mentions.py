"""Where a connector's name stands in prose (T9)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from catalog.fold import fold
from pipeline.artifacts import Section

_CLUSTER = r"(?s:.)[\u0300-\u036f\u3099\u309a\uff9e\uff9f]*"


class Mention(NamedTuple):
    """`name` as in the catalog; piece `piece` of the section's mentionable text, from `start` to `end`."""

    name: str
    piece: int
    start: int
    end: int


@lru_cache(maxsize=8)
def _pattern(names: tuple[str, ...]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    folded = {fold(name): name for name in names}
    if not folded:
        return None, folded
    words = "|".join(re.escape(word) for word in sorted(folded, key=lambda word: (-len(word), word)))
    return re.compile(rf"(?<![a-z0-9_-])(?:{words})(?![a-z0-9_-])"), folded


def find_mentions(section: Section, names: Iterable[str]) -> tuple[Mention, ...]:
    """The first mention of each name, in document order: whole words, after NFKC and case folding."""
    pattern, by_fold = _pattern(tuple(names))
    found: dict[str, Mention] = {}
    if pattern is None:
        return ()
    for index, piece in enumerate(section.mentionable):
        folded = fold(piece)
        if not pattern.search(folded):
            continue
        folded, origin = _fold_with_origin(piece)
        for match in pattern.finditer(folded):
            name = by_fold[match.group()]
            if name not in found:
                found[name] = Mention(name, index, origin[match.start()], origin[match.end()])
    return tuple(sorted(found.values(), key=lambda mention: (mention.piece, mention.start)))


def _fold_with_origin(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its offsets (the end included) the offset in `text`."""
    parts: list[str] = []
    origin: list[int] = []
    for match in re.finditer(_CLUSTER, text):
        folded = fold(match.group())
        parts.append(folded)
        origin += [match.start()] * len(folded)
    origin.append(len(text))
    return "".join(parts), origin
