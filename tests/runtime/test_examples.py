"""Every example procedure, from its Markdown to its result: compiled, run by its script, against real servers.

The connectors are served with the catalog's own operations and schemas; what the servers saw is compared with what the
phases were granted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli.main import main
from tests.runtime.servers.catalog_server import TOKEN, CatalogApi, CatalogServer

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
REQUEST = EXAMPLES / "scripts" / "依頼書.txt"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.md"))


class Office(NamedTuple):
    """The servers of a company."""

    mcp: CatalogServer
    browser: CatalogServer
    freee: CatalogApi

    def calls(self) -> list[str]:
        return [f"{call.tool}.{call.operation}" for server in self for call in server.calls]


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    with ExitStack() as stack:
        mcp = stack.enter_context(CatalogServer(["google_workspace", "slack", "exa", "bigquery"], "http"))
        browser = stack.enter_context(CatalogServer(["browser"], loaded=True))
        yield Office(mcp, browser, stack.enter_context(CatalogApi("freee")))


@pytest.fixture
def here(office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a company that uses the examples: its servers, its catalog."""
    for server in office:
        server.forget()
    (tmp_path / "examples").mkdir()
    for path in EXAMPLES.glob("*.md"):
        (tmp_path / "examples" / path.name).write_bytes(path.read_bytes())
    servers = {**office.mcp.entries(), **office.browser.entries()}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    office.freee.write_catalog(tmp_path / "aop-catalog.yaml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FREEE_ACCESS_TOKEN", TOKEN)
    return tmp_path


ANSWERS: Mapping[str, list[str]] = {
    "incident-response": ["戻す"],
    "monthly-close": ["はい", "承認する"],
    "quote": ["承認する"],
}
RESULTS: Mapping[str, str] = {
    "competitor-research": "資料を書きました。",
    "data-quality-check": "判定は正常。",
    "incident-response": "記録を書いた。",
    "monthly-close": "締めを知らせた。",
    "onboarding": "山田太郎さんの入社手続きは、すべて済んだ。",
    "quote": "下書きを作った。",
}
WRITES: Mapping[str, list[str]] = {
    "competitor-research": ["google_workspace.create_doc"],
    "data-quality-check": ["google_workspace.modify_sheet_values"],
    "incident-response": ["slack.conversations_add_message", "google_workspace.create_doc"],
    "monthly-close": ["freee.create_manual_journal", "bigquery.execute_sql", "slack.conversations_add_message"],
    "onboarding": [
        "google_workspace.send_gmail_message",
        "slack.conversations_add_message",
        "google_workspace.manage_event",
    ],
    "quote": ["freee.quotations_create", "google_workspace.draft_gmail_message"],
}


def events(lines: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_to_its_result(
    name: str, here: Path, office: Office, capfd: pytest.CaptureFixture[str]
) -> None:
    """Stopping at each write and question until somebody answers, in another invocation; each write happens once."""
    script = str(EXAMPLES / "scripts" / f"{name}.yaml")
    command = ["run", f"examples/{name}.md", "--script", script, "--attach", str(REQUEST), "--format", "jsonl"]
    status = main(command)
    said = events(capfd.readouterr().out)
    run = said[0]["run"]
    answers = list(ANSWERS.get(name, []))
    approved: list[str] = []
    while status == 3:
        asked = [event for event in said if event["event"] == "question-asked"][-1]
        resume = ["runs", "resume", run, "--format", "jsonl"]
        if asked["kind"] == "approval":
            approved.append(asked["address"])
            resume += ["--approve", asked["id"]]
        else:
            resume += ["--answer", f"{asked['id']}={answers.pop(0)}"]
        status = main(resume)
        said = events(capfd.readouterr().out)
    assert status == 0, [event.get("message") or event.get("envelope") for event in said[-4:]]
    assert said[-1]["event"] == "run-finished"
    assert said[-1]["result"].startswith(RESULTS[name])
    assert approved == WRITES[name]
    assert answers == []
    calls = office.calls()
    for address in set(WRITES[name]):
        assert calls.count(address) == WRITES[name].count(address)


def test_a_hand_over_reaches_its_tool_word_for_word(
    here: Path, office: Office, capfd: pytest.CaptureFixture[str]
) -> None:
    """The fence of the document with its values, as the argument; nothing was retyped."""
    script = str(EXAMPLES / "scripts" / "data-quality-check.yaml")
    status = main(["run", "examples/data-quality-check.md", "--script", script, "--allow", "*"])
    assert status == 0, capfd.readouterr()
    (sent,) = [call.arguments for call in office.mcp.calls if call.operation == "execute_sql_readonly"]
    text = (EXAMPLES / "data-quality-check.md").read_text(encoding="utf-8")
    found = re.search(r"   ```sql\n(   with day_rows.*?)   ```", text, re.DOTALL)
    assert found is not None
    fence = re.sub(r"^   ", "", found[1], flags=re.MULTILINE).replace("@対象の日", "2026-10-31")
    assert sent == {"projectId": "acme-dwh-prod", "query": fence}


def test_a_person_can_follow_a_run(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Phases, calls, results, and at the end the result; afterwards from the record."""
    script = str(EXAMPLES / "scripts" / "data-quality-check.yaml")
    assert main(["run", "examples/data-quality-check.md", "--script", script, "--allow", "*", "--lang", "ja"]) == 0
    shown = capfd.readouterr().out
    for part in (
        "▶ 売上データの品質点検",
        "→ bigquery.get_table_info",
        "✎ google_workspace.modify_sheet_values",
        "✔",
        "結果:",
    ):
        assert part in shown
    assert main(["runs", "list"]) == 0
    listed = capfd.readouterr().out
    run = listed.split()[0]
    assert "finished" in listed
    assert main(["runs", "show", run]) == 0
    assert "✎ google_workspace.modify_sheet_values" in capfd.readouterr().out
