"""Denied is denied: what a model or a server does that it must not comes to nothing.

Of each attempt there is a structured error for the model, an entry in the audit, and no side effect.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.main import main
from tests.runtime.servers.catalog_server import CatalogServer

DOCUMENT = """\
# 連絡

## フェーズ 1: 読んで知らせる (使う道具: slack の history (read-only), exa の web (read-only))

読む。

## フェーズ 2: 知らせる (使う道具: slack の notify)

知らせる。

## フェーズ 3: そのまま渡す

(この文を slack の notify に、そのまま渡す。差し替え: 【名前】)

channel_id: `#general`

```text
こんにちは、【名前】さん
```
"""
POST = {"channel_id": "#general", "text": "x"}


@pytest.fixture(scope="module")
def server() -> Iterator[CatalogServer]:
    with CatalogServer(["slack", "exa", "github"], "http") as started:
        yield started


@pytest.fixture
def here(server: CatalogServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    server.forget()
    server.behave()
    server.write(tmp_path / "mcp.json")
    (tmp_path / "連絡.md").write_text(DOCUMENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def turns(*calls: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
    made = [{"calls": [{"tool": tool, "arguments": arguments} for tool, arguments in turn]} for turn in calls]
    return [*made, {"say": "終わり"}]


def attempt(
    here: Path, capfd: pytest.CaptureFixture[str], phases: Mapping[str, Any], *options: str
) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Exit status, what ended with an error, and the audit."""
    script = {"version": 1, "phases": {"1": turns(), "2": turns(), "3": turns(), **phases}}
    (here / "script.yaml").write_text(yaml.safe_dump(script, allow_unicode=True), encoding="utf-8")
    capfd.readouterr()
    status = main(["run", "連絡.md", "--script", "script.yaml", "--format", "jsonl", *options])
    said = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    audit = here / ".aop" / "runs" / said[0]["run"] / "audit.jsonl"
    lines = [json.loads(line) for line in audit.read_text(encoding="utf-8").splitlines()] if audit.exists() else []
    ended = [event for event in said if event["event"] == "call-finished"]
    return status, [event for event in ended if event["envelope"]["error"] is not None], lines


def codes(errors: Sequence[Mapping[str, Any]]) -> list[str]:
    return [event["envelope"]["error"]["code"] for event in errors]


@pytest.mark.parametrize(
    ("phase", "tool", "arguments"),
    [
        ("1", "get_issue", {"owner": "a", "repo": "b", "issue_number": 1}),
        ("1", "conversations_add_message", POST),
        ("1", "slack__conversations_add_message", POST),
        ("1", "slack.conversations_add_message", POST),
        ("1", "handover_1", {"value_1": "x"}),
        ("1", "run_shell", {"code": "id"}),
        ("1", "read_result", {"result": "../../run", "offset": 0}),
        ("1", "conversations_history", {"channel_id": 1}),
        ("1", "conversations_history", {"channel_id": "#a", "limit": "1", "as_admin": True}),
        ("1", "conversations_history", "{not json"),
        ("1", "conversations_history", '{"channel_id": "#a", "channel_id": "#b"}'),
        ("2", "conversations_add_message", {**POST, "token": "x"}),
        ("3", "conversations_add_message", POST),
        ("3", "handover_1", {"value_1": "x", "value_2": "y"}),
        ("3", "handover_1", {}),
        ("3", "handover_1", {"text": "別の文"}),
    ],
)
def test_what_was_not_granted_or_does_not_fit(
    here: Path, server: CatalogServer, capfd: pytest.CaptureFixture[str], phase: str, tool: str, arguments: object
) -> None:
    """Undeclared, unknown, a write under read-only, malformed: even with leave for everything."""
    status, errors, audit = attempt(here, capfd, {phase: turns([(tool, arguments)])}, "--allow", "*")
    assert status == 0
    assert codes(errors) == ["invalid_input"]
    assert [call.operation for call in server.calls] == []
    assert [line.get("code") for line in audit if line["event"] == "ended"] == ["invalid_input"]


