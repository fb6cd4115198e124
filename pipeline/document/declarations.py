"""Finding declarations, calls, hand-overs and their look-alikes in the text of one leaf block (T1, T10, V1, C1, F6)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from pipeline.document.handover_form import OPENING as HANDOVER_OPENING
from pipeline.document.handover_form import OTHER_VERB, HandoverForms, Readable
from pipeline.document.handover_form import WORD as HANDOVER_WORD
from pipeline.document.inline import Inline, scan_inline
from pipeline.document.items import LONGEST_KNOWN, Extent, as_written, read_extents
from pipeline.document.parentheses import CLOSING, OPENING, match_brackets, match_parentheses
from pipeline.document.text import LeafText

_CALL = "呼び出す"
_OPENING_WORD = re.compile(rf"[(（]\s*(?:{HANDOVER_WORD}|{_CALL})")

_TOOLS = "使う道具"
_OPENING = re.compile(
    rf"[(（]\s*(?:(?P<tool>{_TOOLS}\s*[:：])|(?P<call>{_CALL}\s*[AaＡａ][OoＯｏ][PpＰｐ]\s*[:：])|(?P<handover>{HANDOVER_WORD}))"
)
_WORD = re.compile(_TOOLS)
_BRACKETS = {"【": "】", "［": "］", "[": "]", "「": "」"}
_ALL_BUT_LINKS = ("code", "tag", "autolink", "escape")
_COLON = re.compile(r"\s*[:：]")
_COLON_IN_EMPHASIS = re.compile(r"[*_]*\s*[:：]")
_NO_COLON = re.compile(r"\s+(?![\s)）])")
_LINE_START = re.compile(r"[ \t*_　]*")
_BETWEEN = re.compile(r"[\s*_。.：:]*")

LookalikeKind = Literal["brackets", "bare", "colon", "verb"]


def may_declare(text: str) -> bool:
    """Whether a text can hold a declaration or a look-alike at all: most do not, and pay for nothing more."""
    if _TOOLS in text:
        return True
    return (HANDOVER_WORD in text or _CALL in text) and _OPENING_WORD.search(text) is not None


class Known(NamedTuple):
    """What the words of a tool declaration say: the declaration as messages show it, and its items."""

    written: str
    extents: tuple[Extent, ...]


@dataclass(slots=True)
class Found:
    """A declaration in a leaf: `text[start:end]`. `inner`: where its content begins (behind the colon, or behind この).

    An unclosed one reaches to the end of the leaf. Of a hand-over, `readable` is its form, `direct` whether it stands
    above a fence, and `stacked` whether another one of the same fence stands below it (V7). `known`: of a tool
    declaration in the simplest form, which need not be taken apart again.
    """

    kind: Literal["tool", "call", "handover"]
    start: int
    end: int
    inner: int
    closed: bool = True
    readable: Readable | None = None
    direct: bool = False
    stacked: bool = False
    known: Known | None = None


class Lookalike(NamedTuple):
    kind: LookalikeKind
    start: int
    end: int
    right: str


class LeafReading:
    """What stands in a leaf. `clean`: its text with comments as blanks; `mask`: also with all hidden that is no text.

    `chains`: nothing but hand-overs above a fence, so that one in the block above is stacked on them. `fence`: the
    index of the block that its direct hand-overs stand above.
    """

    def __init__(self, leaf: LeafText, inline: Inline, clean: str, mask: str, *found: Found) -> None:
        self.leaf = leaf
        self.inline = inline
        self.clean = clean
        self.mask = mask
        self.found = list(found)
        self.lookalikes: list[Lookalike] = []
        self.chains = False
        self.fence: int | None = None

    def written(self, start: int, end: int) -> str:
        """That part as messages show it."""
        return as_written(self.clean, start, end)


_NO_FORMS = HandoverForms("")

Below = Literal["fence", "chain", "other"]
"""The next block in the same container: a fence, a leaf that `chains`, or anything else."""


def read_leaf(leaf: LeafText, labels: Container[str], below: Below = "other", from_offset: int = 0) -> LeafReading:
    """Everything that a paragraph or heading declares, from `from_offset` on."""
    inline = scan_inline(leaf.text, labels)
    clean = mask = leaf.text
    if inline.spans:
        clean, mask = inline.mask(hide=()), inline.mask()
    elif not from_offset and (last := _last(mask)):
        return LeafReading(leaf, inline, clean, mask, last)
    reading = LeafReading(leaf, inline, clean, mask)
    pairs = match_parentheses(mask)
    hands_over = HANDOVER_WORD in mask and HANDOVER_OPENING.search(mask, from_offset) is not None
    forms = HandoverForms(mask) if hands_over else _NO_FORMS
    tail = _tail(mask, pairs, forms, from_offset, below) if hands_over and below != "other" else []
    in_tail = frozenset(tail)
    position = from_offset
    tools = 0
    while match := _OPENING.search(mask, position):
        start, position = match.span()
        closing = pairs.get(start)
        inner_end = len(mask) if closing is None else closing
        end = inner_end if closing is None else closing + 1
        kind = match.lastgroup
        if kind == "handover":
            found = Found("handover", start, end, match.end(), closing is not None, forms.read(match.end(), inner_end))
            found.direct = start in in_tail or (
                below != "other" and closing is None and forms.declares(match.end(), inner_end)
            )
            if not found.direct and not found.readable:
                continue
            found.stacked = found.direct and (below == "chain" or start != tail[-1] if tail else False)
            if found.direct and below == "fence" and not forms.declares(match.end(), inner_end):
                right = OTHER_VERB.sub("渡す", reading.written(start, end))
                reading.lookalikes.append(Lookalike("verb", start, end, right))
                position = end
                continue
        elif kind == "tool":
            tools += 1
            found = Found("tool", start, end, match.end(), closing is not None)
        else:
            found = Found("call", start, end, match.end(), closing is not None)
        reading.found.append(found)
        position = end
    if mask.count(_TOOLS, from_offset) > tools:  # else each stands in a declaration of its own
        reading.lookalikes.extend(_lookalikes(reading, pairs, from_offset))
    if len(reading.lookalikes) > 1:
        reading.lookalikes.sort(key=lambda lookalike: lookalike.start)
    reading.chains = (
        bool(tail) and bool(_BETWEEN.fullmatch(mask, from_offset, tail[0])) and _all_declare(tail, pairs, forms, mask)
    )
    return reading


def _last(text: str) -> Found | None:
    """The tool declaration that ends a text in the simplest form, if it is all that the text declares: as most are."""
    at = text.find(_TOOLS) - 1
    colon = at + 1 + len(_TOOLS)
    if at < 0 or text[at] not in OPENING or text[-1] not in CLOSING or text[colon] not in ":：":
        return None
    end = len(text)
    if end - at > LONGEST_KNOWN or HANDOVER_WORD in text or _CALL in text:
        return None
    known = _known(text[at:])
    return None if known is None else Found("tool", at, end, colon + 1, known=known)


@lru_cache(maxsize=1024)
def _known(declaration: str) -> Known | None:
    """None for more than one declaration. Cached: see `items.read_extents`."""
    if match_parentheses(declaration).get(0) != len(declaration) - 1 or declaration.count(_TOOLS) > 1:
        return None
    content = declaration[len(_TOOLS) + 2 : -1]
    return Known(as_written(declaration, 0, len(declaration)), read_extents(content, content))


def _tail(mask: str, pairs: dict[int, int], forms: HandoverForms, from_offset: int, below: Below) -> list[int]:
    """The openings of the hand-overs that end the leaf with nothing between them, top to bottom (V1, V7).

    The one directly above a fence may have the verb of a look-alike; then it stands alone (T10 d).
    """
    opening_of = {close: opening for opening, close in pairs.items()}
    tail: list[int] = []
    end = len(mask)
    while True:
        while end > from_offset and _BETWEEN.fullmatch(mask, end - 1, end):
            end -= 1
        opening = opening_of.get(end - 1, -1)
        match = HANDOVER_OPENING.match(mask, opening) if opening >= from_offset else None
        if match is None:
            break
        if not forms.declares(match.end(), end - 1):
            if not tail and below == "fence" and forms.resembles(match.end(), end - 1):
                tail.append(opening)
            break
        tail.append(opening)
        end = opening
    return tail[::-1]


def _all_declare(tail: list[int], pairs: dict[int, int], forms: HandoverForms, mask: str) -> bool:
    lowest = HANDOVER_OPENING.match(mask, tail[-1])
    return lowest is not None and forms.declares(lowest.end(), pairs[tail[-1]])


def _lookalikes(reading: LeafReading, pairs: dict[int, int], from_offset: int) -> Iterator[Lookalike]:
    """Text that looks like a tool declaration but is none (T10 a-c)."""
    mask, leaf = reading.mask, reading.leaf
    taken = [(found.start, found.end) for found in reversed(reading.found)]
    brackets: dict[str, dict[int, int]] = {}
    read_to = from_offset
    for match in _WORD.finditer(mask, from_offset):
        at, behind = match.start(), match.end()
        if at < read_to:
            continue
        while taken and taken[-1][1] <= at:
            taken.pop()
        if taken and taken[-1][0] <= at:
            continue
        line_end = leaf.line_end(at)
        line_start = mask.rfind("\n", 0, at) + 1
        before = at
        while before > from_offset and mask[before - 1].isspace():
            before -= 1
        bracket = mask[before - 1 : before] if before > from_offset else ""
        colon = _COLON.match(mask, behind)
        if colon and bracket in _BRACKETS:
            if bracket not in brackets:
                text = reading.inline.mask(hide=_ALL_BUT_LINKS) if bracket == "[" else mask
                brackets[bracket] = match_brackets(text, bracket, _BRACKETS[bracket])
            close = brackets[bracket].get(before - 1)
            end = read_to = line_end if close is None else close + 1
            rest = reading.written(colon.end(), line_end if close is None else close)
            yield Lookalike("brackets", before - 1, end, f"(使う道具: {rest})")
        elif bracket and bracket in "(（":
            opening = before - 1
            if _NO_COLON.match(mask, behind) and opening in pairs:
                yield Lookalike(
                    "colon", opening, pairs[opening] + 1, f"(使う道具: {reading.written(behind, pairs[opening])})"
                )
        elif (colon := _COLON_IN_EMPHASIS.match(mask, behind)) and _LINE_START.fullmatch(mask, line_start, at):
            read_to = line_end
            rest = reading.written(colon.end(), line_end).strip("*_ ")
            yield Lookalike("bare", at, line_end, f"(使う道具: {rest})")


def declarations_in_code(text: str) -> list[tuple[int, int]]:
    """The extents of closed declarations, calls and readable hand-overs in code or in an HTML block's text (F6)."""
    if not may_declare(text):
        return []
    extents = []
    pairs = match_parentheses(text)
    forms = HandoverForms(text)
    position = 0
    while match := _OPENING.search(text, position):
        position = match.end()
        close = pairs.get(match.start())
        if close is None or (match.group("handover") and not forms.read(match.end(), close)):
            continue
        extents.append((match.start(), close + 1))
        position = close + 1
    return extents
