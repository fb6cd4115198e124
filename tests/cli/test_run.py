"""`aop run` and `aop runs`: from a document to its result on the command line, with nothing but a script."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BAD, Run, write

ASKING = """# 稟議

## フェーズ 1: 集める (使う道具: 添付ファイル)

読む。

## フェーズ 2: 決める (使う道具: hitl)

聞く。
"""
CALLING = "# 親\n\n## フェーズ 1: 頼む (呼び出す AOP: 稟議)\n"
TURNS = """
  "1":
    - calls: [{tool: list_attachments, arguments: {}}]
    - {expect: a.txt, say: 一件}
  "2":
    - {expect: 一件, calls: [{tool: ask_person, arguments: {question: 決裁しますか}}]}
    - {expect: はい, say: 決裁済み}
"""
ENGINE = [
    *("asyncio", "anyio", "httpx", "httpx2", "mcp", "mcp_types", "openai", "pydantic_ai"),
    *("jsonschema", "markdown_it", "rapidfuzz", "regex", "sqlite3", "yaml"),
]
SCRIPT = f"version: 1\nphases:{TURNS}"


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def asking(here: Path) -> Path:
    write("ask.md", ASKING)
    write("s.yaml", SCRIPT)
    write("a.txt", "A")
    return here


def test_a_document_runs_until_it_waits_and_goes_on_when_it_is_answered(asking: Path, inside: Run) -> None:
    """Status 3, and the command that answers; then the result and status 0. The record says all of it."""
    ran = inside("run", "ask.md", "--script", "s.yaml", "--attach", "a.txt", "--lang", "en", code=3)
    found = re.search(r"aop runs resume (\S+) --answer (\S+)=", ran.stdout)
    assert found is not None
    run, question = found.groups()
    assert inside("runs", "list", "--lang", "en", code=0).stdout.split()[:2] == [run, "waiting"]
    assert question in inside("runs", "show", run, code=0).stdout
    wrong = inside("runs", "resume", run, "--answer", "nothing=はい", code=2)
    assert question in wrong.stderr
    assert "=" in inside("runs", "resume", run, "--answer", "はい", code=2).stderr
    ended = inside("runs", "resume", run, "--answer", f"{question}=はい", code=0)
    assert ended.stdout.rstrip().endswith("決裁済み")
    listed = events(inside("runs", "list", "--format", "jsonl", code=0).stdout)
    assert [(entry["run"], entry["status"], entry["procedure"]) for entry in listed] == [(run, "finished", "稟議")]
    kept = asking / ".aop" / "runs" / run
    assert kept.stat().st_mode & 0o077 == 0
    recorded = events((kept / "events.jsonl").read_text(encoding="utf-8"))
    shown = events(inside("runs", "show", run, "--format", "jsonl", code=0).stdout)
    assert [{key: value for key, value in event.items() if key != "run"} for event in shown] == [
        {key: value for key, value in event.items() if key != "run"} for event in recorded
    ]


def test_who_is_to_answer_sees_the_choices(here: Path, inside: Run) -> None:
    """A question has no arguments to show, and may have answers to choose from."""
    write("ask.md", "# 決裁\n\n担当者に聞く (使う道具: hitl)。\n")
    asks = "{tool: ask_person, arguments: {question: 出しますか, choices: [はい, いいえ]}}"
    write("s.yaml", f'version: 1\nphases: {{"": [{{calls: [{asks}]}}]}}\n')
    ran = inside("run", "ask.md", "--script", "s.yaml", code=3)
    assert [line for line in ran.stdout.splitlines() if "?" in line] == ["  ? 確認待ち: 出しますか はい / いいえ"]


def test_the_output_for_programs_is_the_record(asking: Path, inside: Run) -> None:
    """Line by line, with the run's id; no other line stands between them."""
    ran = inside("run", "ask.md", "--script", "s.yaml", "--attach", "a.txt", "--format", "jsonl", code=3)
    shown = events(ran.stdout)
    assert [event["sequence"] for event in shown] == list(range(1, len(shown) + 1))
    assert shown[-1]["event"] == "run-waiting"
    (run,) = {event["run"] for event in shown}
    recorded = events((asking / ".aop" / "runs" / run / "events.jsonl").read_text(encoding="utf-8"))
    assert [event["event"] for event in recorded] == [event["event"] for event in shown]


