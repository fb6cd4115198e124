"""The connectors' page: its files are read as they stand there, and its limits are the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from aop_runtime.plane.spec import DEFAULT_TIMEOUT_S
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.servers import configured, read_servers
from aop_runtime.standard import browser

from .snippets import ROOT, fences

PAGES = [ROOT / "docs" / "connectors.ja.md", ROOT / "docs" / "connectors.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_servers_file_is_read_and_filled_in(page: Path, tmp_path: Path) -> None:
    """With the variables that it names, and no others."""
    texts = [text for _, info, text in fences(page) if info == ["json", "servers"]]
    assert len(texts) == 2
    for text in texts:
        path = tmp_path / "mcp.json"
        path.write_text(text, encoding="utf-8")
        for name, entry in read_servers(path).items():
            server = configured(name, entry, {"SLACK_MCP_XOXP_TOKEN": "xoxp-1", "CRM_TOKEN": "crm-1"})
            assert "${" not in repr(dict(server.env)) + repr(dict(server.headers))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_its_numbers_are_those_of_the_code(page: Path) -> None:
    """Limits, time-outs, and the version of the browser's server."""
    text = page.read_text(encoding="utf-8")
    limits = Limits()
    assert (limits.connect_s, limits.recheck_s, DEFAULT_TIMEOUT_S, browser._TIMEOUT_S) == (30, 30, 60, 120)
    for number in (
        f"{limits.message_bytes >> 20} MiB",
        f"{limits.flood_bytes >> 20} MiB",
        f"{limits.operation_bytes >> 10} KiB",
        f"{limits.operations:,}",
        browser.PACKAGE,
    ):
        assert number in text
