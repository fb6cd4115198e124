"""Operations of MCP servers as tools: what is offered, what is sent, what comes back."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aop_runtime.declarations import Handover, Mcp
from aop_runtime.manifest import Contract, OperationPin
from aop_runtime.plane.envelope import ToolFailure
from aop_runtime.sources.mcp import FROM_SERVER
from aop_runtime.sources.protocol import SourceFault
from examples.server.offered import answers, shipped
from tests.runtime.servers.catalog_server import CatalogServer, gone_within, processes_with
from tests.runtime.sources.given import (
    QUICK,
    Watched,
    announced,
    call,
    connectors,
    failure,
    named,
    noticed,
    pins,
    run,
)

POST = "conversations_add_message"
HISTORY = "conversations_history"
SECRET = "xoxp-very-secret"  # noqa: S105 - of our own server
MESSAGE = {"channel_id": "C01", "text": "点検は正常です"}
SLACK = Mcp("slack", categories=("history",), read_only=True, operations=(HISTORY, "channels_list"))
NOTIFY = Mcp("slack", categories=("notify",), read_only=False, operations=(POST,))
UNKNOWN = Mcp("slack", read_only=False, operations=None)


@pytest.fixture(scope="module", params=["stdio", "http"])
def slack(request: pytest.FixtureRequest) -> Iterator[CatalogServer]:
    with CatalogServer(["slack", "exa"], request.param, loaded=True) as server:
        yield server


@pytest.fixture(autouse=True)
def well_behaved(slack: CatalogServer) -> Iterator[None]:
    slack.behave()
    slack.forget()
    yield
    slack.behave()


def test_canned_results_are_of_the_catalogs_operations() -> None:
    """A name that the catalog does not have would never be answered."""
    for tool, results in answers().items():
        known = {operation.name for operation in shipped(tool).operations or ()}
        assert set(results) <= known, tool


def test_exactly_the_granted_operations_are_tools(slack: CatalogServer) -> None:
    """Nothing else of the server, which offers many more, and no connection is needed to know them."""

    async def check() -> None:
        source = connectors(slack)
        tools = await source.tools(SLACK)
        assert [tool.spec.address for tool in tools] == [f"slack.{HISTORY}", "slack.channels_list"]
        assert all(tool.spec.effect == "read" for tool in tools)
        assert slack.calls == []
        await source.aclose()

    run(check())


def test_a_call_reaches_the_server_and_its_answer_comes_back(slack: CatalogServer) -> None:
    """Arguments arrive as they are; texts and structure come back."""

    async def check() -> None:
        source = connectors(slack)
        (post,) = await source.tools(NOTIFY)
        output = await call(post, MESSAGE)
        assert output.structured == {"ok": True, "channel": "C01", "ts": "1764464400.000400"}
        assert '"ok": true' in output.content
        assert [(made.operation, made.arguments) for made in slack.calls] == [(POST, MESSAGE)]
        await source.aclose()

    run(check())


def test_schema_effect_and_words_are_the_manifests(slack: CatalogServer) -> None:
    """Not the live server's, which says something else of itself."""

    async def check() -> None:
        (pin,) = pins("slack", [HISTORY])
        source = connectors(slack)
        slack.misbehave("description", "slack")
        spec = named(await source.tools(SLACK), HISTORY).spec
        assert (spec.description, spec.effect) == (pin.description, "read")
        assert spec.input_schema["properties"] == (pin.input_schema or {})["properties"]
        assert spec.input_schema["additionalProperties"] is False
        await call(named(await source.tools(SLACK), HISTORY), {"channel_id": "C01"})
        await source.aclose()

    run(check())


def test_a_handover_gets_the_same_tools(slack: CatalogServer) -> None:
    """What a dedicated tool may reach is granted as everything else is."""

    async def check() -> None:
        source = connectors(slack)
        handover = Handover(
            name="handover_1", tool="exa", read_only=True, mode="typescript", operations=("web_search_exa",), text="…"
        )
        (inner,) = await source.operation_tools(handover)
        assert inner.spec.address == "exa.web_search_exa"
        assert "ゼットソフト" in (await call(inner, {"query": "ゼットソフト 料金"})).content
        await source.aclose()

    run(check())


def test_one_connection_serves_all_phases(slack: CatalogServer) -> None:
    """Calls at once and one after another, of the same server, share a process."""

    async def check() -> None:
        source = connectors(slack)
        first = named(await source.tools(SLACK), HISTORY)
        second = named(await source.tools(SLACK), "channels_list")
        await asyncio.gather(*(call(first, {"channel_id": "C01"}) for _ in range(5)), call(second))
        if slack.transport == "stdio":
            assert len(processes_with(str(slack.folder))) == 1
        assert len(slack.calls) == 6
        await source.aclose()

    run(check())


