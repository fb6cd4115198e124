"""What goes wrong around a run is said in the language of whoever reads it, also when it is read later."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import main

ROOT = Path(__file__).parents[2]
JAPANESE = re.compile("[ぁ-んァ-ヶ一-龠]")
PARENT = "# 親\n\n## フェーズ 1: 呼ぶ (呼び出す AOP: 子)\n"
DOCUMENT = "# 数える\n\n## フェーズ 1: 数える (使う道具: なし)\n\n三つ数える。\n"
UNKNOWN = "# 探す\n\n## フェーズ 1: 探す (使う道具: crm)\n\n探す。\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("count.md").write_text(DOCUMENT, encoding="utf-8")
    Path("over.yaml").write_text("version: 1\nphases: {}\n", encoding="utf-8")
    return tmp_path


def the_run() -> str:
    (folder,) = [path for path in Path(".aop/runs").iterdir() if "." not in path.name]
    return folder.name


def test_a_run_that_failed_is_read_in_either_language(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever it was run in; programs get both."""
    assert main(["run", "count.md", "--script", "over.yaml", "--lang", "ja"]) == 1
    assert "台本のフェーズ 1 には 0 ターンしかなく" in capsys.readouterr().out
    assert main(["runs", "show", the_run(), "--lang", "en"]) == 0
    assert "the script has 0 turns for phase 1, and the run goes on" in capsys.readouterr().out
    assert main(["runs", "show", the_run(), "--lang", "ja"]) == 0
    assert "実行はまだ続きます" in capsys.readouterr().out
    assert main(["runs", "show", the_run(), "--format", "jsonl"]) == 0
    failed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert ("0 turns" in failed["message"], "0 ターン" in failed["message_ja"]) == (True, True)


FILES = {
    "rules.yaml": "version: 1\nrules:\n- {allow: a, deny: b}\n",
    "turns.yaml": "version: 1\nphases: [\n",
    "unknown.yaml": "version: 1\nphases: {}\nphase: {}\n",
    "mcp-none.json": "{",
    "mcp-both.json": '{"mcpServers": {"a": {"command": "x", "url": "https://a"}}}',
}
WRONG = [
    (["--permissions", "rules.yaml"], "rules.yaml:3: rules.0: a rule has exactly one", "allow・ask・deny のどれか一つ"),
    (["--permissions", "none.yaml"], "No such file or directory", "none.yaml: ありません"),
    (["--script", "turns.yaml"], "not YAML", "YAML として読めません"),
    (["--script", "unknown.yaml"], "nothing of this name can be here", "この名前のものは置けません"),
    (["--mcp-config", "mcp-none.json"], "not readable as JSON", "JSON として読めません"),
    (["--mcp-config", "mcp-both.json"], "give either a command or a url", "どちらか一方"),
    (["--attach", "none.txt"], "not a file", "ファイルではありません"),
    (["--limit", "requests=-1"], "requests=-1", "requests=-1"),
]


@pytest.mark.parametrize(("words", "english", "japanese"), WRONG)
def test_wrong_usage_is_said_in_either_language(
    place: Path, capsys: pytest.CaptureFixture[str], words: list[str], english: str, japanese: str
) -> None:
    """One sentence, in no other language than the reader's."""
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    assert main(["compile", "count.md"]) == 0
    capsys.readouterr()
    for lang, said in (("en", english), ("ja", japanese)):
        script = [] if "--script" in words else ["--script", "over.yaml"]
        assert main(["run", "build/count", *script, *words, "--lang", lang]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert bool(JAPANESE.search(told)) == (lang == "ja")


def test_what_a_called_procedure_failed_of_is_said_whole(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Sentence in sentence, in one language."""
    Path("parent.md").write_text(PARENT, encoding="utf-8")
    Path("child.md").write_text(DOCUMENT.replace("# 数える", "# 子"), encoding="utf-8")
    assert main(["run", "parent.md", "--script", "over.yaml", "--lang", "ja"]) == 1
    out = capsys.readouterr().out
    assert re.search("呼び出した手順「子」（.*）が止まりました: script: 台本のフェーズ 1", out), out


def test_a_server_that_is_not_there_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With why, in both languages."""
    servers = {"mcpServers": {"crm": {"command": "no-such-program"}}}
    Path("mcp.json").write_text(json.dumps(servers), encoding="utf-8")
    Path("find.md").write_text(UNKNOWN, encoding="utf-8")
    assert main(["run", "find.md", "--script", "over.yaml", "--lang", "ja"]) == 1
    assert "crm: MCP サーバーを使えません: プログラム no-such-program がありません" in capsys.readouterr().out
    assert main(["runs", "show", the_run(), "--lang", "en"]) == 0
    assert "cannot be used: the program no-such-program is not there" in capsys.readouterr().out


@pytest.mark.parametrize(("lang", "said"), [("ja", "書き換えられています"), ("en", "it was edited")])
def test_a_module_that_is_run_by_itself_speaks_both(place: Path, lang: str, said: str) -> None:
    """As the command does."""
    assert main(["compile", "count.md"]) == 0
    module = place / "build" / "count" / "procedure.py"
    module.write_text(module.read_text(encoding="utf-8").replace("数える", "かぞえる", 1), encoding="utf-8")
    words = [sys.executable, str(module), "--script", "over.yaml", "--lang", lang]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    ran = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)
    assert (ran.returncode, said in ran.stderr) == (2, True)
    assert ran.stderr.count("\n") == 1
