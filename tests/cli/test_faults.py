"""`aop compile` and `aop check` when the system or the user stands in the way: a sentence, and exit status 2."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from conftest import BAD, GOOD, Run, command, write

C = ("--catalog", "catalog.yaml")


# ---------------------------------------------------------------------------------------- system faults


def test_output_that_cannot_be_written(aop: Run) -> None:
    """A file in the way of the output folder or of one document's: said, exit status 2, the others are written."""
    write("a.md", GOOD)
    write("b.md", GOOD.replace("週次", "月次"))
    write("build/a", "in the way")
    done = aop("compile", "a.md", "b.md", *C, "--lang", "en", code=2)
    assert "build/a" in done.stderr
    assert "--out" in done.stderr
    assert Path("build/b/procedure.py").is_file()
    assert Path("build/a").read_text(encoding="utf-8") == "in the way"
    write("blocked", "")
    assert "blocked" in aop("compile", "a.md", *C, "--out", "blocked", code=2).stderr


def test_a_store_that_cannot_be_made(aop: Run) -> None:
    """A file where the folder should be: one sentence, exit status 2."""
    write("a.md", GOOD)
    write("store", "")
    done = aop("compile", "a.md", *C, "--store", "store", "--lang", "en", code=2)
    assert done.stderr.startswith("aop: store: the cache needs a folder")


def test_a_damaged_store_is_got_over(aop: Run) -> None:
    """Said, and compiled all the same."""
    write("a.md", GOOD)
    aop("compile", "a.md", *C, code=0)
    for file in Path(".aop").rglob("*"):
        if file.is_file():
            file.write_bytes(b"damaged" * 1000)
    done = aop("compile", "a.md", *C, "--lang", "en", code=0)
    assert ".aop" in done.stderr
    assert Path("build/a/procedure.py").is_file()


def test_a_broken_catalog(aop: Run) -> None:
    """The file and the line, exit status 2, and nothing compiled."""
    write("a.md", GOOD)
    write("broken.yaml", "version: 1\ntools:\n  - name: [\n")
    done = aop("compile", "a.md", "--catalog", "broken.yaml", "--lang", "en", code=2)
    assert done.stderr.startswith("aop: broken.yaml:4: ")
    assert done.stdout == ""
    assert "none.yaml: " in aop("check", "a.md", "--catalog", "none.yaml", code=2).stderr


def test_a_broken_mcp_config(aop: Run) -> None:
    """The same for `mcp.json`."""
    write("a.md", GOOD)
    write("mcp.json", '{"mcpServers": {\n  "crm": {"url": "http://x"},\n  oops\n}}')
    assert aop("check", "a.md", *C, "--mcp-config", "mcp.json", code=2).stderr.startswith("aop: mcp.json:3: ")


def test_an_added_server(aop: Run) -> None:
    """Its name is a tool."""
    write("mcp.json", '{"mcpServers": {"my_crm": {"url": "http://127.0.0.1:9/mcp"}}}')
    write("a.md", "# a\n\nする。(使う道具: my_crm)\n")
    aop("check", "a.md", *C, code=1)
    aop("check", "a.md", *C, "--mcp-config", "mcp.json", code=0)


def test_several_catalogs_are_merged(aop: Run) -> None:
    """Both files' tools are known."""
    write("more.yaml", "version: 1\ntools:\n  - {name: extra, kind: standard, title: 追加}\n")
    write("a.md", "# a\n\nする。(使う道具: extra, hitl)\n")
    aop("check", "a.md", *C, "--catalog", "more.yaml", code=0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["compile"], "FILE|FOLDER|-"),
        (["compile", "a.md", "--format", "xml"], "text, json, jsonl, sarif, github"),
        (["compile", "a.md", "--nothing"], "--nothing"),
        (["compile", "a.md", "--forma", "json"], "--format"),
        (["compile", "a.md", "--jobs", "none"], "--jobs"),
        (["compile", "a.md", "--out"], "--out"),
        (["nothing"], "nothing"),
        (["check", "a.md", "--lang", "fr"], "--lang"),
    ],
)
def test_wrong_usage(aop: Run, line: list[str], words: str) -> None:
    """Exit status 2, and what is wrong in both languages."""
    write("a.md", GOOD)
    assert words in aop(*line, code=2).stderr
    assert words in aop(*line, env={"AOP_LANG": "en"}, code=2).stderr


