"""Servers of the npm registry: imported, linted, compiled against."""

from __future__ import annotations

import json
from pathlib import Path

from catalog.load import load_catalog
from catalog.model import Tool
from catalog.own import find_own

from .live import Aop, configure, npm_server

PROCEDURE = """\
# 調べてまとめる

## フェーズ 1: 読む (使う道具: files (read-only))

資料を読む。

## フェーズ 2: 覚える (使う道具: memory)

(この 内容 を everything に、そのまま渡す。)

```ts
callMCPTool("everything", "echo", {message: "x"})
```
"""


def imported(name: str) -> Tool:
    tool = load_catalog(None, None, None, find_own(Path())).tool(name)
    assert tool is not None
    return tool


def test_three_servers_are_imported_linted_and_compiled_against(here: Path, aop: Aop) -> None:
    """Over stdio: their operations are known, and what their annotations say decides what reads."""
    config = configure(
        everything=npm_server("everything"), files=npm_server("filesystem", str(here)), memory=npm_server("memory")
    )
    done = aop("catalog", "import", "--mcp-config", config, "--format", "json")
    reports = {entry["server"]: entry for entry in json.loads(done.stdout)}
    assert set(reports) == {"everything", "files", "memory"}
    assert [entry["stored"] for entry in reports.values()] == ["new"] * 3
    for name, entry in reports.items():
        assert entry["file"] == f"aop-tools/{name}.yaml"
        assert entry["reads"] > 0
        assert entry["writes"] > 0
        assert entry["lint"]["structurally_valid"], entry["lint"]
        assert entry["lint"]["findings"]

    memory = {operation.name: operation.effect for operation in imported("memory").operations or ()}
    assert (memory["read_graph"], memory["delete_entities"]) == ("read", "write")

    Path("p.md").write_text(PROCEDURE, encoding="utf-8")
    result = json.loads(aop("compile", "p.md", "--mcp-config", config, "--format", "json").stdout)
    assert result["status"] == "succeeded"
    assert result["diagnostics"] == []
    read, remember = result["phases"]
    files = {operation.name: operation.effect for operation in imported("files").operations or ()}
    assert "read_text_file" in read["tools"][0]["operations"]
    assert {files[name] for name in read["tools"][0]["operations"]} == {"read"}
    assert set(remember["tools"][0]["operations"]) == set(memory)
    assert "echo" in remember["handovers"][0]["operations"]
    aop("verify", "build/p/procedure.py", "p.md", "--mcp-config", config)
    pinned = json.loads(Path("build/p/manifest.json").read_text(encoding="utf-8"))["operations"]
    assert {entry["tool"] for entry in pinned} == {"everything", "files", "memory"}


def test_importing_again_changes_nothing(here: Path, aop: Aop) -> None:
    """The same list is the same file; only the servers named are asked."""
    config = configure(memory=npm_server("memory"), gone={"command": "no-such-program"})
    first = aop("catalog", "import", "memory", "--mcp-config", config).stdout
    assert first.startswith("memory: 9 operations (3 read, 6 write) -> aop-tools/memory.yaml")
    text = Path("aop-tools/memory.yaml").read_text(encoding="utf-8")
    assert (
        "memory: 9 operations (3 read, 6 write), as"
        in aop("catalog", "import", "memory", "--mcp-config", config).stdout
    )
    assert Path("aop-tools/memory.yaml").read_text(encoding="utf-8") == text
    assert str(here) not in text


def test_streamable_http(everything_over_http: str, aop: Aop) -> None:
    """The same server over HTTP lists the same, but for what it offers to such clients only."""
    config = configure(everything={"type": "http", "url": everything_over_http}, stdio=npm_server("everything"))
    aop("catalog", "import", "--mcp-config", config)
    remote = {operation.name: operation for operation in imported("everything").operations or ()}
    local = {operation.name: operation for operation in imported("stdio").operations or ()}
    assert {"echo", "get-sum"} <= remote.keys() & local.keys()
    assert remote["echo"] == local["echo"]


def test_an_address_for_a_tool_of_the_catalog(aop: Aop) -> None:
    """A server of the name of a shipped tool gives it its address; importing it changes nothing in the catalog."""
    config = configure(notion=npm_server("memory"))
    done = aop("catalog", "import", "--mcp-config", config)
    assert "The catalog has a tool notion already" in done.stdout
    shown = json.loads(aop("catalog", "show", "notion", "--mcp-config", config, "--format", "json").stdout)
    assert shown["layer"] == "shipped"
    assert [place["layer"] for place in shown["beside"]] == ["imported"]
    assert shown["address"]["layer"] == "mcp.json"
    assert "create_entities" not in {operation["name"] for operation in shown["operations"]}
