"""How names, categories and `read-only` are compared: NFKC, then case folding (T2)."""

from __future__ import annotations

import unicodedata
from functools import lru_cache


def fold(text: str) -> str:
    """The form in which two spellings of one name are equal."""
    if text.isascii():
        return text.lower()
    return _short_folded(text) if len(text) <= _SHORT else _folded(text)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


_SHORT = 64

_short_folded = lru_cache(maxsize=4096)(_folded)
"""A name is asked for by several, one after another, and by many documents."""
