"""Every code has a page in both languages, and what the pages show is what the compiler does.

`AOP_REFRESH_PAGES=1` writes what the compiler prints into the pages instead of comparing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from catalog.load import load_catalog
from catalog.view import CatalogView
from pipeline.diagnostics.bind import Diagnostic, bind
from pipeline.diagnostics.codes import BY_CODE, CODES, Code
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.fixes import fixes
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.pages import page_name, summary
from pipeline.diagnostics.text import render_text
from pipeline.places import At, Span

from .page_reader import HEADINGS, NAME, PAGES, Example, Page, check, printed, read_page

BOTH: tuple[Lang, ...] = ("ja", "en")

# No document gives these by itself: 402 and 404 need a generator that misbehaves, 403 and 405 the code of an earlier
# compile, 406 a lock file. Their pages show what is printed for these findings.
NOT_BY_A_DOCUMENT = {
    "fence-lost": Finding(
        "fence-lost", At(0), 1, (("detail", "the fence on line 5 lost a trailing space."), ("attempts", 3))
    ),
    "fence-stale": Finding("fence-stale", At(0), 1, (("reasons", ("stage-version",)),)),
    "tools-mismatch": Finding(
        "tools-mismatch", At(1), 1, (("detail", "slack is attached and not declared."), ("attempts", 3))
    ),
    "artifact-stale": Finding("artifact-stale", At(1), 1, (("reasons", ("model",)),)),
    "tool-drifted": Finding(
        "tool-drifted",
        At(1),
        1,
        (
            ("tool", "bigquery"),
            ("operation", "run_query"),
            ("change", "schema-breaking"),
            ("names", ("query", "timeout")),
            ("target", "bigquery/run_query"),
        ),
    ),
}
LINES = ["# 受注の集計", "", "## フェーズ 1: 集計する (使う道具: bigquery の query)", "", "```sql", "select 1", "```"]
POSITIONS = (Span(5, 1, 5, 7), Span(3, 1, 3, len(LINES[2]) + 1))

EVERY = [pytest.param(entry, lang, id=f"{entry.code}-{lang}") for entry in CODES.values() for lang in BOTH]
WITH_EXAMPLE = [
    pytest.param(entry, lang, id=f"{entry.code}-{lang}")
    for entry in CODES.values()
    if entry.name not in NOT_BY_A_DOCUMENT
    for lang in BOTH
]


@pytest.fixture(scope="module")
def catalog() -> CatalogView:
    return load_catalog([Path(__file__).parents[1] / "data" / "catalog.yaml"])


def examples(page: Page) -> tuple[Example, Example]:
    assert page.wrong is not None
    assert page.right is not None
    return page.wrong, page.right


def compare(page: Page, entry: Code, lang: Lang, text: str) -> None:
    if os.environ.get("AOP_REFRESH_PAGES") == "1" and page.shown != text:
        lines = page.text.split("\n")
        lines[slice(*page.shown_lines)] = text.rstrip("\n").split("\n")
        (PAGES / page_name(entry, lang)).write_text("\n".join(lines), encoding="utf-8")
        return
    assert page.shown == text


@pytest.mark.parametrize(("entry", "lang"), EVERY)
def test_a_page_has_the_agreed_parts(entry: Code, lang: Lang) -> None:
    """Code and name as title, one sentence, then: what it means, why it matters, an example, what to write instead."""
    page = read_page(entry, lang)
    assert page.title == f"{entry.code}: {entry.name}"
    assert page.headings == HEADINGS[lang]
    assert summary(page.text).endswith("。" if lang == "ja" else ".")
    assert (f"({entry.code}.md)" if lang == "ja" else f"({entry.code}.ja.md)") in page.text


@pytest.mark.parametrize(("entry", "lang"), WITH_EXAMPLE)
def test_the_example_shows_exactly_its_code(entry: Code, lang: Lang, catalog: CatalogView) -> None:
    """The wrong document gives that code and no other, as the page prints it."""
    page = read_page(entry, lang)
    wrong, _ = examples(page)
    diagnostics = check(wrong, catalog, lang)
    assert {found.code for found in diagnostics} == {entry.code} == set(wrong.codes)
    compare(page, entry, lang, printed(wrong, diagnostics, lang))


@pytest.mark.parametrize(("entry", "lang"), WITH_EXAMPLE)
def test_what_to_write_instead_is_right(entry: Code, lang: Lang, catalog: CatalogView) -> None:
    """The corrected document gives no diagnostic at all."""
    _, right = examples(read_page(entry, lang))
    assert [found.message for found in check(right, catalog, lang)] == []


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.code) for entry in CODES.values()])
def test_both_languages_have_the_same_examples(entry: Code) -> None:
    """Only the words around them differ."""
    japanese, english = read_page(entry, "ja"), read_page(entry, "en")
    assert (japanese.wrong, japanese.right) == (english.wrong, english.right)


@pytest.mark.parametrize("lang", BOTH)
@pytest.mark.parametrize("name", list(NOT_BY_A_DOCUMENT))
def test_what_no_document_gives_by_itself(name: str, lang: Lang) -> None:
    """Such a page has no example document, and shows what is printed when it happens."""
    page = read_page(CODES[name], lang)
    assert page.wrong is None
    assert page.right is None
    diagnostics = bind([NOT_BY_A_DOCUMENT[name]], POSITIONS, lang)
    compare(page, CODES[name], lang, render_text(diagnostics, NAME, LINES, lang=lang))


@pytest.mark.parametrize("lang", BOTH)
def test_the_index_lists_every_code(lang: Lang) -> None:
    """One row a code, in order, with its name and its page's first sentence."""
    index = (PAGES / ("README.ja.md" if lang == "ja" else "README.md")).read_text(encoding="utf-8")
    rows = [line for line in index.split("\n") if line.startswith("| [AOP")]
    assert [row[3:9] for row in rows] == list(BY_CODE)
    for row, entry in zip(rows, CODES.values(), strict=True):
        assert row.startswith(f"| [{entry.code}]({page_name(entry, lang)}) | `{entry.name}` | ")
        assert row.endswith(f" | {summary(read_page(entry, lang).text)} |")


def applied(text: str, found: Diagnostic, example: Example) -> list[str]:
    lines = text.split("\n")
    made = []
    for span, replacement in fixes(found, lines):
        changed = list(lines)
        line = changed[span.line - 1]
        changed[span.line - 1] = f"{line[: span.column - 1]}{replacement}{line[span.end_column - 1 :]}"
        made.append("\n".join(changed))
    return made


@pytest.mark.parametrize("name", ["tool-unreadable", "tool-unknown", "category-unknown"])
def test_a_fix_put_in_place_mends_the_document(name: str, catalog: CatalogView) -> None:
    """Each proposed fix, applied by itself, removes the diagnostic that proposed it and brings no new one."""
    wrong, _ = examples(read_page(CODES[name], "en"))
    before = check(wrong, catalog, "en")
    tried = 0
    for found in before:
        for text in applied(wrong.text, found, wrong):
            tried += 1
            after = check(Example(text, ()), catalog, "en")
            assert [entry.name for entry in after] == [name] * (len(before) - 1)
    assert tried >= 1
