"""Suggestions that can be put in place by a machine, and where (T5, T6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from pipeline.artifacts import Span
from pipeline.diagnostics.bind import Diagnostic

_NAMES: Final = frozenset({"tool-unreadable", "tool-unknown", "category-unknown"})
"""Their position is the faulty item, and their suggestions take the place of its words."""

_HEAD: Final = re.compile(r"[^(（`*<\[\\]+?(?=\s*(?:のみ\s*)?(?:[(（]|$))")
"""`NAME` or `NAME の CATEGORY` in front of `のみ`, `(read-only)`, options; mark-up is left to a person."""

_OF: Final = "の"
_MAX_ITEM: Final = 200


class Fix(NamedTuple):
    """`text` goes in place of `span`, which lies on one line."""

    span: Span
    text: str


def fixes(found: Diagnostic, lines: Sequence[str]) -> list[Fix]:
    """One alternative for each suggestion that fits, best first.

    A grant never becomes wider: what stands behind the words, `(read-only)` above all, stays. A tool's name alone is
    put only in place of a word that no category follows: which part is the name is for a person to say.
    """
    if found.name not in _NAMES or found.line is None or found.column is None or found.end_column is None:
        return []
    if found.line != found.end_line or found.line > len(lines) or found.end_column - found.column > _MAX_ITEM:
        return []
    head = _HEAD.match(lines[found.line - 1][found.column - 1 : found.end_column - 1])
    if head is None:
        return []
    span = Span(found.line, found.column, found.line, found.column + head.end())
    return [Fix(span, text) for text in found.suggestions if _OF in text or _OF not in head[0]]
