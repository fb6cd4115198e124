"""A model that cannot be used is told of before a run is made or a server is started, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from aop_runtime.engine.model_names import ModelFault, named_model, providers
from cli.main import main

DOCUMENT = "# 数える\n\n## フェーズ 1: 数える (使う道具: なし)\n\n三つ数える。\n"
SCRIPT = 'version: 1\nphases:\n  "1": [{say: 一}]\n'
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OLLAMA_BASE_URL", "AOP_MODEL")

WRONG = [
    ("gpt-5", "PROVIDER:NAME, as in openai:gpt-5", "openai:gpt-5 のように"),
    ("", "--model PROVIDER:NAME", "--model PROVIDER:NAME"),
    ("test", "'test' is no name of a model", "「test」はモデルの名前ではありません"),
    ("openai:", "PROVIDER:NAME", "PROVIDER:NAME"),
    (":gpt-5", "PROVIDER:NAME", "PROVIDER:NAME"),
    ("openai: gpt-5", "PROVIDER:NAME", "PROVIDER:NAME"),
    ("openai:gpt\n5", "PROVIDER:NAME", "PROVIDER:NAME"),
    ("opnai:gpt-5", "write openai:gpt-5", "openai:gpt-5 のことなら"),
    ("nope:xyz", "one of anthropic, bedrock", "次のどれか"),
    ("openai:gpt-5", "OPENAI_API_KEY, which is not set", "OPENAI_API_KEY がありません"),
    ("anthropic:claude", "ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY がありません"),
    ("ollama:qwen3", "OLLAMA_BASE_URL", "OLLAMA_BASE_URL がありません"),
    ("mistral:large", "pip install 'pydantic-ai-slim[mistral]'", "pip install 'pydantic-ai-slim[mistral]'"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document, and no key of any provider."""
    monkeypatch.chdir(tmp_path)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    Path("count.md").write_text(DOCUMENT, encoding="utf-8")
    Path("script.yaml").write_text(SCRIPT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("name", "english", "japanese"), WRONG)
def test_a_wrong_name_is_told_of_before_there_is_a_run(
    place: Path, capsys: pytest.CaptureFixture[str], name: str, english: str, japanese: str
) -> None:
    """Status 2, one sentence in the reader's language, and no folder of runs."""
    for lang, said in (("en", english), ("ja", japanese)):
        assert main(["run", "count.md", "--model", name, "--lang", lang]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1
    assert not (place / ".aop" / "runs").exists()


def test_a_run_is_not_resumed_with_a_model_that_cannot_be_used(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its record stays as it was, and a run that has ended needs no model."""
    Path("none.yaml").write_text("version: 1\nphases: {}\n", encoding="utf-8")
    assert main(["run", "count.md", "--script", "none.yaml"]) == 1
    (run,) = (place / ".aop" / "runs").iterdir()
    before = (run / "events.jsonl").read_bytes()
    assert main(["runs", "resume", run.name, "--model", "openai:gpt-5", "--lang", "en"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err
    assert (run / "events.jsonl").read_bytes() == before
    assert main(["runs", "resume", run.name, "--script", "script.yaml"]) == 0
    assert main(["runs", "resume", run.name, "--model", "openai:gpt-5"]) == 0


def test_a_model_that_can_be_used_is_made_without_asking_anything_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is the provider's own."""
    monkeypatch.setenv("OPENAI_API_KEY", "of a test")
    assert named_model("openai:gpt-5").model_name == "gpt-5"


def test_a_provider_that_is_not_set_up_is_said_in_its_own_words() -> None:
    """Where it does not say which variable it wants."""
    with pytest.raises(ModelFault, match="region_name"):
        named_model("bedrock:x", {})


def test_the_providers_that_are_named_are_those_of_models() -> None:
    """Without ways to reach them."""
    assert {"openai", "anthropic", "google"} <= set(providers())
    assert not any("/" in name for name in providers())
