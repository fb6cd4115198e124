"""The dedicated tool: what a phase is offered of a hand-over."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from aop_runtime.confinement import bubblewrap
from aop_runtime.declarations import Handover, Mcp, Phase
from aop_runtime.handover import deno
from aop_runtime.handover.limits import BoxLimits
from aop_runtime.messages import Message
from aop_runtime.plane.registry import Registry
from aop_runtime.plane.spec import Tool
from aop_runtime.sources.protocol import SourceFault
from tests.runtime.handover.given import Operations, source, typescript

_TEXT = "console.log('<検索語>')"


def _tools(tools: list[Tool], grant: Handover, limits: BoxLimits | None = None) -> Tool:
    (tool,) = asyncio.run(source(tools, limits).tools(grant))
    return tool


def test_a_phase_is_offered_the_dedicated_tool_and_none_of_its_operations() -> None:
    """Only its handler reaches them."""
    operations = Operations()
    phase = Phase(number=1, title="", instructions="", handovers=(typescript(_TEXT, placeholders=("<検索語>",)),))
    registry = Registry([source([operations.tool("search")])], model="test:m")
    offered = {tool.spec.name: tool for tool in asyncio.run(registry.tools(phase))}
    assert set(offered) == {"handover_1", "read_result"}
    tool = offered["handover_1"]
    assert [inner.spec.operation for inner in tool.inner] == ["search"]
    assert (tool.spec.tool, tool.spec.operation, tool.spec.effect) == ("exa", "handover_1", "read")
    description = tool.spec.description
    assert isinstance(description, str)
    assert "value_1 for <検索語>" in description
    assert "search" in description


def test_marks_in_a_description_are_not_filled_from_the_run() -> None:
    """`$name` in a document is text."""
    phase = Phase(
        number=1, title="", instructions="", handovers=(typescript("console.log('$run')", placeholders=("$run",)),)
    )
    registry = Registry([source([])], model="test:m", values={"run": "secret-run"})
    tools = asyncio.run(registry.tools(phase))
    assert "value_1 for $run" in str(tools[0].spec.description)
    assert "secret-run" not in str(tools[0].spec.description)


def test_what_was_not_granted_is_not_taken_in() -> None:
    """Whatever provides the operations: another operation, a write under read-only, another tool."""
    operations = Operations()
    search, write = operations.tool("search"), operations.tool("post", "write")
    elsewhere = replace(search, spec=replace(search.spec, tool="slack"))
    for tools, grant in (
        ([search, operations.tool("crawl")], typescript(_TEXT)),
        ([write], typescript(_TEXT, operations=("post",))),
        ([write], typescript(_TEXT, operations=None)),
        ([elsewhere], typescript(_TEXT)),
    ):
        with pytest.raises(SourceFault, match="is not among what it was granted"):
            _tools(tools, grant)
    assert _tools([write], typescript(_TEXT, operations=("post",), read_only=False)).inner


def test_a_text_for_one_operation_needs_just_one() -> None:
    """A source that gives none, or two, is at fault."""
    grant = Handover(
        name="handover_1",
        tool="exa",
        read_only=True,
        mode="argument",
        operations=("search",),
        argument="query",
        text="x",
    )
    with pytest.raises(SourceFault, match="goes to one operation, and there are 0"):
        _tools([], grant)


def test_a_missing_deno_is_told_before_the_phase_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install; the one that may lie in PATH is not used."""
    deno.program.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "deno", None)
    with pytest.raises(SourceFault, match=r"exa\.handover_1: the package deno is not installed; install it"):
        _tools([], typescript(_TEXT))
    deno.program.cache_clear()


def test_a_required_second_wall_that_the_host_forbids_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is only wished for, Deno's own wall is enough."""
    monkeypatch.setattr(bubblewrap, "fault", lambda: Message("confine.processor"))
    with pytest.raises(SourceFault, match="x86-64 and arm64 only"):
        _tools([], typescript(_TEXT), BoxLimits(second_wall="required"))
    assert _tools([], typescript(_TEXT), BoxLimits(second_wall="where possible"))


def test_only_hand_overs_are_its_own() -> None:
    """Connectors belong to their sources."""
    assert source([]).accepts(typescript(_TEXT))
    assert not source([]).accepts(Mcp("exa", read_only=True, operations=("search",)))
