"""The page of usable tools: made from the catalog, and never behind it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from catalog_files import CONFORMANCE

from catalog.load import load_catalog
from catalog.tool_list import DOCS, PAGES, Language, main, render


def test_the_pages_are_what_the_catalog_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Drift fails here; `python -m catalog.tool_list` writes them anew."""
    assert main(["--check"]) == 0, capsys.readouterr().err


def test_drift_is_told_and_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A page that is missing or edited: exit status 1 and its name, and nothing written; without --check it is."""
    main(["--docs", str(tmp_path)])
    assert main(["--docs", str(tmp_path), "--check"]) == 0
    (tmp_path / "tools.md").write_text("# Mine\n", encoding="utf-8")
    assert main(["--docs", str(tmp_path), "--check"]) == 1
    assert "tools.md" in capsys.readouterr().err
    assert (tmp_path / "tools.md").read_text(encoding="utf-8") == "# Mine\n"
    main(["--docs", str(tmp_path)])
    assert (tmp_path / "tools.md").read_text(encoding="utf-8") == (DOCS / "tools.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", PAGES)
def test_a_page_shows_what_can_be_written_and_what_it_does(language: Language) -> None:
    """Every category as it is declared, how much reads and writes, what receives text, every operation's name."""
    tools = load_catalog().tools()
    page = render(tools, language)
    for tool in tools:
        for category in tool.categories:
            assert f"| `{tool.name} の {category.name}` |" in page
        for operation in tool.operations or ():
            assert f"`{operation.name}`" in page
    assert re.search(r"\| `bigquery の query` \| [^|]+ \| 1 \| 1 \| `execute_sql_readonly` \(`query`\)[^|]+\|", page)


def test_a_connector_without_a_source_or_categories_has_a_section_too() -> None:
    """The conformance catalog has both."""
    page = render(load_catalog([CONFORMANCE]).tools(), "en")
    assert "### linear" in page
    assert "`list_issues`" in page
