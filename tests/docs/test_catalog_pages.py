"""The catalog page's files load as they stand there."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.load import load_catalog

from .snippets import ROOT, fences

PAGES = [ROOT / "docs" / "catalog.ja.md", ROOT / "docs" / "catalog.md"]


def marked(page: Path, *words: str) -> list[str]:
    return [text for _, info, text in fences(page) if tuple(info) == words]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_catalog_file_loads(page: Path, tmp_path: Path) -> None:
    """Alone, as a reader would try it, and all of them merged."""
    texts = marked(page, "yaml", "catalog")
    assert len(texts) == 3
    files = [tmp_path / f"{index}.yaml" for index in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
        assert len(load_catalog([file]).tools()) == 1
    assert [tool.name for tool in load_catalog(files).tools()] == ["browser", "kintai", "zaiko"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_mcp_file_adds_its_servers(page: Path, tmp_path: Path) -> None:
    """Each server is a tool of unknown operations beside the shipped ones."""
    (text,) = marked(page, "json", "mcp")
    file = tmp_path / "mcp.json"
    file.write_text(text, encoding="utf-8")
    catalog = load_catalog(mcp_config=file, cache_dir=tmp_path / "cache")
    for name in ("my_crm", "helpdesk"):
        tool = catalog.tool(name)
        assert tool is not None
        assert tool.operations is None


def test_both_languages_show_the_same_files() -> None:
    """The translations do not drift apart."""
    japanese, english = ([marked(page, "yaml", "catalog"), marked(page, "json", "mcp")] for page in PAGES)
    assert japanese == english
