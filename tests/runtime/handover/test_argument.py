"""A hand-over as an argument: the text goes unretyped to one operation, beside fixed arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from aop_runtime.declarations import Handover, Json
from aop_runtime.plane.envelope import Envelope, Output
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.questions import Waiting
from aop_runtime.plane.spec import ToolCall
from tests.runtime.handover.given import Operations, source
from tests.runtime.plane.given import NO, YES, Somebody, plane

_SQL = "select *\n  from `sales`\n where day = '<日付>'  -- <日付> のみ\n"
_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "projectId": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query", "projectId"],
    "additionalProperties": False,
}


def _grant(**more: object) -> Handover:
    given: dict[str, object] = {
        "name": "handover_1",
        "tool": "exa",
        "read_only": True,
        "mode": "argument",
        "operations": ("run_sql",),
        "argument": "query",
        "fixed_arguments": {"projectId": "acme"},
        "placeholders": ("<日付>",),
        "text": _SQL,
    }
    return Handover(**(given | more))  # type: ignore[arg-type]  # of Handover


def _hand(
    operations: Operations,
    arguments: Mapping[str, object],
    *,
    grant: Handover | None = None,
    write: bool = False,
    person: Somebody | None = None,
    folder: Path | None = None,
) -> Envelope:
    async def made() -> Envelope:
        granted = grant or _grant(read_only=not write)
        tools = await source([operations.tool("run_sql", "write" if write else "read", _SCHEMA)]).tools(granted)
        return await plane(tools, person=person, folder=folder).call(ToolCall("c1", "handover_1", arguments))

    return asyncio.run(made())


def test_the_text_goes_over_byte_for_byte_with_its_values() -> None:
    """Beside the fixed arguments, and nothing else."""
    operations = Operations()
    envelope = _hand(operations, {"value_1": "2026-04-01"})
    assert envelope.ok
    assert operations.done == [("run_sql", {"projectId": "acme", "query": _SQL.replace("<日付>", "2026-04-01")})]
    assert envelope.content == "run_sql done"
    assert isinstance(envelope.structured, dict)


@pytest.mark.parametrize("value", ["'; drop table sales; --", "${x}", "a\nb", "import x", '"', "<日付>", "\u2028", ""])
def test_a_value_is_put_in_as_it_is(value: str) -> None:
    """It is text in a text; the gate sees the whole of it."""
    operations = Operations()
    assert _hand(operations, {"value_1": value}).ok
    before, between, after = _SQL.split("<日付>")
    assert operations.done[0][1]["query"] == before + value + between + value + after


def test_the_fixed_arguments_cannot_be_replaced() -> None:
    """Neither by an argument of their name nor by a value."""
    operations = Operations()
    assert not _hand(operations, {"value_1": "x", "projectId": "other"}).ok
    assert not _hand(operations, {"value_1": "x", "query": "select 1"}).ok
    assert operations.done == []


@pytest.mark.parametrize("value", ["x" * 100_001, 1, None, ["x"], "\ud800"])
def test_a_value_that_does_not_fit_reaches_nobody(value: object) -> None:
    """A structured error to the model."""
    operations = Operations()
    error = _hand(operations, {"value_1": value}).error
    assert error is not None
    assert error.code == "invalid_input"
    assert operations.done == []


def test_a_write_is_asked_for_and_a_refusal_is_told() -> None:
    """The operation's own gate stands before it; what is asked shows the whole text."""
    operations, person = Operations(), Somebody(NO)
    error = _hand(operations, {"value_1": "x"}, write=True, person=person).error
    assert error is not None
    assert error.code == "denied"
    assert operations.done == []
    assert person.questions[0].arguments["query"] == _SQL.replace("<日付>", "x")
    assert _hand(operations, {"value_1": "x"}, write=True, person=Somebody(YES)).ok
    assert len(operations.done) == 1


def test_a_run_that_waited_goes_on_with_the_same_call() -> None:
    """And makes it once."""
    operations, journal, person = Operations(), MemoryJournal(), Somebody(None, YES)

    async def made() -> Envelope:
        tools = await source([operations.tool("run_sql", "write", _SCHEMA)]).tools(_grant(read_only=False))
        call = ToolCall("c1", "handover_1", {"value_1": "x"})
        with pytest.raises(Waiting):
            await plane(tools, person=person, journal=journal).call(call)
        assert operations.done == []
        return await plane(tools, person=person, journal=journal).call(call)

    assert asyncio.run(made()).ok
    assert len(operations.done) == 1


def test_a_long_result_is_shortened_once_for_the_model(tmp_path: Path) -> None:
    """Its whole lies in the file of the hand-over's own call."""
    operations = Operations(Output(content="あ" * 50_000))
    envelope = _hand(operations, {"value_1": "x"}, folder=tmp_path)
    assert envelope.truncation is not None
    assert envelope.truncation.total == 50_000
    assert (tmp_path / envelope.truncation.path).read_text(encoding="utf-8") == "あ" * 50_000


def test_a_text_without_placeholders_takes_no_arguments() -> None:
    """It goes over as it stands."""
    operations = Operations()
    grant = _grant(placeholders=())
    assert _hand(operations, {}, grant=grant).ok
    assert operations.done[0][1]["query"] == _SQL
