"""Links of the documentation lead somewhere: files exist, and headings bear the names that are linked to."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from .snippets import ROOT

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "docs/decisions/*.md", "docs/codes/*.md", "examples/README*.markdown")
    for path in ROOT.glob(pattern)
)


def targets(page: Path) -> list[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    inline = (child for token in tokens for child in token.children or ())
    return [str(child.attrs["href"]) for child in inline if child.type == "link_open"]


@cache
def anchors(page: Path) -> set[str]:
    """As GitHub makes them: lower case, punctuation dropped, blanks to hyphens."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    """To an existing file, and to a heading of it where one is named."""
    broken = []
    for target in targets(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(unquote(target))
    assert broken == []
