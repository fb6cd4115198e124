"""`aop compile` and `aop check`, end to end: what is printed where, what is written, and the exit status."""

from __future__ import annotations

import json
import os
import pty
import socket
import subprocess
import time
from pathlib import Path

import jsonschema
import pytest
from conftest import BAD, CALLER, GOOD, ROOT, WARNED, Run, command, write

from cli.reading import LARGEST

C = ("--catalog", "catalog.yaml")


def listing(folder: str) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in Path(folder).iterdir())


# ---------------------------------------------------------------------------------------------- exit statuses


@pytest.mark.parametrize(
    ("document", "options", "code"),
    [(GOOD, (), 0), (BAD, (), 1), (WARNED, (), 0), (WARNED, ("--strict",), 1), (GOOD, ("--strict",), 0)],
)
@pytest.mark.parametrize("name", ["compile", "check"])
def test_the_exit_status_says_how_it_went(
    aop: Run, name: str, document: str, options: tuple[str, ...], code: int
) -> None:
    """0 succeeded, 1 failed or, with --strict, warned."""
    write("a.md", document)
    aop(name, "a.md", *C, *options, code=code)


def test_compile_writes_what_check_does_not(aop: Run) -> None:
    """A folder with three files; a check leaves no trace, not even a store."""
    write("a.md", GOOD)
    aop("check", "a.md", *C, code=0)
    assert listing(".") == ["a.md", "catalog.yaml"]
    aop("compile", "a.md", *C, code=0)
    assert listing("build/a") == ["graph.mmd", "manifest.json", "procedure.py"]


def test_a_failure_leaves_the_earlier_output_alone(aop: Run) -> None:
    """Also its time of change; and nothing is written for what never succeeded."""
    write("a.md", GOOD)
    aop("compile", "a.md", *C, code=0)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path("build/a").iterdir()}
    write("a.md", BAD)
    write("b.md", BAD)
    aop("compile", "a.md", "b.md", *C, code=1)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path("build/a").iterdir()} == before
    assert listing("build") == ["a"]


def test_deleted_output_comes_back(aop: Run) -> None:
    """Although nothing has to be compiled for it."""
    write("a.md", GOOD)
    aop("compile", "a.md", *C, code=0)
    module = Path("build/a/procedure.py")
    source = module.read_bytes()
    module.unlink()
    aop("compile", "a.md", *C, code=0)
    assert module.read_bytes() == source


def test_out(aop: Run) -> None:
    """Another folder, also one deep down; the result names it."""
    write("a.md", GOOD)
    done = aop("compile", "a.md", *C, "--out", "x/y", "--format", "json", code=0)
    assert json.loads(done.stdout)["document"]["output"] == "x/y/a"
    assert Path("x/y/a/procedure.py").is_file()


# --------------------------------------------------------------------------------------------------- formats


def test_json_is_one_result_or_an_array(aop: Run) -> None:
    """An array where several were named, as a folder or a pattern does even for one document."""
    write("d/a.md", GOOD)
    assert json.loads(aop("check", "d/a.md", *C, "--format", "json").stdout)["document"]["path"] == "d/a.md"
    for name in ("d", "d/*.md"):
        assert [r["document"]["path"] for r in json.loads(aop("check", name, *C, "--format=json").stdout)] == ["d/a.md"]
    write("d/b.md", BAD)
    results = json.loads(aop("check", "d/b.md", "d/a.md", *C, "--format=json", code=1).stdout)
    assert [(r["document"]["path"], r["status"]) for r in results] == [("d/b.md", "failed"), ("d/a.md", "succeeded")]


def test_json_is_written_in_pieces_as_it_would_be_at_once(aop: Run) -> None:
    """Indented, on one line for `jsonl`; with phases and diagnostics, and without either."""
    write("a.md", GOOD)
    write("b.md", BAD)
    write("c.md", "")
    for name in ("a.md", "b.md", "c.md"):
        text = aop("compile", name, *C, "--format=json").stdout
        assert text == f"{json.dumps(json.loads(text), ensure_ascii=False, indent=2)}\n"
        line = aop("check", name, *C, "--format=jsonl").stdout
        assert line == f"{json.dumps(json.loads(line), ensure_ascii=False, separators=(',', ':'))}\n"


