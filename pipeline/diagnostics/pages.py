"""The pages about the codes, one a code and language: `docs/codes`, which an installed package carries along."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from pipeline.diagnostics.codes import Code
from pipeline.diagnostics.lang import Lang

_INSTALLED: Final = Path(__file__).parent / "docs"
_CHECKOUT: Final = Path(__file__).parents[2] / "docs" / "codes"


def page_name(entry: Code, lang: Lang) -> str:
    """The page's file name in `docs/codes`."""
    return f"{entry.code}.md" if lang == "en" else f"{entry.code}.{lang}.md"


@cache
def page(entry: Code, lang: Lang) -> str:
    """The page, Markdown. Raises OSError where the installation is broken."""
    folder = _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT
    return (folder / page_name(entry, lang)).read_text(encoding="utf-8")


def summary(text: str) -> str:
    """A page's first paragraph: the diagnostic in one sentence."""
    return text.split("\n\n", 2)[1].replace("\n", " ")
