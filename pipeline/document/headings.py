"""Names, titles and phase headings (F4, F5)."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.document.declarations import TRIGGER, LeafReading, read_leaf
from pipeline.document.inline import scan_inline
from pipeline.document.items import one_line
from pipeline.document.text import LeafText

_MARKUP = re.compile(r"[*_\[\]<`\\]")
_PHASE = re.compile(
    r"(?:フェーズ|phase)\s*(?P<number>[0-9０-９]{1,15})"
    r"(?:\s*(?:[:：、]|[.．](?![0-9０-９]))\s*|\s+(?!の)|$)(?P<title>.*)",
    re.IGNORECASE | re.DOTALL,
)
"""At most 15 digits: what JSON readers hold exactly."""


class PhaseHeading(NamedTuple):
    number: int
    title: str


def clean_title(leaf: LeafText, labels: frozenset[str], reading: LeafReading | None = None) -> str:
    """A heading's text as names and titles have it (F5): without declarations, calls, readable hand-overs, comments, emphasis
    and link mark-up; blanks made one; backticks stay. `reading`: the heading's, where the caller has it already."""
    text = leaf.text
    if not _MARKUP.search(text) and not TRIGGER.search(text):
        return one_line(text)
    reading = reading or read_leaf(leaf, labels)
    inline = scan_inline(text, labels, emphasis=True)
    drop = [(span.start, span.end) for span in inline.spans if span.kind in ("comment", "bracket", "tail")]
    for span in inline.spans:
        if span.kind == "autolink":
            drop += [(span.start, span.start + 1), (span.end - 1, span.end)]
    drop += inline.emphasis
    drop += [(found.start, found.end) for found in reading.found if found.closed and (found.kind != "handover" or found.readable)]
    parts, position = [], 0
    for start, end in sorted(drop):
        if start > position:
            parts.append(text[position:start])
        position = max(position, end)
    parts.append(text[position:])
    return one_line("".join(parts))


def phase_heading(title: str) -> PhaseHeading | None:
    """`フェーズ N: 題` or `Phase N: title` in a cleaned title (F4)."""
    match = _PHASE.fullmatch(title)
    if match is None:
        return None
    return PhaseHeading(int(match.group("number")), match.group("title").strip())