def test_unknown_operations_are_what_the_server_lists(slack: CatalogServer) -> None:
    """An added server: everything, or what it marks as reading; an operation without a mark writes."""

    async def check() -> None:
        source = connectors(slack, known=False)
        everything = await source.tools(UNKNOWN)
        reading = await source.tools(Mcp("slack", read_only=True, operations=None))
        known = shipped("slack").operations or ()
        assert {tool.spec.operation for tool in everything} == {operation.name for operation in known}
        assert {tool.spec.operation for tool in reading} == {one.name for one in known if one.effect == "read"}
        assert all(tool.spec.effect == "read" for tool in reading)
        assert named(everything, POST).spec.effect == "write"
        assert all(str(tool.spec.description).startswith(FROM_SERVER) for tool in everything)
        await source.aclose()

    run(check())


def test_an_operation_without_a_schema_takes_the_servers(slack: CatalogServer) -> None:
    """The catalog gives some none; what they do is still the catalog's to say."""

    async def check() -> None:
        pin = OperationPin(tool="slack", operation="channels_list", effect="write", description="自分の言葉")
        source = connectors(slack, pin, known=False)
        (tool,) = await source.tools(Mcp("slack", read_only=False, operations=("channels_list",)))
        assert "channel_types" in tool.spec.input_schema["properties"]  # type: ignore[operator]
        assert (tool.spec.effect, tool.spec.description) == ("write", "自分の言葉")
        await source.aclose()

    run(check())


@pytest.mark.parametrize(
    ("grant", "said"),
    [
        (Mcp("slack", read_only=False, operations=("nothing_such",)), "does not define it"),
        (Mcp("slack", read_only=True, operations=(POST,)), "only reading was granted"),
        (Mcp("elsewhere", read_only=False, operations=None), "no server of this name"),
    ],
)
def test_what_was_granted_but_cannot_be_had_is_a_fault(slack: CatalogServer, grant: Mcp, said: str) -> None:
    """Before the phase begins, in words that say what to do."""

    async def check() -> None:
        source = connectors(slack)
        with pytest.raises(SourceFault, match=said):
            await source.tools(grant)
        await source.aclose()

    run(check())


def test_the_key_against_doing_twice_is_the_planes(slack: CatalogServer) -> None:
    """The model does not see the argument; what the plane fills in arrives."""

    async def check() -> None:
        (pin,) = pins("slack", [POST])
        keyed = pin.model_copy(
            update={"contract": Contract(idempotency_argument="thread_ts", confirm="always", timeout_s=90)}
        )
        source = connectors(slack, keyed)
        (tool,) = await source.tools(NOTIFY)
        assert "thread_ts" not in tool.spec.input_schema["properties"]  # type: ignore[operator]
        assert (tool.spec.idempotency_argument, tool.spec.confirmation, tool.spec.timeout_s) == (
            "thread_ts",
            "always",
            90,
        )
        await call(tool, {**MESSAGE, "thread_ts": "k1"})
        assert slack.calls[0].arguments["thread_ts"] == "k1"
        await source.aclose()

    run(check())


# ------------------------------------------------------------------------------------- a server that misbehaves


@pytest.mark.parametrize(
    ("mode", "code", "unknown"),
    [
        ("error", "dependency_failure", False),
        ("limited", "rate_limited", False),
        ("hang", "dependency_failure", True),
        ("flood", "dependency_failure", True),
        ("die", "dependency_failure", True),
    ],
)
def test_a_write_that_fails(slack: CatalogServer, mode: str, code: str, unknown: bool) -> None:
    """It is sent once; where no answer came, nobody claims to know what became of it."""
    if mode == "die" and slack.transport == "http":
        pytest.skip("all servers by HTTP are one process")

    async def check() -> None:
        (pin,) = pins("slack", [POST])
        patience_s = 1.0 if mode == "hang" else 60.0
        source = connectors(slack, pin.model_copy(update={"contract": Contract(timeout_s=patience_s)}))
        (tool,), read = await source.tools(NOTIFY), named(await source.tools(SLACK), HISTORY)
        slack.misbehave(mode, f"slack.{POST}")
        failed = await failure(tool, MESSAGE)
        assert (failed.code, failed.unknown_outcome) == (code, unknown), failed.message
        assert failed.message.startswith(f"slack.{POST}")
        assert len(slack.calls) == 1
        if mode == "limited":
            assert failed.details == {"retry_after_s": 7}
        slack.behave()
        assert (await call(read, {"channel_id": "C01"})).content
        await source.aclose()

    run(check())


