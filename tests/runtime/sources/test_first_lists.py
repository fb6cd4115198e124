"""What a server listed first counts for the whole run, whichever process goes on with it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.declarations import Json, Mcp
from aop_runtime.plane.envelope import ToolFailure
from aop_runtime.plane.spec import Tool
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.first_lists import FirstLists, OperationRecord
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.servers import ServerEntry
from tests.runtime.servers.catalog_server import CatalogServer
from tests.runtime.sources.given import QUICK, call, entries, manifest, named, run

UNKNOWN = Mcp("slack", read_only=False, operations=None)
READING = Mcp("slack", read_only=True, operations=("conversations_history",))
ARGUMENTS: dict[str, Json] = {"channel_id": "C01"}
LIMITS = replace(QUICK, recheck_s=0.0)
"""A server is asked for its list before every call, so that a change which it does not announce is seen at once."""


@pytest.fixture(scope="module", params=["stdio", "http"])
def slack(request: pytest.FixtureRequest) -> Iterator[CatalogServer]:
    with CatalogServer(["slack"], request.param, loaded=True) as server:
        yield server


@pytest.fixture(autouse=True)
def well_behaved(slack: CatalogServer) -> Iterator[None]:
    slack.behave()
    slack.forget()
    yield
    slack.behave()


def process(server: CatalogServer, folder: Path, *, known: bool = False) -> Connectors:
    """The connectors of one process of the run that keeps its lists in `folder`."""
    written = manifest(server.tools if known else ())
    return Connectors(written, entries(server), os.environ, LIMITS, FirstLists(folder))


async def history(source: Connectors, grant: Mcp) -> Tool:
    return named(await source.tools(grant), "conversations_history")


async def outcome(tool: Tool) -> tuple[str, str, object] | None:
    """How a call fails; None: it does not."""
    try:
        await call(tool, ARGUMENTS)
    except ToolFailure as failed:
        return failed.code, failed.message, failed.details
    return None


@pytest.mark.parametrize("mode", ["gone", "effect", "schema", "description", "argument-gone"])
@pytest.mark.parametrize("grant", [UNKNOWN, READING])
def test_a_change_between_two_processes_is_one_in_the_middle(
    slack: CatalogServer, tmp_path: Path, mode: str, grant: Mcp
) -> None:
    """The same failure, in the same words and with nothing sent, as where one process sees it happen. What does not
    matter there (the manifest has the definition) does not matter here."""
    known = grant is READING

    async def check() -> None:
        before = process(slack, tmp_path / "servers", known=known)
        tool = await history(before, grant)
        assert await outcome(tool) is None
        slack.forget()
        slack.misbehave(mode, "slack.conversations_history", silent=True)
        in_the_middle = await outcome(tool)
        await before.aclose()
        after = process(slack, tmp_path / "servers", known=known)
        tool_then = await history(after, grant)
        assert tool_then.spec == tool.spec
        assert await outcome(tool_then) == in_the_middle
        await after.aclose()
        if grant is UNKNOWN:
            assert in_the_middle is not None
        if in_the_middle is not None:
            assert in_the_middle[0] == "conflict"
            assert slack.calls == []

    run(check())


def test_without_a_change_nothing_is_different(slack: CatalogServer, tmp_path: Path) -> None:
    """The second process offers the same tools, and their calls are made."""

    async def check() -> None:
        specs = []
        for _ in range(2):
            source = process(slack, tmp_path / "servers")
            tools = await source.tools(UNKNOWN)
            specs.append([tool.spec for tool in tools])
            assert await outcome(named(tools, "conversations_history")) is None
            await source.aclose()
        assert specs[0] == specs[1]
        assert len(slack.calls) == 2

    run(check())


def test_what_is_added_between_two_processes_does_not_exist(slack: CatalogServer, tmp_path: Path) -> None:
    """It was not granted with what the server had."""

    async def check() -> None:
        offered = []
        for mode in ("", "added"):
            slack.misbehave(mode, "slack")
            source = process(slack, tmp_path / "servers")
            offered.append([tool.spec.name for tool in await source.tools(UNKNOWN)])
            await source.aclose()
        assert offered[0] == offered[1]
        assert "delete_everything" not in offered[1]

    run(check())


def test_what_is_kept_is_for_its_owner_and_holds_no_secret(tmp_path: Path) -> None:
    """Not even where a server writes what it was given into its definitions."""
    token = "xoxp-very-secret"  # noqa: S105 - of our own server
    described = {"type": "object", "properties": {"text": {"type": "string", "description": f"as {token}"}}}
    listed = {"name": "find", "description": f"speaks as {token}", "inputSchema": described, "readOnly": True}
    with CatalogServer(["wiki"], operations={"wiki": [listed]}, env={"SECRET_TOKEN": token}) as server:

        async def check() -> None:
            source = Connectors(manifest(), entries(server), os.environ, LIMITS, FirstLists(tmp_path / "servers"))
            (tool,) = await source.tools(Mcp("wiki", read_only=True, operations=None))
            assert token not in json.dumps([str(tool.spec.description), dict(tool.spec.input_schema)])
            assert (await call(tool, {"text": "x"})).structured == {"ok": True, "operation": "find"}
            await source.aclose()

        run(check())
    (kept,) = (tmp_path / "servers").iterdir()
    assert token not in kept.read_text(encoding="utf-8")
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 2, "server": "slack", "operations": []}', b"\xff", b"[" * 100_000]
)
def test_a_damaged_file_is_said_and_nothing_is_called(slack: CatalogServer, tmp_path: Path, content: bytes) -> None:
    """The server is not taken at its word instead."""

    async def check() -> None:
        first = process(slack, tmp_path / "servers")
        await first.tools(UNKNOWN)
        await first.aclose()
        (kept,) = (tmp_path / "servers").iterdir()
        kept.write_bytes(content)
        with pytest.raises(SourceFault, match=kept.name):
            await process(slack, tmp_path / "servers").tools(UNKNOWN)
        known = process(slack, tmp_path / "servers", known=True)
        failed = await outcome(await history(known, READING))
        assert failed is not None
        assert (failed[0], kept.name in failed[1]) == ("dependency_failure", True)
        assert slack.calls == []
        assert kept.read_bytes() == content
        await known.aclose()

    run(check())


def test_where_nothing_can_be_kept_nothing_is_called(slack: CatalogServer, tmp_path: Path) -> None:
    """A later process could not be held to it."""
    (tmp_path / "servers").write_text("no folder", encoding="utf-8")

    async def check() -> None:
        source = process(slack, tmp_path / "servers", known=True)
        failed = await outcome(await history(source, READING))
        assert failed is not None
        assert failed[0] == "dependency_failure"
        assert slack.calls == []
        await source.aclose()

    run(check())


def test_another_server_in_its_place_is_held_to_the_list(slack: CatalogServer, tmp_path: Path) -> None:
    """An entry of `mcp.json` that was changed in between: its operations are other ones."""

    async def check() -> None:
        first = process(slack, tmp_path / "servers")
        await first.tools(UNKNOWN)
        await first.aclose()
        listed = {
            "name": "conversations_history",
            "description": "x",
            "inputSchema": {"type": "object"},
            "readOnly": True,
        }
        with CatalogServer(["slack"], operations={"slack": [listed]}) as other:
            entry = {"slack": ServerEntry.model_validate(other.entry("slack"))}
            source = Connectors(manifest(), entry, os.environ, LIMITS, FirstLists(tmp_path / "servers"))
            failed = await outcome(await history(source, UNKNOWN))
            assert failed is not None
            assert failed[0] == "conflict"
            assert other.calls == []
            await source.aclose()

    run(check())


text = st.text(st.characters(exclude_categories=()), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
schemas = st.dictionaries(text, values, max_size=4)
records = st.builds(
    OperationRecord,
    name=text,
    description=text,
    input_schema=schemas,
    output_schema=st.none() | schemas,
    read_only=st.none() | st.booleans(),
)


@given(name=text, operations=st.lists(records, max_size=4))
def test_what_is_kept_comes_back_as_it_was(name: str, operations: list[OperationRecord]) -> None:
    """Whatever a server is called and lists, half characters included; another name has a list of its own."""
    with TemporaryDirectory() as folder:
        lists = FirstLists(Path(folder) / "servers")
        assert lists.load(name) is None
        lists.keep(name, operations)
        loaded = lists.load(name)
        assert loaded is not None
        assert list(loaded) == operations
        assert lists.load(f"{name}x") is None
    assert FirstLists().load(name) is None