@pytest.mark.parametrize(
    ("line", "japanese", "english"),
    [
        (["check", "a.md", "--jobs", "100000"], "1 から 9999 まで", "from 1 to 9999"),
        (["check", "a.md", "--catalog", "none.yaml"], "none.yaml: ありません", "none.yaml: it does not exist"),
        (["check", "a.md", "--catalog", "."], ".: フォルダー", ".: it is a folder"),
        (
            ["complie", "a.md"],
            "というコマンドはありません。近いもの: compile, recompile。",
            "no command `complie`. Close ones: compile, recompile.",
        ),
        (["cache", "nothing"], "「nothing」というコマンドはありません。", "no command `nothing`."),
        (["explain", "AOP101", "AOP102"], "余分な引数があります: AOP102。", "one argument too many: AOP102."),
    ],
)
def test_wrong_usage_is_said_in_the_language_of_the_user(
    aop: Run, line: list[str], japanese: str, english: str
) -> None:
    """Also what a library or the system would say in its own words."""
    write("a.md", GOOD)
    assert japanese in aop(*line, code=2).stderr
    assert english in aop(*line, env={"AOP_LANG": "en"}, code=2).stderr


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that fails when it is read")
def test_a_device_that_fails(aop: Run) -> None:
    """Said in words, with what to check; exit status 2."""
    assert "装置が失敗しました" in aop("check", "/proc/self/mem", *C, code=2).stderr
    assert "the device failed" in aop("check", "/proc/self/mem", *C, "--lang", "en", code=2).stderr


# ------------------------------------------------------------------------------- terminals, pipes, signals


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}])
def test_output_is_utf_8_whatever_the_locale(aop: Run, locale: dict[str, str]) -> None:
    """Japanese arrives on terminals that know only ASCII."""
    write("手順.md", BAD)
    done = aop("check", "手順.md", *C, env={**locale, "PYTHONCOERCECLOCALE": "0"}, code=1)
    assert "手順.md:3:23: error[AOP201]" in done.stdout
    assert "会計ソフト" in done.stdout


def test_closed_standard_output(here: Path, environment: dict[str, str]) -> None:
    """The results cannot be written: exit status 2 and a sentence, and the store is not written into by mistake."""
    write("a.md", GOOD)
    line = " ".join(command("compile", "a.md", *C, "--format", "json", "--lang", "en"))
    done = subprocess.run(
        ["sh", "-c", f"{line} >&-"], cwd=here, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 2
    assert done.stderr == "The results cannot be written to standard output: it is closed.\n"
    both = subprocess.run(["sh", "-c", f"{line} >&- 2>&- <&-"], cwd=here, env=environment, timeout=60, check=False)
    assert both.returncode == 2


def test_a_full_disk_behind_standard_output(here: Path, environment: dict[str, str]) -> None:
    """Said, exit status 2, no complaint of the interpreter's."""
    write("a.md", GOOD)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            command("check", "a.md", *C, "--lang", "en"),
            cwd=here,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "The results cannot be written to standard output: no space left. Free some, or choose another place.\n"
    )


def test_a_reader_that_goes_away(here: Path, environment: dict[str, str]) -> None:
    """`| head`: the command ends silently, as if SIGPIPE had ended it."""
    more_than_a_pipe_holds = f"{BAD}\n```\n{'x' * 10_000}\n```\n"
    for number in range(30):
        write(f"d/{number:02}.md", more_than_a_pipe_holds)
    line = " ".join(command("check", "d", *C, "--format", "jsonl"))
    done = subprocess.run(
        ["bash", "-c", f"{line} | head -n 1; echo ${{PIPESTATUS[0]}}"],
        cwd=here,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "141"
    assert done.stderr == ""


def test_an_interrupt(here: Path, environment: dict[str, str]) -> None:
    """Exit status 130, one line, and what was finished before stays."""
    write("d/a.md", GOOD)
    large = "".join(f"## フェーズ {n}: 段 (使う道具: slack の notify)\n\n" for n in range(1, 8000))
    write("d/b.md", f"# 大きい\n\n{large}")
    with subprocess.Popen(
        command("compile", "d", *C, "--format", "jsonl", "--lang", "en"),
        cwd=here,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
    assert process.returncode == 130
    assert errors == "Interrupted. Finished and earlier output is as it was.\n"
    assert Path("build/a/procedure.py").is_file()


def test_two_compiles_at_once(here: Path, environment: dict[str, str]) -> None:
    """Both succeed, and the output is whole."""
    for number in range(20):
        write(f"d/{number:02}.md", GOOD.replace("週次", f"{number} 次"))
    processes = [
        subprocess.Popen(command("compile", "d", *C), cwd=here, env=environment, stdout=subprocess.DEVNULL)
        for _ in range(3)
    ]
    assert [process.wait(timeout=60) for process in processes] == [0, 0, 0]
    for number in range(20):
        assert f"{number} 次報告" in Path(f"build/{number:02}/procedure.py").read_text(encoding="utf-8")
