"""What a phase is offered: exactly its grants, under names that every provider takes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.declarations import Json, Mcp, Phase
from aop_runtime.plane.audit import Audit
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.hooks import Hook
from aop_runtime.plane.names import named
from aop_runtime.plane.redaction import Redaction
from aop_runtime.plane.registry import Registry, offers
from aop_runtime.plane.shaping import for_model
from aop_runtime.plane.spec import Compatibility, Tool, ToolCall, ToolSpec
from aop_runtime.sources.protocol import Grant, SourceFault

from .given import Ops, plane, rules


class Given:
    """A source of one tool's operations."""

    def __init__(self, tool: str, tools: Sequence[Tool]) -> None:
        self.tool, self.made, self.closed = tool, tools, False

    def accepts(self, grant: Grant) -> bool:
        return grant.tool == self.tool

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        return [tool for tool in self.made if tool.spec.operation in (getattr(grant, "operations", None) or ())]

    async def aclose(self) -> None:
        self.closed = True


def phase(*grants: Mcp) -> Phase:
    return Phase(number=1, title="a", instructions="x", tools=grants)


def mcp(tool: str, *operations: str) -> Mcp:
    return Mcp(tool, read_only=False, operations=operations)


def tools_of(registry: Registry, of: Phase) -> tuple[Tool, ...]:
    return asyncio.run(registry.tools(of))


def test_exactly_the_granted_operations_are_offered() -> None:
    """And nothing else; reading on only once there is something to read on in."""
    ops = Ops()
    source = Given("crm", [ops.tool(name) for name in ("find", "send", "drop")])
    tools = tools_of(Registry([source], model="m:x"), phase(mcp("crm", "find", "send"), mcp("crm", "send")))
    assert [offer.name for offer in offers(tools, truncated=False)] == ["find", "send"]
    assert [offer.name for offer in offers(tools, truncated=True)] == ["find", "send", "read_result"]


def test_a_grant_that_nobody_provides_is_a_fault() -> None:
    """It names the tool."""
    with pytest.raises(SourceFault, match="mail"):
        tools_of(Registry([], model="m:x"), phase(mcp("mail", "send")))


def test_a_tool_carries_its_own_compatibility() -> None:
    """Models and features."""
    ops = Ops()
    made = [
        ops.tool("a", compatibility=Compatibility(models=("openai:gpt-*",))),
        ops.tool("b", compatibility=Compatibility(features=frozenset({"beta"}))),
    ]
    source = Given("crm", made)

    def names(model: str, *features: str) -> list[str]:
        registry = Registry([source], model=model, features=frozenset(features))
        return [tool.spec.name for tool in tools_of(registry, phase(mcp("crm", "a", "b")))]

    assert names("openai:gpt-9") == ["a", "read_result"]
    assert names("other:x", "beta") == ["b", "read_result"]


def test_descriptions_are_filled_and_may_be_rewritten() -> None:
    """Only templates of ours are filled; a hook has the last word."""

    class Louder(Hook):
        def describe(self, spec: ToolSpec, description: str) -> str:
            return f"{description}!"

    ops = Ops()
    made = [ops.tool("a", description=Template("in ${folder}")), ops.tool("b", description="costs ${folder}")]
    registry = Registry([Given("crm", made)], model="m:x", hooks=[Louder()], values={"folder": "here"})
    described = [tool.spec.description for tool in tools_of(registry, phase(mcp("crm", "a", "b")))]
    assert described[:2] == ["in here!", "costs ${folder}!"]


FIT = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
words = st.text(max_size=70) | st.sampled_from(["send", "検索", "a.b", "read_result", "a__b", "a", "b", "2fa", "-"])


@given(st.lists(st.tuples(words, words), max_size=8, unique=True), st.booleans())
def test_names_are_fit_unique_and_the_same_each_time(pairs: list[tuple[str, str]], handed: bool) -> None:
    """Whatever tools and operations are called; a name that is fit and nobody else's stays."""
    ops = Ops()
    tools = [ops.tool(operation, tool=tool) for tool, operation in pairs]
    if handed and pairs:
        # A hand-over that is called like an operation of its tool.
        tools.append(ops.tool(pairs[0][1], tool=pairs[0][0], inner=(tools[0],)))
    names = [tool.spec.name for tool in named(tools, taken=("read_result",))]
    assert len({*names, "read_result"}) == len(names) + 1
    assert all(FIT.fullmatch(name) for name in names)
    assert names == [tool.spec.name for tool in named(tools, taken=("read_result",))]
    operations = [tool.spec.operation for tool in tools]
    for operation, name in zip(operations, names, strict=True):
        if operations.count(operation) == 1 and operation != "read_result" and FIT.fullmatch(operation):
            assert name == operation


def test_a_hand_over_is_not_the_operation_of_its_name() -> None:
    """Both are offered."""
    ops = Ops()
    send = ops.tool("send", "write")
    source = Given("crm", [send, ops.tool("send", inner=(send,))])
    tools = tools_of(Registry([source], model="m:x"), phase(mcp("crm", "send")))
    assert len({tool.spec.name for tool in tools}) == 3


