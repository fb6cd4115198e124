"""Procedures that use real MCP servers of the npm registry: compiled with their configuration, run by a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.main import main
from tests.catalog_live.live import npm_server

DOCUMENT = """\
# 覚え書き

## フェーズ 1: 書き留める (使う道具: filesystem と memory)

届いた内容をファイルに書き、人の名前を覚える。

## フェーズ 2: 読み返す (使う道具: memory (read-only), filesystem (read-only))

覚えたことを読み返して報告する。
"""
SCRIPT = """\
version: 1
phases:
  "1":
    - calls:
        - {{tool: write_file, arguments: {{path: "{folder}/memo.txt", content: 花子さんが来た}}}}
        - tool: create_entities
          arguments: {{entities: [{{name: 花子, entityType: person, observations: [来た]}}]}}
    - expect: 花子
      say: 書き留めた。
  "2":
    - calls:
        - {{tool: read_graph, arguments: {{}}}}
        - {{tool: read_text_file, arguments: {{path: "{folder}/memo.txt"}}}}
        - {{tool: write_file, arguments: {{path: "{folder}/other.txt", content: x}}}}
    - expect: 花子さんが来た
      say: 花子さんが来たと覚えている。
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    room = tmp_path / "room"
    room.mkdir()
    memory = {**npm_server("memory"), "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}}
    servers = {"filesystem": npm_server("filesystem", str(room)), "memory": memory}
    Path("mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    Path("memo.md").write_text(DOCUMENT, encoding="utf-8")
    Path("script.yaml").write_text(SCRIPT.format(folder=room), encoding="utf-8")
    return tmp_path


def test_servers_whose_operations_are_known_once_connected(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Writes and reads happen; under read-only no write is there, and calling it comes back as an error."""
    command = ["run", "memo.md", "--script", "script.yaml", "--mcp-config", "mcp.json", "--format", "jsonl"]
    status = main([*command, "--allow", "*"])
    said = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert status == 0, said[-3:]
    assert said[-1]["result"] == "花子さんが来たと覚えている。"
    assert (here / "room" / "memo.txt").read_text(encoding="utf-8") == "花子さんが来た"
    assert "花子" in (here / "memory.jsonl").read_text(encoding="utf-8")
    assert not (here / "room" / "other.txt").exists()
    ended = [event for event in said if event["event"] == "call-finished"]
    refused = [event for event in ended if event["envelope"]["error"] is not None]
    assert [(event["name"], event["envelope"]["error"]["code"]) for event in refused] == [
        ("write_file", "invalid_input")
    ]


def test_writes_wait_for_approval(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Without leave nothing is written; refused, the model is told so."""
    command = ["run", "memo.md", "--script", "script.yaml", "--mcp-config", "mcp.json", "--format", "jsonl"]
    assert main(command) == 3
    said = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert not (here / "room" / "memo.txt").exists()
    question = next(event for event in said if event["event"] == "question-asked")
    assert (question["address"], question["arguments"]["content"]) == ("filesystem.write_file", "花子さんが来た")
    assert main(["runs", "resume", said[0]["run"], "--deny", question["id"], "--format", "jsonl"]) == 3
    said = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    denied = [event for event in said if event["event"] == "call-finished"]
    assert denied[0]["envelope"]["error"]["code"] == "denied"
    assert not (here / "room" / "memo.txt").exists()
