"""How names, categories and `read-only` are compared: NFKC, then case folding (T2)."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """The form in which two spellings of one name are equal."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