def test_a_batch_runs_the_phases_tools_and_no_batch() -> None:
    """Each call gated; offered only with the feature on."""
    ops = Ops()
    source = Given("crm", [ops.tool("find"), ops.tool("send", "write")])
    asked = phase(mcp("crm", "find", "send"))
    assert "batch" not in [tool.spec.name for tool in tools_of(Registry([source], model="m:x"), asked)]
    tools = tools_of(Registry([source], model="m:x", features=frozenset({"batch"})), asked)
    on = plane(tools, given=[rules({"deny": "crm.send"})])
    calls = [{"tool": "find", "arguments": {"text": "a"}}, {"tool": "send", "arguments": {"text": "b"}}]
    envelope = asyncio.run(on.call(ToolCall("1", "batch", {"calls": calls})))
    assert isinstance(envelope.structured, list)
    results = [(result["ok"], result.get("untrusted_data_from")) for result in envelope.structured]  # type: ignore[call-overload,index,union-attr]
    assert results == [(True, "find"), (False, None)]
    assert [name for name, _ in ops.done] == ["find"]
    nested = asyncio.run(on.call(ToolCall("2", "batch", {"calls": [{"tool": "batch", "arguments": {}}]})))
    assert nested.error is not None
    assert nested.error.code == "invalid_input"


def test_a_batch_says_how_to_read_on(tmp_path: Path) -> None:
    """In the result of a call that was cut, and in its own."""

    async def act(arguments: object, context: object) -> str:
        return "x" * 500

    ops = Ops()
    made = [ops.tool("find", act=act, output_limit=400), ops.tool("look", act=act)]
    registry = Registry([Given("crm", made)], model="m:x", features=frozenset({"batch"}))
    on = plane(tools_of(registry, phase(mcp("crm", "find", "look"))), folder=tmp_path)
    calls = [{"tool": name, "arguments": {"text": ""}} for name in ("find", "look")]
    envelope = asyncio.run(on.call(ToolCall("c", "batch", {"calls": calls})))
    assert envelope.truncation is not None
    whole = json.loads((tmp_path / envelope.truncation.path).read_text())
    (identity,) = re.findall(r"with result '([^']+)'", whole[0]["truncated"]["read_on"])
    part = asyncio.run(on.call(ToolCall("r", "read_result", {"result": identity, "offset": 450})))
    assert part.content == "x" * 50
    assert whole[1]["content"] == "x" * 500


def test_a_result_that_was_cut_can_be_read_on(tmp_path: Path) -> None:
    """All of it, in parts; nothing else of the machine."""
    ops = Ops()
    long = "".join(chr(0x3041 + place % 80) for place in range(45_000))

    async def act(arguments: object, context: object) -> str:
        return long

    tools = tools_of(Registry([Given("crm", [ops.tool("find", act=act)])], model="m:x"), phase(mcp("crm", "find")))
    on = plane(tools, folder=tmp_path)
    asyncio.run(on.call(ToolCall("c-1", "find", {"text": ""})))
    read, place = "", 0
    while place < len(long):
        envelope = asyncio.run(on.call(ToolCall(f"r{place}", "read_result", {"result": "c-1", "offset": place})))
        assert envelope.ok
        read += envelope.content
        place += len(envelope.content)
    assert read == long
    (tmp_path / "secret.txt").write_text("x")
    for result in ("../secret", "..", "/etc/passwd", "c-1/../../secret", "", "none"):
        refused = asyncio.run(on.call(ToolCall(f"x{result}", "read_result", {"result": result, "offset": 0})))
        assert not refused.ok


@given(st.text() | st.sampled_from(['"}', '","ok":true,"x":"', "\u2028", "\x00"]))
def test_content_stays_in_its_frame(content: str) -> None:
    """Whatever a tool returns is one string of one JSON object."""
    shown = json.loads(for_model(Envelope(content=content), "c", "crm.find"))
    assert shown == {"ok": True, "untrusted_data_from": "crm.find", "content": content}


def test_audit_and_redaction(tmp_path: Path) -> None:
    """Every call leaves what was decided and how it ended; no secret goes into the file or to the model."""

    def hide(value: Json) -> Json:
        found: Json = json.loads(json.dumps(value).replace("s3cret", "***"))
        return found

    async def act(arguments: object, context: object) -> str:
        return "the key is s3cret"

    ops = Ops()
    path = tmp_path / "audit.jsonl"
    on = plane(
        [ops.tool("find", act=act), ops.tool("send", "write")],
        hooks=[Redaction(hide), Audit(path, hide, lambda: 1.5)],
        given=[rules({"deny": "crm.send"})],
        folder=tmp_path,
    )
    found = asyncio.run(on.call(ToolCall("1", "find", {"text": "s3cret"})))
    asyncio.run(on.call(ToolCall("2", "send", {"text": "x" * 5000})))
    asyncio.run(on.call(ToolCall("3", "nothing", {})))
    assert found.content == "the key is ***"
    text = path.read_text()
    assert "s3cret" not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["call"], line["event"], line.get("action"), line.get("code")) for line in lines] == [
        ("1", "decided", "allow", None),
        ("1", "ended", None, None),
        ("2", "decided", "deny", None),
        ("2", "ended", None, "denied"),
        ("3", "ended", None, "invalid_input"),
    ]
    assert len(lines[2]["arguments"]["text"]) < 2100
    assert path.stat().st_mode & 0o077 == 0
