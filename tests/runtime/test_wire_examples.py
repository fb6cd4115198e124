"""On the wire: what a provider is sent for each phase of each example, seen by an endpoint that keeps every request.

Exactly the granted tools, and every fence of the document byte for byte; nothing else was added.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from aop_runtime.declarations import Phase, Standard
from aop_runtime.loading import load_procedure
from aop_runtime.standard.browser_table import OPERATIONS
from cli.main import main
from pipeline.stages.parse import parse
from tests.runtime.engine.model_server import KEY, ModelServer, says

from .test_examples import EXAMPLES, NAMES, Office, here, office

__all__ = ["here", "office"]  # fixtures

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""What every provider takes as the name of a tool, and of an argument."""

MORE: dict[str, set[str]] = {
    "openai-chat:gpt-test": {"model", "tool_choice", "stream", "parallel_tool_calls"},
    "openai:gpt-5": {"model", "tool_choice", "stream", "parallel_tool_calls", "include", "reasoning", "text"},
    "anthropic:claude-sonnet-5-5": {"model", "max_tokens", "stream", "tool_choice"},
    "google:gemini-4-carbon": {"toolConfig", "generationConfig"},
}
"""By model, an interface each: what else a request has."""

STANDARD = {
    "hitl": ["ask_person"],
    "sandbox": ["run_python", "run_shell"],
    "添付ファイル": ["list_attachments", "read_attachment"],
}


def granted(phase: Phase) -> set[str]:
    names = {handover.name for handover in phase.handovers}
    for tool in phase.tools:
        if not isinstance(tool, Standard):
            names |= set(tool.operations or ())
        elif tool.tool == "browser":
            offered = {"browser_navigate", "browser_snapshot", "browser_click"}  # what the test's server has
            names |= {name for name, word in OPERATIONS.items() if word in tool.operations and name in offered}
        else:
            names |= set(STANDARD[tool.tool])
    return names


def fences(document: Path, phase: int | None) -> list[str]:
    parsed = parse(document.read_bytes(), document.stem).artifact
    assert parsed is not None
    own = [section.fences for section in parsed.phases if section.number == phase]
    return [parsed.fences[place].text for group in (*own, parsed.outside.fences) for place in group]


@pytest.mark.parametrize("model", MORE)
@pytest.mark.parametrize("name", NAMES)
def test_a_provider_is_sent_the_grants_and_the_fences(
    name: str,
    model: str,
    here: Path,
    office: Office,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the order of the phases, those of called procedures in their place."""
    with ModelServer([says(f"結果 {number}") for number in range(30)]) as server:
        for variable, value in server.environment.items():
            monkeypatch.setenv(variable, value)
        status = main(["run", f"examples/{name}.md", "--model", model, "--format", "jsonl"])
        said = capfd.readouterr()
        assert status == 0, said
        requests = server.sent
    expected = [(document, phase) for document, phase in phases(name) if phase.calls is None]
    assert len(requests) == len(expected)
    for sent, (document, phase) in zip(requests, expected, strict=True):
        assert sent.tools.keys() == granted(phase)
        assert all(NAME.fullmatch(tool) for tool in sent.tools)
        for handover in phase.handovers:
            description, schema = sent.tools[handover.name]
            # Providers' adapters drop the titles of a schema, so the description says which argument is which.
            for argument, mark in zip(schema["properties"], handover.placeholders, strict=True):
                assert NAME.fullmatch(argument)
                assert f"{argument} for {mark}" in description
        assert sent.system == [phase.instructions]
        for fence in fences(document, phase.number):
            assert fence in sent.system[0]
        assert sent.turns == ["user"]
        assert sent.more.keys() <= MORE[model]
    assert KEY not in "".join(path.read_text("utf-8") for path in Path(".aop/runs").rglob("*.json*"))


def phases(name: str) -> list[tuple[Path, Phase]]:
    """With those of the procedures that it calls, where they are called."""
    found: list[tuple[Path, Phase]] = []
    for phase in load_procedure(compiled(name) / "procedure.py").phases:
        if phase.calls is None:
            found.append((EXAMPLES / f"{name}.md", phase))
        else:
            found += phases(BY_TITLE[phase.calls])
    return found


def compiled(name: str) -> Path:
    (folder,) = [path.parent for path in Path(".aop/built").rglob("procedure.py") if path.parent.name == name]
    return folder


BY_TITLE: dict[str, Any] = {
    path.read_text("utf-8").splitlines()[0].removeprefix("# "): path.stem for path in EXAMPLES.glob("*.md")
}


def test_what_a_provider_is_not_shown_is_noted() -> None:
    """By tool and keyword; a provider that takes all of JSON Schema loses nothing."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
    from pydantic_ai.providers.openai import OpenAIProvider

    from aop_runtime.engine.schema_loss import losses
    from aop_runtime.plane.registry import Offer

    schema: dict[str, Any] = json.loads(
        '{"type": "object", "additionalProperties": false, "properties": {"maximum": {"type": "number",'
        ' "exclusiveMinimum": 0}, "b": {"type": "string", "pattern": "^x", "maxLength": 3}}}'
    )
    provider = OpenAIProvider(api_key="k")
    whole = OpenAIChatModel("gpt-5", provider=provider, profile={})
    part = OpenAIChatModel("x", provider=provider, profile={"json_schema_transformer": GoogleJsonSchemaTransformer})
    offered = [Offer("find", "", schema), Offer("send", "", {"type": "object", "properties": {}})]
    assert losses(whole, offered) == []
    (line,) = losses(part, offered)
    assert line.startswith("find: ")
    assert "exclusiveMinimum" in line
