"""The text in which argument values are looked for (V5)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from pipeline.document.html import text_mask
from pipeline.document.inline import MASKED, scan_inline
from pipeline.document.text import LeafText

CODE_OPEN, CODE_CLOSE = "\ufdd0", "\ufdd1"
"""Noncharacters that stand for a code span's marks; a document's own are dropped."""

_DELIMITER_ROW = r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+(?:\|[ \t]*+)?"


def without_tables(lines: list[str]) -> list[str]:
    """A paragraph's lines without those of a table: from the row above a delimiter row to the end (GFM 4.10)."""
    for index in range(1, len(lines)):
        row = lines[index]
        if "|" in row and re.fullmatch(_DELIMITER_ROW, row) and _cells(lines[index - 1]) == _cells(row):
            return lines[: index - 1]
    return lines


def _cells(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))) + 1


def inline_values(leaf: LeafText, labels: Container[str], handovers: Iterable[tuple[int, int]]) -> str:
    """A paragraph's or heading's text for V5.

    That is without comments, tables, emphasis marks and hand-overs' parentheses, code spans between `CODE_OPEN` and
    `CODE_CLOSE`.
    """
    kept = len("\n".join(without_tables(leaf.text.split("\n"))))
    text = leaf.text[:kept].replace(CODE_OPEN, " ").replace(CODE_CLOSE, " ")
    inline = scan_inline(text, labels, emphasis=True)
    edits = [(start, end, " ") for start, end in handovers]
    edits += [(start, end, "") for start, end in inline.emphasis]
    for span in inline.spans:
        if span.kind == "code":
            edits.append((span.start, span.end, f"{CODE_OPEN}{text[span.inner_start : span.inner_end]}{CODE_CLOSE}"))
        elif span.kind in ("comment", "tag", "tail"):
            edits.append((span.start, span.end, " "))
    parts, position = [], 0
    for start, end, new in sorted(edits):
        if start < position:
            continue
        parts += [text[position:start], new]
        position = end
    parts.append(text[position:])
    return "".join(parts).strip()


def block_values(text: str, *, html: bool) -> str:
    """The same for indented code and HTML blocks."""
    text = text.replace(CODE_OPEN, " ").replace(CODE_CLOSE, " ")
    return (text_mask(text).replace(MASKED, " ") if html else text).strip()
