"""A secret in what a model writes is in no file of a run and in nothing that is shown, and the run goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from aop_runtime.engine.people import write_answer
from aop_runtime.engine.run import Equipment, Outcome, pending, run
from aop_runtime.plane.questions import Answer
from aop_runtime.runs.events import Event
from aop_runtime.runs.folder import RunFolder
from aop_runtime.runs.record import read_record
from aop_runtime.runs.vault import Vault
from cli.main import main

from .given import Given, compiled, done, script, started, turn

SECRET = "s3cr3t-value"  # noqa: S105 - of a test
TWO = {
    "1": [turn(find=f"key {SECRET}"), turn(say=f"found with {SECRET}")],
    "2": [turn(expect=SECRET, send=f"b {SECRET}"), turn(expect="send: b", say=f"done with {SECRET}")],
}


def driven(folder: RunFolder, given: Given, seen: list[Event]) -> Outcome:
    return asyncio.run(run(folder, given, lambda _, event: seen.append(event)))


def files(folder: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def waiting(tmp_path: Path) -> RunFolder:
    """A run that waits for approval of a call with a secret among its arguments."""
    folder = started(tmp_path / "runs", compiled(tmp_path / "build" / "p", "p", "agent", "agent"))
    assert driven(folder, Given(tmp_path / "log", script(TWO), secrets=[SECRET]), []).status == "waiting"
    return folder


def approve(folder: RunFolder) -> None:
    ((where, question),) = pending(folder)
    write_answer(where.path, question, Answer(verdict="yes"))


def test_a_run_goes_on_with_the_secret_that_its_record_does_not_hold(tmp_path: Path, waiting: RunFolder) -> None:
    """What was approved is what is sent, the next phase is told what the one before it said, and events show none."""
    approve(waiting)
    seen: list[Event] = []
    outcome = driven(waiting, Given(tmp_path / "log", script(TWO), secrets=[SECRET]), seen)
    assert outcome == Outcome("finished", result=f"done with {SECRET}")
    assert done(tmp_path / "log") == [f"find key {SECRET}", f"send b {SECRET}"]
    assert SECRET not in (waiting.path / "events.jsonl").read_text(encoding="utf-8")
    assert SECRET not in json.dumps([event.model_dump(mode="json") for event in seen])
    shown = json.dumps([event.model_dump(mode="json") for event in read_record(waiting.path).events])
    assert SECRET not in shown
    assert "key ***" in shown
    assert "secret:" not in shown


def test_a_call_is_not_made_with_half_its_arguments(tmp_path: Path, waiting: RunFolder) -> None:
    """Where the environment does not hold the secret any more the run says so, and goes on when it does again."""
    approve(waiting)
    outcome = driven(waiting, Given(tmp_path / "log", script(TWO), secrets=["another-one"]), [])
    assert (outcome.status, "set it as it was" in outcome.message) == ("failed", True)
    assert done(tmp_path / "log") == [f"find key {SECRET}"]
    assert driven(waiting, Given(tmp_path / "log", script(TWO), secrets=[SECRET]), []).status == "finished"
    assert done(tmp_path / "log") == [f"find key {SECRET}", f"send b {SECRET}"]


def test_what_is_over_needs_no_secret(tmp_path: Path) -> None:
    """Calls that ended are taken from the record, whatever their arguments were."""
    turns = {"1": TWO["1"], "2": [turn(expect="found with ***", say="終わり")]}
    folder = started(tmp_path / "runs", compiled(tmp_path / "build" / "p", "p", "agent", "agent"))
    first = Given(tmp_path / "log", script({"1": TWO["1"]}), secrets=[SECRET])
    assert driven(folder, first, []).status == "failed"
    assert driven(folder, Given(tmp_path / "log", script(turns)), []) == Outcome("finished", result="終わり")
    assert done(tmp_path / "log") == [f"find key {SECRET}"]


class OwnSecret(Given):
    """The procedure that is called has a server of its own, with a secret that its caller's servers do not have."""

    def vault(self, folder: RunFolder) -> Vault:
        return Vault([SECRET] if "." in folder.run else [], folder.run)

    def called(self, procedure: str) -> Equipment:
        return OwnSecret(self.log, self.models.called(procedure), self.approved)


def test_the_result_of_a_called_procedure_brings_its_secrets_along(tmp_path: Path) -> None:
    """Into the record of its caller, which tells the next phase what it was told."""
    build = tmp_path / "build"
    compiled(build / "child", "子", "agent")
    module = compiled(build / "p", "p", "子", "agent")
    child = {"子": {"phases": {"1": [turn(say=f"key {SECRET}")]}}}
    folder = started(tmp_path / "runs", module, library=str(build))
    assert driven(folder, OwnSecret(tmp_path / "log", script({}, child)), []).status == "failed"
    assert SECRET not in (folder.path / "events.jsonl").read_text(encoding="utf-8")
    turns = script({"2": [turn(expect=f"key {SECRET}", say="終わり")]}, child)
    assert driven(folder, OwnSecret(tmp_path / "log", turns), []).result == "終わり"
    assert SECRET not in (folder.path / "events.jsonl").read_text(encoding="utf-8")


def test_the_command_shows_and_keeps_no_secret_of_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the file of servers and of the environment; in the text, the lines for programs, and every file of the run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRM_TOKEN", SECRET)
    servers = {"mcpServers": {"crm": {"command": "crm", "env": {"TOKEN": "${CRM_TOKEN}"}}}}
    Path("mcp.json").write_text(json.dumps(servers), encoding="utf-8")
    Path("a.md").write_text("# 聞く\n\n## フェーズ 1: 聞く (使う道具: hitl)\n\n尋ねる。\n", encoding="utf-8")
    ask = f"calls: [{{tool: ask_person, arguments: {{question: 'ok {SECRET}?'}}}}]"
    turns = f'version: 1\nphases:\n  "1":\n    - {ask}\n    - {{say: "token {SECRET}"}}\n'
    Path("turns.yaml").write_text(turns, encoding="utf-8")
    assert main(["run", "a.md", "--script", "turns.yaml"]) == 3
    (folder,) = Path(".aop/runs").iterdir()
    (question,) = [path.stem for path in (folder / "questions").iterdir()]
    assert main(["runs", "resume", folder.name, "--answer", f"{question}=yes {SECRET}"]) == 0
    for words in (["show", folder.name], ["show", folder.name, "--format", "jsonl"], ["list"]):
        assert main(["runs", *words]) == 0
    shown = "".join(capsys.readouterr())
    assert "token ***" in shown
    assert SECRET not in shown
    (folder / "answers" / f"{question}.json").unlink()  # the person's own file
    assert SECRET not in files(folder)