def test_the_result_has_the_one_shape(aop: Run) -> None:
    """Keys in their order; `instructions` and `output` only where code was made."""
    write("a.md", GOOD)
    result = json.loads(aop("compile", "a.md", *C, "--format=json", code=0).stdout)
    assert list(result) == ["status", "document", "diagnostics", "phases", "stages"]
    assert list(result["document"]) == ["name", "path", "sha256", "kind", "output"]
    assert result["document"]["output"] == "build/a"
    assert "知らせる。" in result["phases"][0]["instructions"]
    assert [stage["outcome"] for stage in result["stages"]] == ["ran"] * 5
    checked = json.loads(aop("check", "a.md", *C, "--format=json", code=0).stdout)
    assert checked["document"]["output"] is None
    assert checked["phases"][0]["instructions"] is None
    again = json.loads(aop("compile", "a.md", *C, "--format=json", code=0).stdout)
    assert {stage["reason"] for stage in again["stages"]} == {"same"}
    assert {**again, "stages": []} == {**result, "stages": []}


def test_jsonl_is_a_result_a_line_in_order(aop: Run) -> None:
    """Documents with calls, which are known last, keep their place."""
    write("d/a.md", CALLER)
    write("d/b.md", GOOD)
    write("d/c.md", BAD)
    lines = aop("check", "d", *C, "--format", "jsonl", code=1).stdout.splitlines()
    assert [json.loads(line)["document"]["path"] for line in lines] == ["d/a.md", "d/b.md", "d/c.md"]


