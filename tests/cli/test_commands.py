"""The commands beside compile and check, end to end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BAD, CALLER, GOOD, ROOT, Run, write

from pipeline.diagnostics.codes import CODES

C = ("--catalog", "catalog.yaml")
FENCED = "# 集計\n\n## フェーズ 1: 数える (使う道具: slack の notify)\n\n```sql\nselect 1234 from sales\n```\n"


# --------------------------------------------------------------------------------------------------- verify


def compiled(inside: Run, text: str = FENCED) -> Path:
    """The module of a document at `a.md`."""
    write("a.md", text)
    inside("compile", "a.md", *C, code=0)
    return Path("build/a/procedure.py")


def test_verify_proves_what_compile_wrote(inside: Run) -> None:
    """Exit status 0, in words and as JSON."""
    module = compiled(inside)
    assert str(module) in inside("verify", str(module), "a.md", *C, code=0).stdout
    proof = json.loads(inside("verify", str(module), "a.md", *C, "--format", "json", code=0).stdout)
    assert proof == {"proven": True, "faults": [], "diagnostics": []}


@pytest.mark.parametrize(
    ("old", "new", "kind", "words"),
    [
        ("1234", "1235", "fence", "word for word"),
        ('sales"', 'sales "', "fence", "word for word"),
        ('"post_message"', '"post_message", "search_messages"', "tools", "search_messages"),
        ("PROCEDURE.main()", "PROCEDURE.main() ", "form", "last line"),
        ('title="数える"', 'title=f"数える"', "form", "declarations"),
        ("number=1", "number=2", "form", "number"),
    ],
)
def test_verify_refuses_what_was_changed(inside: Run, old: str, new: str, kind: str, words: str) -> None:
    """Exit status 1; each fault in words, with the line of the document."""
    module = compiled(inside)
    source = module.read_text(encoding="utf-8")
    assert old in source
    write("changed.py", source.replace(old, new))
    done = inside("verify", "changed.py", "a.md", *C, "--lang", "en", code=1)
    assert words in done.stdout
    assert re.search(r"^changed\.py: \d+ places do not agree", done.stdout, re.MULTILINE)
    assert "一致" not in done.stdout
    faults = json.loads(inside("verify", "changed.py", "a.md", *C, "--format", "json", code=1).stdout)["faults"]
    assert kind in [fault["kind"] for fault in faults]
    if kind == "fence":
        assert [(fault["phase"], fault["line"]) for fault in faults] == [(1, 5)]


def test_verify_of_another_document(inside: Run) -> None:
    """The code is of a document with other tools; or the document has errors itself."""
    module = compiled(inside)
    write("b.md", FENCED.replace("slack の notify", "slack の history"))
    assert "history" in inside("verify", str(module), "b.md", *C, code=1).stdout
    write("c.md", BAD)
    done = inside("verify", str(module), "c.md", *C, "--lang", "en", code=1)
    assert "error[AOP201]" in done.stdout
    assert "cannot be proven" in done.stdout


def test_verify_knows_the_folder_as_the_project(inside: Run) -> None:
    """A document that calls another one in its folder verifies, wherever the command is run."""
    write("p/weekly.md", GOOD)
    write("p/caller.md", CALLER)
    inside("compile", "p", *C, code=0)
    inside("verify", "build/caller/procedure.py", "p/caller.md", *C, code=0)


@pytest.mark.parametrize("arguments", [("none.py", "a.md"), ("build", "a.md"), ("a.md", "none.md"), ("a.md", ".")])
def test_verify_of_what_cannot_be_read(inside: Run, arguments: tuple[str, str]) -> None:
    """Exit status 2 and the path."""
    write("a.md", GOOD)
    Path("build").mkdir()
    done = inside("verify", *arguments, *C, code=2)
    assert next(name for name in arguments if name != "a.md") in done.stderr


def test_verify_of_bytes_that_are_no_code(inside: Run) -> None:
    """Not proven, like anything else that is not the declaration."""
    write("a.md", GOOD)
    Path("x.py").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in inside("verify", "x.py", "a.md", *C, "--lang", "en", code=1).stdout


# ------------------------------------------------------------------------------------------------------ why


def test_why(inside: Run) -> None:
    """What would run and the reason, before and after a compile and an edit; asking leaves nothing behind."""
    write("a.md", GOOD)
    outcomes = "runs (new) for the first time"
    assert inside("why", "a.md", *C, "--lang", "en", code=0).stdout.count(outcomes) == 5
    assert not Path(".aop").exists()
    inside("compile", "a.md", *C, code=0)
    assert inside("why", "a.md", *C, "--lang", "en", code=0).stdout.startswith(
        "a.md: the next compile would run nothing."
    )
    write("a.md", GOOD.replace("知らせる", "すぐ知らせる"))
    found = json.loads(inside("why", "a.md", *C, "--format", "json", code=0).stdout)
    assert found["document"] == "a.md"
    assert found["stages"][2] == {"stage": "generate", "phase": 1, "outcome": "ran", "reason": "document"}
    assert "生成（generate） フェーズ 1: 動く (document)" in inside("why", "a.md", *C, code=0).stdout
    assert "forced" in inside("why", "a.md", *C, "--reuse", "never", code=0).stdout
    before = json.loads(inside("cache", "stats", "--format", "json").stdout)
    inside("why", "a.md", *C, code=0)
    assert json.loads(inside("cache", "stats", "--format", "json").stdout) == before


# ------------------------------------------------------------------------------------------- explain, init


@pytest.mark.parametrize("code", ["AOP201", "aop201", "tool-unreadable"])
def test_explain(inside: Run, code: str) -> None:
    """By code or name, in both languages, as plain Markdown where nobody looks at a terminal."""
    assert inside("explain", code, code=0).stdout.startswith("# AOP201: tool-unreadable\n")
    english = inside("explain", code, "--lang", "en", code=0).stdout
    assert english.startswith("# AOP201: tool-unreadable\n")
    assert "A declaration contains words" in english


def test_explain_of_what_is_no_code(inside: Run) -> None:
    """Exit status 2, with close ones."""
    assert "tool-unreadable" in inside("explain", "tool-unreadabel", code=2).stderr
    assert "AOP201" in inside("explain", "?", "--lang", "en", code=2).stderr


@pytest.mark.parametrize("lang", ["ja", "en"])
def test_init_writes_a_procedure_that_compiles(inside: Run, lang: str) -> None:
    """With the shipped catalog, without a single diagnostic; an existing file stays."""
    done = inside("init", "procedures", "--lang", lang, code=0)
    assert done.stdout == "procedures/first-procedure.md\n"
    result = json.loads(inside("compile", "procedures/first-procedure.md", "--format", "json", code=0).stdout)
    assert result["diagnostics"] == []
    assert len(result["phases"]) == 3
    assert "<!--" not in "".join(phase["instructions"] for phase in result["phases"])
    write("procedures/first-procedure.md", "mine")
    assert "procedures/first-procedure.md" in inside("init", "procedures", "--lang", lang, code=2).stderr
    assert Path("procedures/first-procedure.md").read_text(encoding="utf-8") == "mine"


def test_init_where_nothing_can_be_written(inside: Run) -> None:
    """One sentence, exit status 2."""
    write("file", "")
    assert "file" in inside("init", "file/x", code=2).stderr


# ------------------------------------------------------------------------------------------------------ graph


def test_graph(inside: Run) -> None:
    """The same as in the output folder; to a file if asked for."""
    compiled(inside)
    chart = Path("build/a/graph.mmd").read_text(encoding="utf-8")
    assert inside("graph", "a.md", *C, code=0).stdout == chart
    inside("graph", "a.md", *C, "--out", "a.mmd", code=0)
    assert Path("a.mmd").read_text(encoding="utf-8") == chart
    assert inside("graph", "-", *C, stdin=FENCED, code=0).stdout == chart


def test_graph_of_a_broken_document(inside: Run) -> None:
    """What could be read is drawn, with a note; of an unreadable one there is nothing to draw."""
    write("a.md", BAD)
    done = inside("graph", "a.md", *C, code=0)
    assert done.stdout.startswith("flowchart TD\n")
    assert "a.md" in done.stderr
    write("b.md", "")
    assert "b.md" in inside("graph", "b.md", *C, code=2).stderr
    assert "none/x" in inside("graph", "a.md", *C, "--out", "none/x", code=2).stderr


# ------------------------------------------------------------------------------------------------------ cache


def test_cache(inside: Run) -> None:
    """Sizes, and smaller ones after pruning; asking makes no store."""
    assert "0 B" in inside("cache", "stats", code=0).stdout
    assert not Path(".aop").exists()
    write("a.md", GOOD)
    inside("compile", "a.md", *C, code=0)
    before = json.loads(inside("cache", "stats", "--format", "json", code=0).stdout)
    assert before["blobs"] > 0
    dropped = json.loads(inside("cache", "prune", "--max-size", "1KB", "--format", "json", code=0).stdout)
    after = json.loads(inside("cache", "stats", "--format", "json", code=0).stdout)
    assert after["blob_bytes"] + after["trace_bytes"] <= 1000
    assert before["blobs"] - dropped["blobs"] == after["blobs"]
    inside("compile", "a.md", *C, code=0)
    assert "--max-size" in inside("cache", "prune", "--max-size", "lots", code=2).stderr


# --------------------------------------------------------------------------------- help, completion, start-up

COMMANDS = ["compile", "check", "verify", "why", "explain", "init", "graph", "diff", "cache"]


def test_help_in_both_languages(inside: Run) -> None:
    """All commands are listed, and each has its help, in the language asked for."""
    for lang in ("ja", "en"):
        text = inside("--help", env={"AOP_LANG": lang}, code=0).stdout
        assert [word for word in COMMANDS if f"\n  {word} " in text] == COMMANDS
    assert "保存のたびに" in inside("compile", "--help", code=0).stdout
    assert "at every save" in inside("compile", "--help", env={"AOP_LANG": "en"}, code=0).stdout
    assert inside("diff", "-h", env={"AOP_LANG": "en"}, code=0).stdout.isascii()


def test_no_command_at_all(inside: Run) -> None:
    """The help, on standard error, and exit status 2."""
    done = inside(code=2)
    assert "compile" in done.stderr
    assert done.stdout == ""


def test_the_version(inside: Run) -> None:
    """As installed."""
    assert re.fullmatch(r"aop \d+\.\d+\.\d+\n", inside("--version", code=0).stdout)


def test_completion(aop: Run) -> None:
    """What a shell asks for: commands, values, codes."""

    def offered(words: str) -> list[str]:
        asked = {"_AOP_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()))}
        return aop(env=asked).stdout.split()

    assert "compile" in offered("aop ")
    assert offered("aop compile --format ") == ["text", "json", "jsonl", "sarif", "github"]
    assert set(offered("aop explain ")) >= {"AOP201", "tool-unreadable", *CODES}
    assert "_AOP_COMPLETE" in aop("--show-completion", env={"SHELL": "/bin/bash"}).stdout


SLOW = [
    "typer",
    "pydantic",
    "rich",
    "rapidfuzz",
    "jsonschema",
    "yaml",
    "sqlite3",
    "multiprocessing",
    "watchfiles",
    "ast",
]


def test_a_check_loads_nothing_that_it_does_not_need(environment: dict[str, str], here: Path) -> None:
    """Start-up time is what most checks consist of."""
    write("a.md", GOOD)
    program = (
        "import sys; from cli.main import main; main(sys.argv[1:]); "
        f"print([name for name in {SLOW} if name in sys.modules])"
    )
    line = [sys.executable, "-c", program, "check", "a.md"]
    subprocess.run(line, cwd=here, env=environment, check=True, capture_output=True)  # the catalog is compiled once
    done = subprocess.run(line, cwd=here, env=environment, check=True, capture_output=True, encoding="utf-8")
    loaded = done.stdout.splitlines()[-1]
    # inspect, which dataclasses needs, loads ast.
    assert loaded == "['ast']", loaded
    assert (ROOT / "cli").is_dir()
