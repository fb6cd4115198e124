"""The ITEMs of a declaration, as far as their form goes (T1, T2)."""

from __future__ import annotations

import re

from pipeline.artifacts import Item
from pipeline.document.parentheses import CLOSING, OPENING
from pipeline.document.text import Anchors, LeafText

_TOKEN = re.compile(r"[()（）,+、，＋]|(?<=\s)と(?=\s)")
_WHITE = re.compile(r"\s+")
_ONLY = "のみ"


def one_line(text: str) -> str:
    """Runs of white space become one space; trimmed."""
    return _WHITE.sub(" ", text).strip()


MAX_WRITTEN = 200
"""Of a declaration as written, in code points: it stands in messages, once for each of its items."""


def as_written(text: str, start: int, end: int) -> str:
    """`text[start:end]` on one line, cut where it is longer than a message can use."""
    line = one_line(text[start : min(end, start + 4 * MAX_WRITTEN)])
    whole = len(line) <= MAX_WRITTEN and end - start <= 4 * MAX_WRITTEN
    return line if whole else line[: MAX_WRITTEN - 1] + "…"


def split_items(mask: str, start: int, end: int) -> list[tuple[int, int]]:
    """The extents of the items in `mask[start:end]`, trimmed. An empty item has no extent and stands at the next
    separator (or `end`).
    """
    extents: list[tuple[int, int]] = []
    depth, begin = 0, start

    def close(at: int) -> None:
        piece = mask[begin:at]
        stripped = piece.strip()
        if not stripped:
            extents.append((at, at))
            return
        first = begin + len(piece) - len(piece.lstrip())
        extents.append((first, first + len(stripped)))

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


def split_suffixes(text: str) -> tuple[str, tuple[str, ...], bool]:
    """`NAME の CATEGORY` apart from what may follow it: the contents of the parentheses, in order, and whether のみ
    stands there.
    """
    groups: list[str] = []
    only = False
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        if text.endswith(_ONLY, 0, end):
            only = True
            end -= len(_ONLY)
        elif end and text[end - 1] in CLOSING:
            depth, at = 0, end - 1
            while at >= 0:
                if text[at] in CLOSING:
                    depth += 1
                elif text[at] in OPENING:
                    depth -= 1
                    if not depth:
                        break
                at -= 1
            if at < 0:
                break
            groups.append(text[at + 1 : end - 1].strip())
            end = at
        else:
            break
    groups.reverse()
    return text[:end], tuple(groups), only


def read_items(leaf: LeafText, clean: str, mask: str, start: int, end: int, anchors: Anchors) -> tuple[Item, ...]:
    """The items in that part of the leaf. `clean`: its text with comments as blanks; `mask`: with code and the like
    hidden, too.
    """
    items = []
    for first, last in split_items(mask, start, end):
        if first == last:
            items.append(Item("", "", (), False, anchors.add(leaf.span(first, min(first + 1, len(leaf.text))))))
            continue
        text = one_line(clean[first:last])
        head, groups, only = split_suffixes(text)
        items.append(Item(text, head, groups, only, anchors.add(leaf.span(first, last))))
    return tuple(items)
