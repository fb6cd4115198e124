"""The scripted model: a file of turns that is read closely, and that a run cannot leave unnoticed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aop_runtime.engine.models import ScriptedModels
from aop_runtime.engine.run import Outcome, run
from aop_runtime.engine.script import ScriptFault, read_script

from .given import Given, compiled, done, started


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "s.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def played(tmp_path: Path, text: str) -> Outcome:
    models = ScriptedModels(read_script(written(tmp_path, text)))
    folder = started(tmp_path / "runs", compiled(tmp_path / "p", "p", "agent"))
    return asyncio.run(run(folder, Given(tmp_path / "log", models, ["crm.*"]), lambda *_: None))


HEAD = 'version: 1\nphases:\n  "1":\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}    - {{say: a}}\n    - {{says: b}}\n", "s.yaml:5: phases.1.1.says: nothing of this name"),
        (f"{HEAD}    - {{say: a}}\n    - calls:\n        - arguments: {{}}\n", "s.yaml:6: phases.1.1.calls.0.tool"),
        (f"{HEAD}    - expect: a\n", "s.yaml:4: phases.1.0: a turn has say, calls, or both"),
        (f"{HEAD}    - {{say: a}}\n  2:\n    - {{say: b}}\n", "s.yaml:6: phases.2"),
        (f'{HEAD}    - {{say: a}}\n  "1": []\n', "s.yaml:5: the key '1' is there twice"),
        (f"{HEAD}    - calls: [{{tool: t, arguments: {{day: 2026-11-30}}}}]\n", "s.yaml:4: phases.1.0.calls"),
        (f"{HEAD}    - calls: [{{tool: t, arguments: {{day: 2026-02-30}}}}]\n", "s.yaml: a value that there is not"),
        (f"{HEAD}    - &x {{say: a}}\n    - *x\n", "s.yaml:5: aliases"),
        (f"{HEAD}    - [\n", "s.yaml:5: not YAML"),
        ("version: 2\nphases: {}\n", "s.yaml:1: version"),
        ("[" * 5_000 + "]" * 5_000, "s.yaml:1: nested deeper"),
        ("", "s.yaml:1: the file"),
    ],
)  # fmt: skip
def test_a_mistake_is_pointed_at(tmp_path: Path, text: str, said: str) -> None:
    """File, line and what it is."""
    with pytest.raises(ScriptFault) as fault:
        read_script(written(tmp_path, text))
    assert said in str(fault.value)


def test_results_are_referred_to(tmp_path: Path) -> None:
    """By a pattern over the last ones, and by their place; values keep their type, texts their signs."""
    turns = """    - {calls: [{tool: find, arguments: {text: "a-17"}}, {tool: find, arguments: {text: é\\n}}]}
    - {calls: [{tool: find, arguments: {text: {$match: "find: a-([0-9]+)"}}}]}
    - {calls: [{tool: send, arguments: {text: {$result: 1.2.content}}}]}
    - {expect: {matches: "send: find: .+n"}, say: 終}
"""
    assert played(tmp_path, HEAD + turns) == Outcome("finished", result="終")
    assert done(tmp_path / "log") == ["find a-17", "find é\\n", "find 17", "send find: é\\n"]


@pytest.mark.parametrize(
    "path", ["1", "1.1.", "2.1.content", "1.2.content", "0.1.content", "1.1.no", "1.1.content.0", "x.y", "-1.1.ok"]
)
def test_a_result_that_is_not_there_ends_the_run(tmp_path: Path, path: str) -> None:
    """With the line of the turn. A whole result is an object, which is no text."""
    turns = f"""    - {{calls: [{{tool: find, arguments: {{text: a}}}}]}}
    - {{calls: [{{tool: find, arguments: {{text: {{$result: "{path}"}}}}}}]}}
    - {{expect: invalid_input, say: 終}}
"""
    outcome = played(tmp_path, HEAD + turns)
    if path in ("1.1.",):
        assert outcome == Outcome("finished", result="終")
    else:
        assert outcome.status == "failed"
        assert f"s.yaml:5: phase 1, turn 2: there is no result {path!r}" in outcome.message


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        ("    - {expect: 没有, say: a}\n", "s.yaml:4: phase 1, turn 1: expected '没有'"),
        ("    - {expect: {matches: '^x'}, say: a}\n", "s.yaml:4: phase 1, turn 1: expected what matches '^x'"),
        ("    - {expect: {matches: '('}, say: a}\n", "cannot be used"),
        ("    - {expect: {matches: '(a|a?)+$'}, say: a}\n", ""),
        ("    - {calls: [{tool: find, arguments: {text: {$match: 'x(y)'}}}]}\n", "no group of 'x(y)'"),
        ("    - {calls: [{tool: find, arguments: {text: a}}]}\n", "s.yaml: the script has 1 turns for phase 1"),
    ],
)
def test_a_run_that_goes_another_way_is_ended(tmp_path: Path, turns: str, said: str) -> None:
    """It fails, and can be resumed with another script."""
    outcome = played(tmp_path, HEAD + turns)
    if said:
        assert outcome.status == "failed"
    assert said in outcome.message


def test_the_same_script_gives_the_same_record(tmp_path: Path) -> None:
    """Time and ids of tool calls aside."""
    text = f"{HEAD}    - {{calls: [{{tool: find, arguments: {{text: a}}}}]}}\n    - {{say: 終}}\n"
    records: list[list[Any]] = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        played(tmp_path / name, text)
        lines = (tmp_path / name / "runs" / "r1" / "events.jsonl").read_text(encoding="utf-8").splitlines()
        records.append([line.split('"event":')[1].split(",")[0] for line in lines])
    assert records[0] == records[1]