def test_a_called_document_is_compiled_and_run_too(asking: Path, inside: Run) -> None:
    """As a run with a record of its own; its question is answered through the one that was started."""
    write("parent.md", CALLING)
    write(
        "p.yaml", f"version: 1\nphases: {{}}\ncalled:\n  稟議:\n    phases:{TURNS.replace(chr(10), chr(10) + '    ')}\n"
    )
    ran = inside("run", "parent.md", "--script", "p.yaml", "--attach", "a.txt", "--lang", "en", code=3)
    found = re.search(r"aop runs resume (\S+) --answer (\S+)=", ran.stdout)
    assert found is not None
    run, question = found.groups()
    assert {path.name for path in (asking / ".aop" / "runs").iterdir()} == {run, f"{run}.1"}
    ended = inside("runs", "resume", run, "--answer", f"{question}=はい", code=0)
    assert ended.stdout.rstrip().endswith("決裁済み")


def test_a_document_with_errors_is_not_run(here: Path, inside: Run) -> None:
    """What is wrong is said as by `aop compile`, on standard error; status 1; there is no run."""
    write("bad.md", BAD)
    ran = inside("run", "bad.md", "--script", "none.yaml", code=1)
    assert ran.stdout == ""
    assert "AOP201" in ran.stderr
    assert not (here / ".aop" / "runs").exists()


def test_a_dry_run_shows_what_each_phase_would_get(asking: Path, inside: Run) -> None:
    """Instructions, the tools as the model would know them with their schemas, and what the rules say. No model is
    named, and nothing is recorded."""
    write("rules.yaml", "version: 1\nrules:\n  - deny: hitl.*\n")
    found = json.loads(
        inside("run", "ask.md", "--dry-run", "--permissions", "rules.yaml", "--format", "jsonl", code=0).stdout
    )
    first, second = found["phases"]
    assert "読む。" in first["instructions"]
    assert [tool["operation"] for tool in first["tools"]] == ["list_attachments", "read_attachment"]
    assert first["tools"][1]["input_schema"]["additionalProperties"] is False
    assert [(tool["operation"], tool["gate"]) for tool in second["tools"]] == [("ask_person", "deny")]
    assert "hitl.ask_person(question, choices?)" in inside("run", "ask.md", "--dry-run", code=0).stdout
    assert not (asking / ".aop" / "runs").exists()


def test_a_run_is_cancelled_for_good(asking: Path, inside: Run) -> None:
    """It cannot be resumed."""
    inside("run", "ask.md", "--script", "s.yaml", "--attach", "a.txt", code=3)
    (run,) = [path.name for path in (asking / ".aop" / "runs").iterdir()]
    inside("runs", "cancel", run, code=0)
    assert "cancelled" in inside("runs", "list", code=0).stdout
    assert run in inside("runs", "resume", run, code=2).stderr


def test_what_failed_goes_on_with_another_script_or_limit(asking: Path, inside: Run) -> None:
    """`aop run --resume` and `aop runs resume` do the same."""
    write("empty.yaml", "version: 1\nphases: {}\n")
    failed = inside("run", "ask.md", "--script", "empty.yaml", "--attach", "a.txt", "--limit", "requests=1", code=1)
    (run,) = [path.name for path in (asking / ".aop" / "runs").iterdir()]
    assert f"aop runs resume {run}" in failed.stdout
    limited = inside("run", "--resume", run, "--script", "s.yaml", code=1)
    assert "requests" in limited.stdout
    inside("runs", "resume", run, "--limit", "requests=9", code=3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "DOCUMENT|PROCEDURE"),
        (("run", "ask.md"), "--model"),
        (("run", "ask.md", "--script", "none.yaml"), "none.yaml"),
        (("run", "ask.md", "--script", "a.txt"), "a.txt:1"),
        (("run", "ask.md", "--script", "s.yaml", "--limit", "requests=-1"), "requests=-1"),
        (("run", "ask.md", "--script", "s.yaml", "--limit", "wishes=3"), "wishes"),
        (("run", "ask.md", "--script", "s.yaml", "--attach", "none.txt"), "none.txt"),
        (("run", "ask.md", "--script", "s.yaml", "--input", "@none.txt"), "none.txt"),
        (("run", "ask.md", "--script", "s.yaml", "--permissions", "none.yaml"), "none.yaml"),
        (("run", "ask.md", "--script", "s.yaml", "--mcp-config", "none.json"), "none.json"),
        (("run", "none.md", "--script", "s.yaml"), "none.md"),
        (("run", "ask.md", "--format", "xml"), "xml"),
        (("runs", "show", "../../etc"), "../../etc"),
        (("runs", "resume", "20200101-000000-abcdef"), "20200101-000000-abcdef"),
        (("runs", "cancel", ".."), ".."),
    ],
)
def test_wrong_usage_is_one_sentence(asking: Path, inside: Run, words: tuple[str, ...], said: str) -> None:
    """Status 2; it names what is wrong, and nothing is begun."""
    ran = inside(*words, env={"AOP_MODEL": ""}, code=2)
    assert said in ran.stderr
    assert ran.stdout == ""
    assert list((asking / ".aop" / "runs").glob("*")) == []


