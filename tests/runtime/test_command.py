"""`python procedure.py`: a compiled module run by itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import main

DOCUMENT = "# 数える\n\n## フェーズ 1: 数える (使う道具: なし)\n\n三つ数える。\n"
SCRIPT = 'version: 1\nphases:\n  "1": [{expect: 三つ, say: 一、二、三}]\n'
ROOT = Path(__file__).parents[2]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("count.md").write_text(DOCUMENT, encoding="utf-8")
    Path("script.yaml").write_text(SCRIPT.replace("三つ, ", "三つのうち, "), encoding="utf-8")
    assert main(["compile", "count.md"]) == 0
    return tmp_path / "build" / "count" / "procedure.py"


def python(module: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **environment}
    given.pop("AOP_MODEL", None)
    command = [sys.executable, str(module), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=given, timeout=60)


def test_it_says_what_it_declares_and_what_it_would_do(module: Path) -> None:
    """Without a model, a server or a record."""
    described = python(module, "--describe", "--lang", "en")
    assert (described.returncode, described.stdout) == (0, "Procedure: 数える\nPhase 1: 数える\n  no tools\n")
    dry = json.loads(python(module, "--dry-run", "--format", "jsonl").stdout)
    assert (dry["procedure"], dry["phases"][0]["tools"]) == ("数える", [])
    assert not (module.parents[2] / ".aop" / "runs").exists()


def test_it_runs_and_keeps_its_record(module: Path) -> None:
    """With the input that it is given, to its result."""
    ran = python(module, "--script", "script.yaml", "--input", "りんごは三つのうちいくつ")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.rstrip().endswith("一、二、三")
    assert main(["runs", "list"]) == 0


def test_without_a_model_it_says_how_to_name_one(module: Path) -> None:
    """Wrong usage: status 2, and nothing is recorded."""
    ran = python(module)
    assert ran.returncode == 2
    assert "--model" in ran.stderr
    assert not (module.parents[2] / ".aop" / "runs").exists()


def test_an_edited_module_is_not_run(module: Path) -> None:
    """It is no longer what its manifest was written for."""
    module.write_text(module.read_text(encoding="utf-8").replace("数える", "かぞえる", 1), encoding="utf-8")
    ran = python(module, "--script", "script.yaml")
    assert ran.returncode == 2
    assert "manifest.json" in ran.stderr


def test_it_takes_the_options_of_the_command_and_what_lies_where_it_is_run(
    module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`aop run` has those of compiling beside them. The rules of the folder hold in both."""
    own = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", python(module, "--help").stdout, re.M))
    main(["run", "--help"])
    command = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", capsys.readouterr().out, re.M))
    assert own - {"--describe"} == command - {"--catalog", "--org"}
    assert len(own) > 15
    rules = module.parents[2] / ".aop" / "permissions.yaml"
    rules.write_text("version: 2\n", encoding="utf-8")
    refused = python(module, "--dry-run")
    assert (refused.returncode, ".aop/permissions.yaml" in refused.stderr) == (2, True)


def test_a_module_of_another_name_is_refused(module: Path) -> None:
    """The manifest beside it is not its own; the module that it is of would be run in its place."""
    other = module.with_name("other.py")
    other.write_text("nothing of ours", encoding="utf-8")
    assert main(["run", str(other), "--dry-run"]) == 2
    module.replace(other)
    assert python(other, "--dry-run").returncode == 2


def test_a_run_goes_on_by_the_module_too(module: Path) -> None:
    """With another script and other limits, as by `aop run --resume`."""
    Path("empty.yaml").write_text("version: 1\nphases: {}\n", encoding="utf-8")
    Path("asked.txt").write_text("りんごは三つのうちいくつ", encoding="utf-8")
    given = ("--limit", "requests=1", "--input", "@asked.txt")
    assert python(module, "--script", "empty.yaml", *given).returncode == 1
    (run,) = [path.name for path in Path(".aop/runs").iterdir()]
    assert "requests" in python(module, "--resume", run, "--script", "script.yaml", "--limit", "requests=0").stdout
    ended = python(module, "--resume", run, "--script", "script.yaml", "--limit", "requests=2")
    assert (ended.returncode, ended.stdout.rstrip().endswith("一、二、三")) == (0, True)


@pytest.mark.parametrize("given", [("--limit", "wishes=3"), ("--input", "@none.txt"), ("--input", "@.")])
def test_an_option_that_cannot_be_read_is_one_sentence(module: Path, given: tuple[str, str]) -> None:
    """Status 2, and nothing is recorded."""
    ran = python(module, "--script", "script.yaml", *given)
    assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
    assert given[1].removeprefix("@") in ran.stderr
    assert not (module.parents[2] / ".aop" / "runs").exists()
