"""The language guide's examples do what the guide says, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.load import load_catalog
from catalog.view import CatalogView
from pipeline.diagnostics.codes import BY_CODE

from .snippets import ROOT, Snippet, check, snippets

PAGES = [ROOT / "docs" / "language.ja.md", ROOT / "docs" / "language.md"]
SNIPPETS = [snippet for page in PAGES for snippet in snippets(page)]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> CatalogView:
    return load_catalog(cache_dir=tmp_path_factory.mktemp("catalog"))


def siblings(page: str) -> dict[str, str]:
    return {snippet.file: snippet.text for snippet in SNIPPETS if snippet.page == page and snippet.file is not None}


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: f"{snippet.page}:{snippet.line}")
def test_an_example_gives_exactly_the_codes_that_it_names(snippet: Snippet, catalog: CatalogView) -> None:
    """`aop` gives no diagnostic at all; the others give the codes of their info string and no other."""
    path = snippet.file or "example.md"
    assert check(snippet.text, path, siblings(snippet.page), catalog) == snippet.codes


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: f"{snippet.page}:{snippet.line}")
def test_an_example_is_marked_as_what_it_is(snippet: Snippet) -> None:
    """`aop-error` names an error, `aop-warning` names warnings only, `aop` names nothing."""
    severities = {BY_CODE[code].severity for code in snippet.codes}
    expected = {"aop": set(), "aop-error": {"error"}, "aop-warning": {"warning"}}
    assert severities == expected[snippet.kind]


def test_both_languages_show_the_same_examples() -> None:
    """The translations do not drift apart: the same documents with the same outcomes in the same order."""
    japanese, english = ([(s.kind, s.codes, s.file, s.text) for s in snippets(page)] for page in PAGES)
    assert japanese == english


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_guide_covers_every_rule(page: Path) -> None:
    """Each rule of the language has its line in the table at the end."""
    text = page.read_text(encoding="utf-8")
    counts = {"F": 6, "T": 11, "I": 4, "V": 9, "C": 2}
    rules = [f"{letter}{number}" for letter, last in counts.items() for number in range(1, last + 1)]
    assert [rule for rule in rules if f"| {rule} |" not in text] == []