def test_a_read_is_asked_again_when_its_server_died(slack: CatalogServer) -> None:
    """Once, over a new connection; a write that had not been sent is sent then."""
    if slack.transport == "http":
        pytest.skip("all servers by HTTP are one process")

    async def check() -> None:
        source = connectors(slack)
        read, (write,) = named(await source.tools(SLACK), HISTORY), await source.tools(NOTIFY)
        slack.misbehave("die", f"slack.{HISTORY}")
        failed = await failure(read, {"channel_id": "C01"})
        assert (failed.code, failed.unknown_outcome) == ("dependency_failure", False)
        assert len(slack.calls) == 2
        slack.behave()
        assert (await call(read, {"channel_id": "C01"})).structured
        (process,) = processes_with(str(slack.folder))
        os.kill(process, 9)
        assert gone_within(60, text=str(slack.folder))
        await noticed(source)
        assert (await call(write, MESSAGE)).structured
        await source.aclose()

    run(check())


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("mode", ["gone", "schema", "argument-gone"])
def test_a_definition_that_changes_during_the_run(slack: CatalogServer, mode: str, silent: bool) -> None:
    """A conflict, and nothing is carried out; without an announcement at the latest when the server is asked again."""

    async def check() -> None:
        source = connectors(slack, limits=replace(QUICK, recheck_s=0.1) if silent else QUICK)
        (tool,) = await source.tools(NOTIFY)

        async def told(change: Callable[[], None]) -> None:
            if silent:
                change()
                await asyncio.sleep(0.2)
            else:
                await announced(source, change)

        await call(tool, MESSAGE)
        slack.forget()
        await told(lambda: slack.misbehave(mode, f"slack.{POST}", silent=silent))
        failed = await failure(tool, {"channel_id": "C01"})
        assert failed.code == "conflict", failed.message
        assert not failed.unknown_outcome
        assert slack.calls == []
        await told(slack.behave)
        await call(tool, MESSAGE)
        await source.aclose()

    run(check())


def test_a_reading_operation_that_writes_now(slack: CatalogServer) -> None:
    """The catalog decides what reads; but a server that changes its mind in the middle is not followed."""

    async def check() -> None:
        source = connectors(slack)
        read = named(await source.tools(SLACK), HISTORY)
        await call(read, {"channel_id": "C01"})
        slack.forget()
        await announced(source, lambda: slack.misbehave("effect", f"slack.{HISTORY}"))
        failed = await failure(read, {"channel_id": "C01"})
        assert failed.code == "conflict"
        assert "it may write now" in failed.message
        assert slack.calls == []
        await source.aclose()

    run(check())


@pytest.mark.parametrize("mode", ["description", "schema", "effect", "gone"])
def test_an_unknown_servers_operation_is_held_to_its_first_definition(slack: CatalogServer, mode: str) -> None:
    """The model was shown another one."""

    async def check() -> None:
        source = connectors(slack, known=False)
        read = named(await source.tools(UNKNOWN), HISTORY)
        await call(read, {"channel_id": "C01"})
        slack.forget()
        await announced(source, lambda: slack.misbehave(mode, f"slack.{HISTORY}"))
        assert (await failure(read, {"channel_id": "C01"})).code == "conflict"
        assert slack.calls == []
        await source.aclose()

    run(check())


def test_what_an_unknown_server_adds_later_does_not_exist(slack: CatalogServer) -> None:
    """Not in this phase, and in no later one of this run."""

    async def check() -> None:
        source = connectors(slack, known=False)
        before = [tool.spec.operation for tool in await source.tools(UNKNOWN)]
        await announced(source, lambda: slack.misbehave("added", "slack"))
        assert [tool.spec.operation for tool in await source.tools(UNKNOWN)] == before
        await source.aclose()

    run(check())


@pytest.mark.parametrize(
    ("mode", "said"),
    [("circle", "circle"), ("endless", "10 pages"), ("twice", "twice"), ("hang-list", "within 1 s|in time")],
)
def test_a_list_that_has_no_end_or_no_sense(slack: CatalogServer, mode: str, said: str) -> None:
    """A fault before the phase begins."""

    async def check() -> None:
        limits = replace(QUICK, connect_s=1.0 if mode == "hang-list" else QUICK.connect_s, pages=10)
        source = connectors(slack, known=False, limits=limits)
        slack.misbehave(mode, "slack")
        with pytest.raises(SourceFault, match=said):
            await source.tools(UNKNOWN)
        await source.aclose()

    run(check())


def test_what_a_server_says_of_how_to_behave_is_not_forwarded(slack: CatalogServer) -> None:
    """Its instructions reach nobody; a result with such words is content like any other."""

    async def check() -> None:
        source = connectors(slack)
        read = named(await source.tools(SLACK), HISTORY)
        output = await call(read, {"channel_id": "C01"})
        assert "IGNORE" not in repr(output) + repr(read.spec)
        slack.misbehave("instructions", f"slack.{HISTORY}")
        assert (await call(read, {"channel_id": "C01"})).content.startswith("IGNORE")
        await source.aclose()

    run(check())


def test_a_cancelled_call_leaves_the_connection_usable(slack: CatalogServer) -> None:
    """And the run's other calls are not touched."""

    async def check() -> None:
        source = connectors(slack)
        (tool,) = await source.tools(NOTIFY)
        slack.misbehave("hang", f"slack.{POST}")
        task = asyncio.create_task(call(tool, MESSAGE))
        while not slack.calls:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        slack.behave()
        assert (await call(tool, MESSAGE)).structured
        await source.aclose()

    run(check())


def test_a_failed_call_says_what_the_server_said(slack: CatalogServer) -> None:
    """In its own words, bounded, as such."""

    async def check() -> None:
        source = connectors(slack)
        (tool,) = await source.tools(NOTIFY)
        slack.misbehave("error", f"slack.{POST}")
        with pytest.raises(ToolFailure, match="it says: the channel is archived"):
            await call(tool, MESSAGE, Watched(Path()))
        await source.aclose()

    run(check())
