"""The catalog page's files load as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from catalog.load import load_catalog
from catalog.lock import DEFAULT_POLICY
from catalog.own import Own

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_organisations_file_goes_over_the_shipped_catalog(page: Path, tmp_path: Path) -> None:
    """What it removes is there to be removed, and what it replaces is replaced."""
    (text,) = marked(page, "yaml", "organisation")
    file = tmp_path / "aop-catalog.yaml"
    file.write_text(text, encoding="utf-8")
    catalog = load_catalog(cache_dir=tmp_path / "cache", own=Own((), (file,)))
    assert catalog.tool("chatwork") is None
    slack = catalog.tool("slack")
    assert slack is not None
    assert [operation.name for operation in slack.operations or ()] == ["send_message"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_default_policies_are_the_real_ones(page: Path) -> None:
    """The table names every kind of change, with its policy."""
    rows = re.findall(r"^\| ((?:`[a-z-]+` ?)+)\|.*\| `([a-z]+)` \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    shown = {kind: policy for kinds, policy in rows for kind in re.findall(r"`([a-z-]+)`", kinds)}
    assert shown == dict(DEFAULT_POLICY)


def test_both_languages_show_the_same_files() -> None:
    """The translations do not drift apart."""
    japanese, english = (
        [marked(page, *words) for words in (("yaml", "catalog"), ("yaml", "organisation"), ("json", "mcp"))]
        for page in PAGES
    )
    assert japanese == english
