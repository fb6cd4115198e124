"""Every conformance case holds; what was compiled verifies, and does not once a character of a fence is another one."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import CATALOG, MCP_CONFIG, Case, all_cases
from judge import objections

from cli.main import main

ROOT = Path(__file__).parents[2]
SETTING = ("--catalog", str(CATALOG), "--mcp-config", str(MCP_CONFIG))
CASES = all_cases()
WORD = re.compile(r"[A-Za-z0-9]{4,}")

Answer = tuple[int, str]
"""Exit status and standard output of a command."""

Aop = Callable[..., Answer]


def hold(case: Case, aop: Aop, folder: Path) -> None:
    """Compile the case's documents in the folder, and judge what comes out."""
    status, printed = aop("compile", case.write(folder), "--out", str(folder / "out"), "--format", "json", *SETTING)
    answer = json.loads(printed)
    results = answer if isinstance(answer, list) else [answer]
    result = next(one for one in results if Path(one["document"]["path"]).name == case.filename)
    assert objections(case.expect, result) == []
    if result["status"] == "failed":
        assert status == 1
        assert result["document"]["output"] is None
        return
    assert case.siblings or status == 0
    verified(result, aop, folder / case.filename)


def verified(result: dict[str, Any], aop: Aop, document: Path) -> None:
    """The written module is proven; changed in a fence it is refused."""
    module = Path(result["document"]["output"]) / "procedure.py"
    assert aop("verify", str(module), str(document), *SETTING)[0] == 0
    source = module.read_text(encoding="utf-8")
    texts = [fence["text"] for phase in result["phases"] for fence in phase["fences"]]
    words = sorted((word for text in texts for word in WORD.findall(text) if word in source), key=len)
    if words:
        word = words[-1]
        changed = module.with_name("changed.py")
        changed.write_text(source.replace(word, word[:-1] + ("x" if word[-1] != "x" else "y")), encoding="utf-8")
        assert aop("verify", str(changed), str(document), *SETTING)[0] == 1


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for documents, and a place for the compiled catalog."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / "cache"))
    monkeypatch.delenv("AOP_LANG", raising=False)
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_case(case: Case, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in this process: nothing but the compiler, its catalog and its output is at work."""

    def aop(*arguments: str) -> Answer:
        stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stdout)
            status = main(arguments)
        stdout.seek(0)
        return status, stdout.read()

    hold(case, aop, here)


@pytest.mark.parametrize("case", CASES[::25], ids=[case.id for case in CASES[::25]])
def test_case_by_the_real_command(case: Case, here: Path) -> None:
    """Some of them as a user would run them."""

    def aop(*arguments: str) -> Answer:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        line = [sys.executable, "-m", "cli", *arguments]
        done = subprocess.run(line, env=environment, capture_output=True, encoding="utf-8", timeout=60, check=False)
        return done.returncode, done.stdout

    hold(case, aop, here)


def test_ids_are_unique() -> None:
    """So that a failure names one case."""
    assert len({case.id for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {}),
        ({"a": [1]}, {"a": [1, 2]}),
        ({"operations": ["x"]}, {"operations": ["x", "y"]}),
        ({"operations": None}, {"operations": []}),
        ({"tools": [{"tool": "a"}, {"tool": "a"}]}, {"tools": [{"tool": "a"}, {"tool": "b"}]}),
        ({"suggestions_include": ["x"]}, {"suggestions": ["y"]}),
        ({"instructions_exclude": ["x"]}, {"instructions": "axb"}),
        ({"instructions_include": ["x"]}, {"instructions": None}),
    ],
)
def test_the_judge_objects(wanted: dict[str, Any], found: dict[str, Any]) -> None:
    """A judge that accepts everything would prove nothing."""
    result = {"status": "", "document": {"kind": "", "name": ""}, "diagnostics": [], "phases": [found]}
    assert objections({"phases": [wanted]}, result)
