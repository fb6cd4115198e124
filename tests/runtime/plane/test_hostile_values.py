"""Values that mean harm: what a model or a tool's other side writes so that two readers read it differently."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aop_runtime.declarations import Json
from aop_runtime.handover.substitution import LONGEST_TEXT, substitute
from aop_runtime.plane.arguments import read_arguments
from aop_runtime.plane.envelope import Output
from aop_runtime.plane.shaping import MOST_LEVELS
from aop_runtime.plane.spec import ToolCall
from aop_runtime.runs.journal import Journal
from aop_runtime.runs.record import read_record

from .given import Ops, plane, rules

NUMBER: dict[str, Json] = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


@pytest.mark.parametrize("written", ["1", "1.0", "1e0", "10E-1", "0.1e1"])
def test_a_rule_holds_however_a_number_is_written(written: str) -> None:
    """All of them are the integer 1, for the schema as for the server."""
    ops = Ops()
    given = rules({"deny": "crm.remove", "when": {"id": "1"}}, {"allow": "crm.*"})
    made = plane([ops.tool("remove", "write", input_schema=NUMBER)], given=[given])
    envelope = asyncio.run(made.call(ToolCall("c", "remove", f'{{"id": {written}}}')))
    assert envelope.error is not None
    assert envelope.error.code == "denied"
    assert ops.done == []


@pytest.mark.parametrize(
    ("written", "read"), [("-0.0", 0), ("1.5", 1.5), ("1e20", 10**20), ("1e21", 1e21), ("-3.0", -3), ("12", 12)]
)
def test_whole_numbers_are_whole(written: str, read: Any) -> None:  # noqa: ANN401 - any number
    (found,) = read_arguments(f'{{"a": {written}}}').values()
    assert (found, type(found)) == (read, type(read))


@pytest.mark.parametrize("levels", [MOST_LEVELS - 5, MOST_LEVELS + 60, 700])
def test_a_deep_result_can_be_recorded_and_read_again(tmp_path: Path, levels: int) -> None:
    """A write that was made must not end in a record that cannot be written."""
    deep: Json = 1
    for _ in range(levels):
        deep = [deep]
    value = deep

    async def act(arguments: object, context: object) -> Output:
        return Output(content="", structured={"a": value})

    (tmp_path / "events.jsonl").touch()
    journal = Journal(tmp_path)
    made = plane([Ops().tool("send", "write", act, confirmation="never", input_schema=NUMBER)], journal=journal)
    envelope = asyncio.run(made.call(ToolCall("c", "send", {"id": 1})))
    assert envelope.error is None
    assert (envelope.structured is None) == (levels > MOST_LEVELS)
    journal.close()
    recorded = read_record(tmp_path).finished("c")
    assert recorded is not None
    assert (recorded.structured, recorded.content) == (envelope.structured, envelope.content)


def test_a_placeholder_that_stands_everywhere() -> None:
    """A text of some kilobytes and a value of some more are gigabytes together: refused before they are made."""
    with pytest.raises(ValueError, match=str(LONGEST_TEXT)):
        substitute("<x>" * 100_000, {"<x>": "y" * 100_000})
    assert substitute("<x>" * 100_000, {"<x>": ""}) == ""
