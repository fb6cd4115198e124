"""The text in which a connector's name is a mention (T9)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator

from pipeline.document.inline import scan_inline
from pipeline.document.text import LeafText
from pipeline.places import Span

_INLINE = re.compile(r"[<\\]|\]\(|\]\[")
_URL = re.compile(
    r"(?:(?<![A-Za-z0-9+.\-])[A-Za-z0-9+.\-]++://|mailto:|(?<![A-Za-z0-9_-])www\.)[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+"
)
"""Up to the first character that none may hold (RFC 3986): Japanese text, a table's `|`, a code span's mark."""
_HIDING = ("comment", "tag", "autolink", "tail")


def mentionable(
    leaf: LeafText, labels: Container[str], diagnosed: Iterable[tuple[int, int]], mask: str | None
) -> Iterator[tuple[str, Span]]:
    """The pieces of the leaf's text, none of them over a line's end, with their places.

    Left out: comments, tags, link destinations, URLs, and `diagnosed` text, which has a diagnostic of its own.
    `mask`: `html.text_mask` of an HTML block; None elsewhere.
    """
    text = leaf.text
    holes = list(diagnosed)
    if mask is not None:
        holes += [match.span() for match in re.finditer(r"\0+", mask)]
        text = mask
    elif _INLINE.search(text):
        holes += [(span.start, span.end) for span in scan_inline(text, labels).spans if span.kind in _HIDING]
    if ":" in text or "www." in text:
        holes += [match.span() for match in _URL.finditer(text)]
    holes.sort()
    position = 0
    for start, end in [*holes, (len(text), len(text))]:
        if start > position:
            yield from _lines(leaf, text, position, start)
        position = max(position, end)


def _lines(leaf: LeafText, text: str, start: int, end: int) -> Iterator[tuple[str, Span]]:
    for line in text[start:end].split("\n"):
        stripped = line.strip()
        if stripped:
            first = start + len(line) - len(line.lstrip())
            yield stripped, leaf.span(first, first + len(stripped))
        start += len(line) + 1
