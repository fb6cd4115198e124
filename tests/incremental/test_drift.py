"""AOP406: an operation that a phase uses is not what the lock records. Which phases, how severe, where."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.lock import Policy
from pipeline.diagnostics.bind import Diagnostic, bind
from pipeline.diagnostics.lang import Lang

from .world import World, operation

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}


def drifted(world: World, lang: Lang = "en") -> list[Diagnostic]:
    compilation = world.compile()
    found = bind(compilation.findings, compilation.positions, lang)
    return [diagnostic for diagnostic in found if diagnostic.code == "AOP406"]


def test_without_a_lock_nothing_is_checked() -> None:
    """It is opted into."""
    world = World()
    world.operation("ledger", "run_query").update(effect="write", description="other")
    assert drifted(world) == []


def test_what_is_as_it_was_is_no_drift() -> None:
    """A lock of the present catalog."""
    world = World()
    world.pin()
    assert drifted(world) == []


def test_it_stands_at_the_phases_heading_with_its_number() -> None:
    """One finding an operation and kind of change (O3)."""
    world = World()
    world.pin()
    world.operation("ledger", "run_query").update(input_schema=SCHEMA)
    (found,) = drifted(world)
    assert (found.name, found.severity, found.phase) == ("tool-drifted", "warning", 2)
    assert (found.line, found.column) == (world.files["weekly.md"].split("\n").index(HEADING) + 1, 1)
    assert "operation `run_query`" in found.message
    assert "earlier calls may be refused" in found.message
    assert "(`sql`)" in found.message
    assert "aop catalog approve ledger/run_query" in found.help


HEADING = "## フェーズ 2: 数える (使う道具: ledger の query)"


def test_a_single_phase_document_is_marked_at_its_first_line() -> None:
    """There is no heading of a phase."""
    world = World(files={"weekly.md": "\n\n# 一つ\n\n(使う道具: ledger)\n"})
    world.pin()
    world.operation("ledger", "run_query").update(description="other")
    (found,) = drifted(world)
    assert (found.line, found.column, found.phase) == (1, 1, None)


@pytest.mark.parametrize(
    ("policy", "severity", "status"),
    [("warn", "warning", "succeeded"), ("approve", "error", "failed"), ("block", "error", "failed")],
)
def test_the_policy_decides(policy: Policy, severity: str, status: str) -> None:
    """A warning; an error until it is approved; an error that cannot be approved."""
    world = World()
    world.pin(effect_writes=policy)
    world.operation("ledger", "run_query").update(effect="write")
    (found,) = drifted(world)
    assert found.severity == severity
    assert world.compile().status == status
    assert ("not accept" in found.help) == (policy == "block")
    assert world.compile().module is None or status == "succeeded"


def test_only_the_phases_that_use_it_say_so() -> None:
    """Another category, or what a read-only phase never had, is not theirs."""
    world = World()
    world.pin()
    world.operation("drive", "share").update(description="other")
    world.operation("drive", "put_file").update(description="other")
    world.operation("chat", "search_messages").update(description="other")
    assert drifted(world) == []


def test_a_read_only_phase_says_what_it_lost() -> None:
    """An operation that writes now is not granted any more: that is the drift."""
    world = World()
    world.pin()
    world.operation("drive", "get_file").update(effect="write")
    (found,) = drifted(world)
    assert (found.phase, found.severity) == (1, "error")
    assert "writes now" in found.message


def test_operations_that_came_and_went() -> None:
    """In the declared category, and of the kind that the phase may use."""
    world = World()
    world.pin()
    operations = world.tool("drive")["operations"]
    operations[:] = [entry for entry in operations if entry["name"] != "search_files"]
    operations.append(operation("grant_rights", "files", "read", input_schema=SCHEMA))
    operations.append(operation("burn", "files", "write"))
    assert [(found.phase, found.message.split(":")[-1].strip()) for found in drifted(world)] == [
        (1, "the operation is new"),
        (1, "the operation is gone"),
    ]


def test_a_renamed_operation_names_its_successor() -> None:
    """The phase has the new one; the review sees both names."""
    world = World()
    world.pin()
    world.operation("ledger", "run_query").update(name="query_run")
    (found,) = drifted(world)
    assert "has another name (`query_run`)" in found.message


def test_a_handover_uses_its_operation_only() -> None:
    """The dedicated tool of a fence hands it to one operation; the others of the category are not its business."""
    text = "# x\n\n## フェーズ 1: 送る\n\n(この 文 を chat の notify に、そのまま渡す)\n\n```text\nhello\n```\n"
    world = World(files={"weekly.md": text})
    world.tool("chat")["operations"].append(operation("pin_message", "notify", "write"))
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    world.operation("chat", "post_message").update(text_argument="text", input_schema=schema)
    world.pin()
    world.operation("chat", "pin_message").update(description="other")
    assert drifted(world) == []
    world.operation("chat", "post_message").update(description="other")
    assert [found.phase for found in drifted(world)] == [1]


def test_both_languages_say_it() -> None:
    """With the words of the change."""
    world = World()
    world.pin()
    world.operation("ledger", "run_query").update(description="other")
    assert "モデルが読む説明が変わった" in drifted(world, "ja")[0].message
    assert "its description, which the model reads, changed" in drifted(world, "en")[0].message