def test_a_rule_denies_whatever_the_model_says(
    here: Path, server: CatalogServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """And whatever the command line allows."""
    (here / ".aop").mkdir()
    rule = "version: 1\nrules:\n  - deny: slack.*\n    when: {channel_id: '#general'}\n"
    (here / ".aop" / "permissions.yaml").write_text(rule, encoding="utf-8")
    phases = {"2": turns([("conversations_add_message", POST)]), "3": turns([("handover_1", {"value_1": "花子"})])}
    status, errors, audit = attempt(here, capfd, phases, "--allow", "*")
    assert status == 0
    assert codes(errors)[0] == "denied"
    assert [call.operation for call in server.calls] == []
    assert {line["action"] for line in audit if line["event"] == "decided" and line["effect"] == "write"} == {"deny"}


@pytest.mark.parametrize(
    "value", ['"); drop', "${PATH}", "`id`", "a\nb\r\n", "import x from 'y'\n", "\\u0000", "【名前】", "x" * 900_000]
)
def test_a_value_stays_a_value(
    here: Path, server: CatalogServer, capfd: pytest.CaptureFixture[str], value: str
) -> None:
    """It arrives as it is, in its place; the rest of the text is the fence's."""
    status, errors, _ = attempt(here, capfd, {"3": turns([("handover_1", {"value_1": value})])}, "--allow", "*")
    sent = [call.arguments for call in server.calls]
    if errors:
        assert codes(errors) == ["invalid_input"]
        assert sent == []
    else:
        assert sent == [{"channel_id": "#general", "text": f"こんにちは、{value}さん\n"}]
    assert status == 0


@pytest.mark.parametrize("mode", ["gone", "effect", "schema", "argument-gone"])
def test_a_server_that_is_another_one_now(
    here: Path, server: CatalogServer, capfd: pytest.CaptureFixture[str], mode: str
) -> None:
    """A changed list, effect or schema: the call is not made, or only as it was compiled."""
    server.misbehave(mode, "slack.conversations_add_message")
    status, errors, audit = attempt(here, capfd, {"2": turns([("conversations_add_message", POST)])}, "--allow", "*")
    sent = [call.arguments for call in server.calls]
    if status == 0 and not errors:
        assert mode == "effect"
        assert sent == [POST]
        return
    assert sent == []
    if status == 0:
        assert codes(errors) == ["conflict"]
        assert [line.get("code") for line in audit if line["event"] == "ended"] == ["conflict"]


@pytest.mark.parametrize("mode", ["error", "limited", "flood"])
def test_a_server_that_fails(here: Path, server: CatalogServer, capfd: pytest.CaptureFixture[str], mode: str) -> None:
    """The model is told so, and nothing is done twice."""
    server.misbehave(mode, "slack.conversations_add_message")
    try:
        status, errors, audit = attempt(
            here, capfd, {"2": turns([("conversations_add_message", POST)])}, "--allow", "*"
        )
    finally:
        server.behave()
    assert status == 0
    assert len(errors) == 1
    assert codes(errors)[0] in ("dependency_failure", "rate_limited", "conflict", "invalid_input", "internal")
    assert len(server.calls) <= 1
    assert [line.get("code") for line in audit if line["event"] == "ended"] == codes(errors)


def test_a_servers_instructions_have_no_authority(
    here: Path, server: CatalogServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """What a result says is data in its frame; nothing follows from it."""
    server.misbehave("instructions", "slack.conversations_history")
    script = {"1": [*turns([("conversations_history", {"channel_id": "#a", "limit": "1"})])[:-1],
                    {"expect": '"untrusted_data_from"', "say": "読んだ"}]}  # fmt: skip
    status, errors, _ = attempt(here, capfd, script)
    assert (status, errors) == (0, [])
    assert [call.operation for call in server.calls] == ["conversations_history"]
