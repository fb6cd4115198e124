"""A server that only the project's `mcp.json` knows: its operations are tools of what is run there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from tests.runtime.servers.catalog_server import CatalogServer

TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
LISTED = [
    {"name": "look_up", "description": "Look a page up", "inputSchema": TEXT, "readOnly": True},
    {"name": "write_page", "description": "Write a page", "inputSchema": TEXT, "readOnly": False},
]
DOCUMENT = "# 社内の手引きを読む\n\n## フェーズ 1: 調べる (使う道具: our_wiki (read-only))\n\n出張の項を読む。\n"
CALLER = "# 親\n\n## フェーズ 1: 頼む (呼び出す AOP: 社内の手引きを読む)\n"
TURNS = '"1": [{calls: [{tool: look_up, arguments: {text: 出張}}]}, {expect: 日当, say: 日当は 3000 円。}]'


@pytest.fixture(scope="module")
def wiki() -> Iterator[CatalogServer]:
    answers = {"our_wiki": {"look_up": "日当は 3,000 円"}}
    with CatalogServer(["our_wiki"], "http", results=answers, operations={"our_wiki": LISTED}) as server:
        yield server


@pytest.fixture
def here(wiki: CatalogServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    wiki.behave()
    wiki.forget()
    monkeypatch.chdir(tmp_path)
    wiki.write(tmp_path / "mcp.json")
    (tmp_path / "guide.md").write_text(DOCUMENT, encoding="utf-8")
    (tmp_path / "parent.md").write_text(CALLER, encoding="utf-8")
    (tmp_path / "s.yaml").write_text(f"version: 1\nphases: {{{TURNS}}}\n", encoding="utf-8")
    (tmp_path / "p.yaml").write_text(
        f"version: 1\nphases: {{}}\ncalled: {{社内の手引きを読む: {{phases: {{{TURNS}}}}}}}\n", encoding="utf-8"
    )
    return tmp_path


@pytest.mark.parametrize(("document", "script"), [("guide.md", "s.yaml"), ("parent.md", "p.yaml")])
def test_what_lies_in_the_project_is_compiled_with_as_well(
    document: str, script: str, here: Path, wiki: CatalogServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """With no option, as `aop compile --mcp-config mcp.json` would do; what is called is, too."""
    assert main(["run", document, "--script", script, "--lang", "ja"]) == 0, capfd.readouterr()
    assert "日当は 3000 円。" in capfd.readouterr().out
    assert [(call.operation, call.arguments) for call in wiki.calls] == [("look_up", {"text": "出張"})]
    compiled = json.loads((here / ".aop/built/guide/manifest.json").read_text(encoding="utf-8"))
    assert main(["compile", "guide.md", "--mcp-config", "mcp.json", "--out", "build"]) == 0
    assert json.loads((here / "build/guide/manifest.json").read_text(encoding="utf-8")) == compiled


def test_without_the_file_the_tool_is_unknown(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As for `aop compile`; a file of another name has to be named."""
    (here / "mcp.json").rename(here / "servers.json")
    assert main(["run", "guide.md", "--script", "s.yaml"]) == 1
    assert "AOP202" in capfd.readouterr().err
    assert main(["run", "guide.md", "--script", "s.yaml", "--mcp-config", "servers.json"]) == 0


@pytest.mark.parametrize("option", ["--mcp-config", "--permissions", "--script", "--plugins"])
def test_an_empty_word_is_no_file(here: Path, option: str, capfd: pytest.CaptureFixture[str]) -> None:
    """An unset variable of a shell's script would mean the current folder."""
    assert main(["run", "guide.md", "--model", "openai:gpt-5", option, ""]) == 2
    assert option in capfd.readouterr().err
    assert not (here / ".aop/runs").exists()
