"""The ITEMs of a declaration, as far as their form goes (T1, T2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Final, TypeAlias

from pipeline.artifacts import Item
from pipeline.document.parentheses import CLOSING, OPENING
from pipeline.document.text import Anchors, LeafText

_TOKEN = re.compile(r"[()（）,+、，＋]|(?<=\s)と(?=\s)")
_ONLY = "のみ"
_NO_CATEGORY = re.compile(r"[^の]+の")


def one_line(text: str) -> str:
    """Runs of white space become one space; trimmed."""
    return " ".join(text.split())


MAX_WRITTEN = 200
"""Of a declaration as written, in code points: it stands in messages, once for each of its items."""


def as_written(text: str, start: int, end: int) -> str:
    """`text[start:end]` on one line, cut where it is longer than a message can use."""
    line = one_line(text[start : min(end, start + 4 * MAX_WRITTEN)])
    whole = len(line) <= MAX_WRITTEN and end - start <= 4 * MAX_WRITTEN
    return line if whole else line[: MAX_WRITTEN - 1] + "…"


def split_items(mask: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """For each item in `mask[start:end]`: where it begins, where it ends, and where the next separator (or `end`) is.

    An empty item has no extent and begins at the separator (T1).
    """
    extents: list[tuple[int, int, int]] = []
    depth, begin = 0, start

    def close(at: int) -> None:
        if at == begin:
            extents.append((at, at, at))
            return
        piece = mask[begin:at]
        stripped = piece.strip()
        first = begin + len(piece) - len(piece.lstrip()) if stripped else at
        extents.append((first, first + len(stripped), at))

    for match in _TOKEN.finditer(mask, start, end):
        token = match.group()
        if token in OPENING:
            depth += 1
        elif token in CLOSING:
            depth = max(0, depth - 1)
        elif depth == 0:
            close(match.start())
            begin = match.end()
    close(end)
    return extents


def split_suffixes(mask: str, start: int, end: int) -> tuple[int, list[tuple[int, int]], bool]:
    """Where the `NAME の CATEGORY` of the item `mask[start:end]` ends, and what follows it.

    That is the insides of the parentheses, in order, and whether のみ stands there.
    """
    groups: list[tuple[int, int]] = []
    only = False
    while True:
        while end > start and mask[end - 1].isspace():
            end -= 1
        if mask.endswith(_ONLY, start, end):
            only = True
            end -= len(_ONLY)
        elif end > start and mask[end - 1] in CLOSING:
            depth, at = 0, end - 1
            while at >= start:
                if mask[at] in CLOSING:
                    depth += 1
                elif mask[at] in OPENING:
                    depth -= 1
                    if not depth:
                        break
                at -= 1
            if at < start:
                break
            groups.append((at + 1, end - 1))
            end = at
        else:
            break
    return end, groups[::-1], only


Extent: TypeAlias = tuple[str, str, tuple[str, ...], bool, int, int]
"""An item's text, head, groups and whether のみ stands there, as `Item` has them; then where it is said to begin and to
end in the text. A plain tuple: there may be a million."""


def _extents(clean: str, mask: str) -> tuple[Extent, ...]:
    extents: list[Extent] = []
    for first, last, separator in split_items(mask, 0, len(mask)):
        if first == last:
            extents.append(("", "", (), False, separator, separator + 1))
            continue
        head_end, insides, only = split_suffixes(mask, first, last)
        head, text = one_line(clean[first:head_end]), one_line(clean[first:last])
        groups = tuple([clean[begin:stop].replace("\n", " ").strip() for begin, stop in insides])
        lacking = not text or _NO_CATEGORY.fullmatch(head) is not None
        start, end = (separator, separator + 1) if lacking else (first, last)
        extents.append((text, head, groups, only, start, end))
    return tuple(extents)


_known_extents = lru_cache(maxsize=1024)(_extents)
"""The documents of a library declare the same few tools again and again."""

LONGEST_KNOWN = 200
"""In code points: more is seldom written twice, and should not be kept."""


def read_extents(clean: str, mask: str) -> tuple[Extent, ...]:
    """The items that a text holds. `clean` and `mask`: as in `declarations.LeafReading`."""
    return _known_extents(clean, mask) if len(mask) <= LONGEST_KNOWN else _extents(clean, mask)


_item: Final[Callable[[tuple[str, str, tuple[str, ...], bool, int]], Item]] = partial(tuple.__new__, Item)
"""An `Item` of its fields: as `places.span_of`, and for the same reason."""


def place_items(leaf: LeafText, extents: Iterable[Extent], start: int, anchors: Anchors) -> tuple[Item, ...]:
    """The items of the part of the leaf that begins at `start`."""
    items = []
    spans, size = anchors.spans, len(leaf.text)
    for text, head, groups, only, first, last in extents:
        end = start + last
        items.append(_item((text, head, groups, only, len(spans))))
        spans.append(leaf.span(start + first, end if end < size else size))
    return tuple(items)
