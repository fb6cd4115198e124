"""Suggestions that can be put in place by a machine, and where (T5, T6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from pipeline.diagnostics.bind import Diagnostic
from pipeline.places import Span

_NAMES: Final = frozenset({"tool-unreadable", "tool-unknown", "category-unknown"})
"""Their position is the faulty item, and their suggestions take the place of its words."""

_HEAD: Final = re.compile(r"(?!と$)[^(（)）,+、，＋`*<\[\\]+?(?=\s*(?:のみ\s*)?(?:[(（]|$))")
"""`NAME` or `NAME の CATEGORY` in front of `のみ`, `(read-only)`, options. Mark-up is left to a person, and so is a
missing category, which is reported at the separator behind it."""

_OF: Final = "の"
_NAME: Final = re.compile(rf"[^{_OF}]+?(?=[ \t　]+{_OF}[ \t　][^{_OF}]+$)|[^{_OF}]+$")
"""The part in front of a category where there is only one way to read it, or all of a head without one."""
_MAX_ITEM: Final = 200


class Fix(NamedTuple):
    """`text` goes in place of `span`, which lies on one line."""

    span: Span
    text: str


def fixes(found: Diagnostic, lines: Sequence[str]) -> list[Fix]:
    """One alternative for each suggestion that fits, best first.

    A grant never becomes wider: what stands behind the words, `(read-only)` above all, stays, and so does a category
    where only the tool's name is replaced.
    """
    if found.name not in _NAMES or found.line is None or found.column is None or found.end_column is None:
        return []
    if found.line != found.end_line or found.line > len(lines) or found.end_column - found.column > _MAX_ITEM:
        return []
    head = _HEAD.match(lines[found.line - 1][found.column - 1 : found.end_column - 1])
    if head is None:
        return []
    name = _NAME.match(head[0])
    proposed: list[Fix] = []
    for text in found.suggestions:
        replaced = head if _OF in text else name
        if replaced is not None:
            span = Span(found.line, found.column, found.line, found.column + replaced.end())
            proposed.append(Fix(span, text))
    return proposed
