"""Names, titles and phase headings (F4, F5)."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from pipeline.document.declarations import LeafReading, may_declare, read_leaf
from pipeline.document.inline import scan_inline
from pipeline.document.items import one_line
from pipeline.document.text import LeafText

_MARKUP = re.compile(r"[*_\[\]<`\\]")
_PHASE = re.compile(
    r"(?:フェーズ|phase)\s*([0-9０-９]{1,15})"
    r"(?:\s*(?:[:：、]|[.．](?![0-9０-９]))\s*|\s+(?!の)|$)(.*)",
    re.IGNORECASE | re.DOTALL,
)
"""At most 15 digits: what JSON readers hold exactly."""


class PhaseHeading(NamedTuple):
    number: int
    title: str


def clean_title(leaf: LeafText, labels: Container[str]) -> tuple[str, LeafReading | None]:
    """A heading's text as names and titles have it (F5), and what it declares, if it was read for that.

    That is without declarations, calls, readable hand-overs, comments, emphasis and link mark-up, blanks made one;
    backticks stay.
    """
    text = leaf.text
    reading = read_leaf(leaf, labels) if may_declare(text) else None
    drop: list[tuple[int, int]] = []
    if reading is not None:
        drop = [(f.start, f.end) for f in reading.found if f.closed and (f.kind != "handover" or f.readable)]
    kept = _without(text, drop)
    if _MARKUP.search(kept):
        inline = scan_inline(text, labels, emphasis=True)
        drop += [(span.start, span.end) for span in inline.spans if span.kind in ("comment", "bracket", "tail")]
        for span in inline.spans:
            if span.kind == "autolink":
                drop += [(span.start, span.start + 1), (span.end - 1, span.end)]
        kept = _without(text, sorted([*drop, *inline.emphasis]))
    return one_line(kept), reading


def _without(text: str, extents: list[tuple[int, int]]) -> str:
    if not extents:
        return text
    if len(extents) == 1:
        start, end = extents[0]
        return text[:start] + text[end:]
    parts, position = [], 0
    for start, end in extents:
        if start > position:
            parts.append(text[position:start])
        position = max(position, end)
    parts.append(text[position:])
    return "".join(parts)


def phase_heading(title: str) -> PhaseHeading | None:
    """`フェーズ N: 題` or `Phase N: title` in a cleaned title (F4)."""
    match = _PHASE.fullmatch(title)
    if match is None:
        return None
    number, rest = match.groups()
    return PhaseHeading(int(number), rest.strip())