def test_jsonl_streams(here: Path, environment: dict[str, str]) -> None:
    """A line is there while later documents are still being worked on."""
    write("d/a.md", GOOD)
    large = "".join(f"## フェーズ {n}: 段\n\n(使う道具: slack の notify)\n\n" for n in range(1, 4000))
    write("d/b.md", f"# 大きい\n\n{large}")
    with subprocess.Popen(
        command("compile", "d", *C, "--format", "jsonl"), cwd=here, env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert process.poll() is None
        rest = process.stdout.read()
    assert first["document"]["path"] == "d/a.md"
    assert json.loads(rest)["document"]["path"] == "d/b.md"


def test_sarif_is_valid(aop: Run) -> None:
    """One log of all documents, by the published schema, with places that exist."""
    write("d/a.md", GOOD)
    write("d/名前 #1.md", BAD)
    write("d/w.md", WARNED)
    log = json.loads(aop("check", "d", *C, "--format", "sarif", code=1).stdout)
    schema = json.loads((ROOT / "tests/data/sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.validate(log, schema)
    (run,) = log["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["AOP207", "AOP201"]
    assert run["tool"]["driver"]["version"]


def test_github(aop: Run) -> None:
    """Annotations and nothing else."""
    write("a.md", BAD)
    done = aop("check", "a.md", *C, "--format", "github", code=1)
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error file=a.md,line=3,endLine=3,col=23,endColumn=28,title=AOP201 tool-unreadable::")


def test_text(aop: Run) -> None:
    """Diagnostics with their lines, then one line that sums up; in the language asked for."""
    write("a.md", BAD)
    write("b.md", GOOD)
    japanese = aop("check", "a.md", "b.md", *C, code=1).stdout
    assert "a.md:3:23: error[AOP201] tool-unreadable: フェーズ 1 の宣言" in japanese
    assert japanese.endswith("\n成功 1、失敗 1（エラー 1、警告 0）。\n")
    english = aop("compile", "a.md", "b.md", *C, env={"AOP_LANG": "en"}, code=1).stdout
    assert english.endswith("\n1 succeeded, 1 failed (1 errors, 0 warnings). Output: build/b\n")
    assert "\x1b" not in japanese + english


def test_colour(aop: Run) -> None:
    """Only if asked for, where nobody looks at a terminal."""
    write("a.md", BAD)
    assert "\x1b[1;31merror[AOP201]" in aop("check", "a.md", *C, "--color", "always", code=1).stdout
    assert "\x1b" not in aop("check", "a.md", *C, "--color", "always", "--format", "json", code=1).stdout


# ------------------------------------------------------------------------------------------------ documents


def test_standard_input(aop: Run) -> None:
    """Its path is `-`; without a heading it is called `stdin`; its folder's documents can be called."""
    result = json.loads(aop("compile", "-", *C, "--format=json", stdin=GOOD, code=0).stdout)
    assert (result["document"]["path"], result["document"]["output"]) == ("-", "build/週次報告")
    named = json.loads(aop("check", "-", *C, "--format=json", stdin="手順だけ。", code=0).stdout)
    assert named["document"]["name"] == "stdin"
    write("weekly.md", GOOD)
    called = json.loads(aop("check", "-", *C, "--format=json", stdin=CALLER, code=0).stdout)
    assert called["phases"][0]["calls"] == "週次報告"
    text = aop("check", "-", *C, stdin=BAD, code=1).stdout
    assert text.startswith("-:3:23: error[AOP201]")
    assert "3 | ## フェーズ 1: 集める (使う道具: 会計ソフト)" in text


def test_a_single_document_calls_its_neighbours(aop: Run) -> None:
    """By name and by relative path, also below; from another folder, too."""
    write("p/weekly.md", GOOD)
    write("p/caller.md", CALLER)
    write("p/by-path.md", "# 二\n\n(呼び出す AOP: sub/deep.md)\n")
    write("p/sub/deep.md", "# 深い\n\nする。(使う道具: なし)\n")
    aop("check", "p/caller.md", *C, code=0)
    aop("check", "p/by-path.md", *C, code=0)
    Path("elsewhere").mkdir()
    for name in ("../p/caller.md", "../p/by-path.md", str(Path("p/by-path.md").absolute())):
        done = subprocess.run(
            command("check", name, "--catalog", "../catalog.yaml"),
            cwd="elsewhere",
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_unreadable_documents_do_not_stop_the_others(aop: Run) -> None:
    """Each a sentence on standard error, exit status 2, and nothing hangs on a pipe that nobody writes to."""
    write("d/good.md", GOOD)
    Path("d/dangling.md").symlink_to("nowhere")
    os.mkfifo("d/pipe.md")
    Path("d/round.md").symlink_to("round.md")
    server = socket.socket(socket.AF_UNIX)
    server.bind("d/socket.md")
    done = aop("check", "d", *C, "--format", "jsonl", "--lang", "en", code=2)
    server.close()
    assert [json.loads(line)["document"]["path"] for line in done.stdout.splitlines()] == ["d/good.md"]
    assert done.stderr.splitlines() == [
        "aop: d/dangling.md: it does not exist. Check the path.",
        "aop: d/pipe.md: it is no file but a named pipe or a device. Send its content to - (standard input).",
        "aop: d/round.md: the link leads in a circle. Mend the link.",
        "aop: d/socket.md: it is no file but a named pipe or a device. Send its content to - (standard input).",
    ]


def test_a_document_is_never_read_in_part(aop: Run) -> None:
    """However much is allowed: beyond what we read of any document it is too large."""
    with Path("large.md").open("wb") as file:
        file.write(GOOD.encode())
        file.truncate(LARGEST + 1)
    done = aop("check", "large.md", *C, "--max-bytes", "100GB", "--format", "json", code=1)
    (found,) = json.loads(done.stdout)["diagnostics"]
    assert found["name"] == "document-too-large"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.md", "no such file"),
        ("empty", "no documents"),
        ("*.markdown", "no file matches"),
        ("folder.md", "no documents"),
        ("pipe.md", "named pipe"),
    ],
)
def test_what_cannot_be_compiled_is_said(aop: Run, name: str, words: str) -> None:
    """One clear sentence with the path, exit status 2, nothing on standard output."""
    Path("empty").mkdir()
    Path("folder.md").mkdir()
    os.mkfifo("pipe.md")
    done = aop("compile", name, *C, "--lang", "en", "--format", "json", code=2)
    assert done.stdout == ""
    assert name in done.stderr
    assert words in done.stderr
    assert not Path("build").exists()


def test_documents_that_are_bad_in_every_way(aop: Run) -> None:
    """Not UTF-8, a NUL, empty, too large: diagnostics of the document, not faults of the command."""
    Path("latin.md").write_bytes(b"# caf\xe9\n")
    Path("nul.md").write_bytes(b"# x\n\0\n")
    Path("empty.md").write_bytes(b"")
    write("large.md", "x" * 2000)
    done = aop("check", "latin.md", "nul.md", "empty.md", "large.md", *C, "--max-bytes", "1KB", "--format=json", code=1)
    found = [[d["name"] for d in result["diagnostics"]] for result in json.loads(done.stdout)]
    assert found == [["document-unreadable"]] * 3 + [["document-too-large"]]


def test_names_that_are_not_utf_8(here: Path, environment: dict[str, str]) -> None:
    """The path in JSON reads back as the file's name."""
    name = os.fsdecode(b"\xff\xfe.md")
    write(name, GOOD)
    done = subprocess.run(
        command("compile", name, *C, "--format", "json"),
        cwd=here,
        env=environment,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["document"]["path"] == name
    text = subprocess.run(command("check", name, *C), cwd=here, env=environment, capture_output=True, check=True)
    assert text.stdout.decode("utf-8")


# ---------------------------------------------------------------------------------------------------- many


def test_many_documents_on_all_cores(aop: Run) -> None:
    """The same results, in order, as with one process."""
    for number in range(60):
        write(f"d/{number:02}.md", (BAD if number % 7 == 0 else GOOD).replace("週次", f"{number} 次"))
    several = aop("check", "d", *C, "--format", "jsonl", "--jobs", "2", code=1).stdout
    assert several == aop("check", "d", *C, "--format", "jsonl", "--jobs", "1", code=1).stdout
    assert len(several.splitlines()) == 60


def test_nothing_is_printed_beside_the_results(aop: Run) -> None:
    """Not even a progress bar for many documents, where there is no terminal."""
    for number in range(60):
        write(f"d/{number:02}.md", GOOD)
    assert aop("check", "d", *C, code=0).stderr == ""


def test_a_progress_bar_on_a_terminal(here: Path, environment: dict[str, str]) -> None:
    """On standard error, and gone in the end; the results are as without it."""
    for number in range(60):
        write(f"d/{number:02}.md", BAD if number == 30 else GOOD)
    terminal, slave = pty.openpty()
    line = command("check", "d", *C, "--format", "jsonl", "--lang", "en")
    with subprocess.Popen(line, cwd=here, env=environment, stdout=subprocess.PIPE, stderr=slave) as process:
        os.close(slave)
        assert process.stdout is not None
        results = [json.loads(line) for line in process.stdout]
    shown = os.read(terminal, 1 << 20).decode()
    os.close(terminal)
    assert len(results) == 60
    assert "Checking" in shown
    assert "/60" in shown
    assert shown.endswith("\x1b[?25h\r\x1b[1A\x1b[2K")


def test_unchanged_documents_are_fast(aop: Run) -> None:
    """A second run neither parses nor writes: the output keeps its time."""
    write("a.md", GOOD)
    aop("compile", "a.md", *C, code=0)
    before = Path("build/a/procedure.py").stat().st_mtime_ns
    time.sleep(0.01)
    aop("compile", "a.md", *C, code=0)
    assert Path("build/a/procedure.py").stat().st_mtime_ns == before