@pytest.mark.parametrize(
    "words", [("run", "ask.md", "--script", "s.yaml"), ("runs", "show", "r"), ("run", "--resume", "r")]
)
def test_without_the_packages_that_running_needs_it_says_how_to_get_them(
    asking: Path, environment: dict[str, str], words: tuple[str, ...]
) -> None:
    """Status 2 and a sentence; what needs none of them works."""
    without = "import sys; sys.modules['pydantic_ai'] = None; from cli.main import main; sys.exit(main(sys.argv[1:]))"

    def aop(*given: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", without, *given]
        return subprocess.run(
            command, check=False, cwd=asking, env=environment, capture_output=True, text=True, timeout=60
        )

    ran = aop(*words)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("aop: pydantic_ai")
    assert "pip install 'aop[run]'" in ran.stderr
    assert aop("run", "ask.md", "--dry-run").returncode == 0
    assert aop("runs", "list").returncode == 0


def test_listing_runs_loads_nothing_of_the_engine(asking: Path, inside: Run, environment: dict[str, str]) -> None:
    """Whoever looks at what there is, waits for no model, server or compiler to be loaded."""
    inside("run", "ask.md", "--script", "s.yaml", "--attach", "a.txt", code=3)
    program = (
        "import sys; from cli.main import main; main(sys.argv[1:]); "
        f"print(sorted({{name.partition('.')[0] for name in sys.modules}} & {set(ENGINE)}))"
    )
    for words in (("runs", "list"), ("runs", "list", "--format", "jsonl")):
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            check=True,
            cwd=asking,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert "稟議" in done.stdout
        assert done.stdout.splitlines()[-1] == "[]"


def test_nothing_that_a_terminal_would_obey_is_shown(here: Path, inside: Run) -> None:
    """Of documents, and of what is asked for: in a dry run, in what goes on, and in the list of runs."""
    write("ask.md", "# 決裁\n\n\x1b[2J集める\u202e。\n")
    write("s.yaml", 'version: 1\nphases: {"": [{say: "\\e[2J済み"}]}\n')
    dry = inside("run", "ask.md", "--dry-run", code=0).stdout
    ran = inside("run", "ask.md", "--script", "s.yaml", "--input", "\x1b[31m急ぎ", code=0).stdout
    listed = inside("runs", "list", code=0).stdout
    for shown, word in ((dry, "集める"), (ran, "済み"), (listed, "急ぎ")):
        assert word in shown
        assert not {"\x1b", "\u202e"} & set(shown)


def test_a_module_finds_what_it_calls_wherever_one_stands(asking: Path, inside: Run) -> None:
    """Beside its own folder, also where that is the current one."""
    write("parent.md", CALLING)
    inside("compile", "ask.md", "parent.md", code=0)
    called = "called: {稟議: {phases: {'1': [{say: 一件}], '2': [{say: 済み}]}}}"
    write("p.yaml", f"version: 1\nphases: {{}}\n{called}\n")
    os.chdir(asking / "build" / "parent")
    for target in ("procedure.py", "."):
        assert inside("run", target, "--script", "../../p.yaml", code=0).stdout.rstrip().endswith("済み")
