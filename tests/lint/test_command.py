"""`aop catalog lint` and `python -m catalog.lint` are one: forms, languages, exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
AOP = [sys.executable, "-c", "import sys; from cli.main import main; sys.exit(main(sys.argv[1:]))", "catalog", "lint"]
MODULE = [sys.executable, "-m", "catalog.lint"]
SARIF = json.loads((ROOT / "tests" / "data" / "sarif-2.1.0.json").read_text(encoding="utf-8"))

WORDS = {"name": "get_report", "description": "先月の報告書を 1 つ返す。", "annotations": {"readOnlyHint": True}}
CLOSED = {"type": "object", "additionalProperties": False}
GOOD = {**WORDS, "inputSchema": CLOSED}
OPEN = {**WORDS, "inputSchema": {"type": "object"}}
BAD = {**WORDS, "inputSchema": {**CLOSED, "properties": {"a": {"enum": [], "description": "種類"}}}}


def both(arguments: list[str], content: bytes = b"", **variables: str) -> tuple[int, str, str]:
    """What both commands do: the exit status, standard output and standard error."""
    done = [
        subprocess.run(
            [*command, *arguments],
            cwd=ROOT,
            input=content,
            capture_output=True,
            check=False,
            timeout=60,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **variables},
        )
        for command in (AOP, MODULE)
    ]
    assert done[0].stdout == done[1].stdout
    assert done[0].returncode == done[1].returncode
    return done[0].returncode, done[0].stdout.decode(), done[0].stderr.decode()


@pytest.mark.parametrize(
    ("tool", "arguments", "status"),
    [
        (GOOD, [], 0),
        (GOOD, ["--strict"], 0),
        (OPEN, [], 0),
        (OPEN, ["--strict"], 1),
        (BAD, [], 1),
        (BAD, ["--strict"], 1),
    ],
)
def test_the_exit_status_is_the_verdict(tool: object, arguments: list[str], status: int) -> None:
    """With --strict, of everything that was found."""
    assert both(["-", *arguments], json.dumps(tool).encode())[0] == status


@pytest.mark.parametrize("content", [b"", b"{", b"nonsense", b"\xff\xfe"])
def test_unreadable_input_is_trouble(content: bytes) -> None:
    """Exit status 2, a sentence on standard error, and no result."""
    status, output, error = both(["-"], content)
    assert (status, output) == (2, "")
    assert error.startswith("aop: -:")


def test_a_missing_file_is_trouble(tmp_path: Path) -> None:
    """And a folder is no file."""
    for path in (tmp_path / "none.json", tmp_path):
        status, output, error = both([str(path)])
        assert (status, output) == (2, "")
        assert str(path) in error


@pytest.mark.parametrize("arguments", [[], ["-", "--format", "xml"], ["-", "--lang", "fr"], ["-", "--nonsense"]])
def test_wrong_usage_is_trouble(arguments: list[str]) -> None:
    """Exit status 2 as well."""
    assert both(arguments)[0] == 2


def test_the_json_result() -> None:
    """Exactly the promised members, in Japanese unless asked otherwise."""
    content = json.dumps([OPEN, BAD]).encode()
    _, output, _ = both(["-", "--format", "json"], content)
    assert json.loads(output) == {
        "structurally_valid": False,
        "strict_pass": False,
        "findings": [
            {
                "rule": "TSL208",
                "severity": "warning",
                "path": "/0/inputSchema",
                "message": "このオブジェクトは、宣言していない項目を受け付けます（additionalProperties: —）。",
                "help": '"additionalProperties": false と書いてください。allOf や $ref で組み立てるときは、外側に '
                '"unevaluatedProperties": false と書きます。',
            },
            {
                "rule": "TSL106",
                "severity": "error",
                "path": "/1/name",
                "message": "ツールの名前「get_report」は /0/name と重複しています。",
                "help": "名前を変えるか、どちらかを消してください。",
            },
            {
                "rule": "TSL115",
                "severity": "error",
                "path": "/1/inputSchema/properties/a/enum",
                "message": "enum が空なので、選べる値がありません。",
                "help": "選べる値を並べるか、enum を消してください。",
            },
            {
                "rule": "TSL314",
                "severity": "warning",
                "path": "/1",
                "message": "ツール「get_report」は get_report（/0）と区別できません（説明が同じ）。",
                "help": "どちらを使うかが名前と説明でわかるように書き分けるか、1 つのツールにまとめてください。",
            },
        ],
    }


def test_both_languages() -> None:
    """By option or environment; ids, paths and verdicts are the same."""
    content = json.dumps(OPEN).encode()
    japanese = json.loads(both(["-", "--format", "json"], content)[1])
    english = json.loads(both(["-", "--format", "json", "--lang", "en"], content)[1])
    assert json.loads(both(["-", "--format", "json"], content, AOP_LANG="en")[1]) == english
    assert [found["path"] for found in japanese["findings"]] == [found["path"] for found in english["findings"]]
    assert english["findings"][0]["message"].isascii() or "—" in english["findings"][0]["message"]
    assert not japanese["findings"][0]["message"].isascii()


def test_text_names_the_file_and_the_line(tmp_path: Path) -> None:
    """Of what was found, and where it stands."""
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(BAD, indent=2), encoding="utf-8")
    line = 1 + file.read_text(encoding="utf-8").split("\n").index('        "enum": [],')
    status, output, _ = both([str(file), "--lang", "en"])
    assert status == 1
    assert output == (
        f"{file}:{line}: error[TSL115] enum-empty: enum is empty: there is nothing to choose.\n"
        "  --> /inputSchema/properties/a/enum\n"
        "  = help: List the values, or remove enum.\n"
        "\n"
        "structure: faulty (1 finding); review: 0 findings; --strict: not passed.\n"
    )


@pytest.mark.parametrize("lang", ["ja", "en"])
def test_sarif_is_valid(lang: str, tmp_path: Path) -> None:
    """By the schema of 2.1.0; a finding has its rule, its line and its pointer."""
    file = tmp_path / "道具 {1}.json"
    file.write_text(json.dumps([OPEN, {**BAD, "name": "get](x) {0}"}], indent=2, ensure_ascii=False), encoding="utf-8")
    status, output, _ = both([str(file), "--format", "sarif", "--strict", "--lang", lang])
    assert status == 1
    log = json.loads(output)
    jsonschema.Draft7Validator(SARIF).validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] == "error"
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")
        assert location["physicalLocation"]["region"]["startLine"] >= 1
        assert location["logicalLocations"][0]["fullyQualifiedName"].startswith("/")
    invalid = next(result for result in run["results"] if result["ruleId"] == "TSL105")
    assert "get] (x) {{0}}" in invalid["message"]["text"]


def test_what_an_input_holds_cannot_take_over_the_terminal() -> None:
    """Control characters, direction marks and broken characters are shown as escapes."""
    name = "\x1b[2J\u202e\ud800"
    schema = {**CLOSED, "required": [name]}
    for form in ("text", "json", "sarif"):
        _, output, _ = both(["-", "--format", form], json.dumps({**WORDS, "inputSchema": schema}).encode())
        assert "\x1b" not in output
        assert form != "text" or "\\x1b[2J\\u202e\\ud800" in output


@pytest.mark.parametrize("command", [AOP, MODULE], ids=["aop", "module"])
def test_when_nobody_reads_on_nothing_is_complained_about(command: list[str]) -> None:
    """As if SIGPIPE had ended it. It waits for its input until its output is closed."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "-"], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(json.dumps(OPEN).encode())
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
