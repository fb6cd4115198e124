"""Servers' processes and secrets: what they are given, what leaves us, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aop_runtime.declarations import Mcp
from aop_runtime.manifest import Contract
from aop_runtime.sources.connectors import Connectors
from tests.runtime.servers.catalog_server import CatalogServer, alive, gone_within
from tests.runtime.sources.given import QUICK, call, connectors, entries, failure, manifest, pins, run

POST = "conversations_add_message"
SECRET = "xoxp-very-secret"  # noqa: S105 - of our own server
MESSAGE = {"channel_id": "C01", "text": "点検は正常です"}
NOTIFY = Mcp("slack", categories=("notify",), read_only=False, operations=(POST,))


@pytest.mark.parametrize("status", [429, 500, 403])
def test_a_status_below_the_protocol(status: int) -> None:
    """What a gateway before an MCP server answers."""
    codes = {429: ("rate_limited", False), 500: ("dependency_failure", True), 403: ("denied", False)}

    async def check() -> None:
        with CatalogServer(["slack"], "http") as server:
            source = connectors(server)
            (tool,) = await source.tools(NOTIFY)
            server.misbehave(f"status-{status}", f"slack.{POST}")
            failed = await failure(tool, MESSAGE)
            assert (failed.code, failed.unknown_outcome) == codes[status], failed.message
            assert failed.details == {"status": status, "retry_after_s": 11}
            assert len(server.calls) == 1
            await source.aclose()

    run(check())


def test_a_result_that_breaks_its_promise() -> None:
    """The contract's schema of results is kept by us, whatever the server says of itself."""
    promised = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}

    async def check() -> None:
        with CatalogServer(["slack"]) as server:
            (pin,) = pins("slack", [POST])
            source = connectors(server, pin.model_copy(update={"contract": Contract(output_schema=promised)}))
            (tool,) = await source.tools(NOTIFY)
            assert (await call(tool, MESSAGE)).structured
            server.misbehave("wrong")
            failed = await failure(tool, MESSAGE)
            assert (failed.code, failed.unknown_outcome) == ("dependency_failure", True)
            assert "'ok' is a required property" in failed.message
            await source.aclose()

    run(check())


def test_secrets_stay_with_us() -> None:
    """The server gets what its entry names and little else; what it repeats of that is taken out of everything."""

    async def check() -> None:
        with CatalogServer(["slack"], env={"SECRET_TOKEN": "${THE_TOKEN}"}) as server:
            environment = {**os.environ, "THE_TOKEN": SECRET, "OTHER_SECRET": "s3cr3t"}
            source = connectors(server, environment=environment)
            (tool,) = await source.tools(NOTIFY)
            server.misbehave("secret")
            output = await call(tool, MESSAGE)
            assert server.calls[0].more["token"] == SECRET
            assert (output.content, output.structured) == ("env ***", {"env": ["***"]})
            server.misbehave("environment")
            names = (await call(tool, MESSAGE)).structured["names"]  # type: ignore[call-overload, index]
            assert "SECRET_TOKEN" in names
            assert not {"OTHER_SECRET", "THE_TOKEN"} & set(names)
            server.misbehave("die")
            failed = await failure(tool, MESSAGE)
            assert "xoxp" not in failed.message
            assert "cannot go on with ***" in failed.message
            await source.aclose()

    run(check())


def test_a_missing_secret_is_named() -> None:
    """The variable, when the tool is called; nothing was started."""

    async def check() -> None:
        with CatalogServer(["slack"], env={"SECRET_TOKEN": "${THE_TOKEN}"}) as server:
            source = connectors(server, environment={"PATH": os.environ["PATH"]})
            (tool,) = await source.tools(NOTIFY)
            failed = await failure(tool, MESSAGE)
            assert "THE_TOKEN" in failed.message
            source = Connectors(manifest(["slack"]), {}, {}, QUICK)
            (tool,) = await source.tools(NOTIFY)
            assert "SLACK_MCP_XOXP_TOKEN" in (await failure(tool, MESSAGE)).message
            await source.aclose()

    run(check())


@pytest.mark.parametrize("mode", ["not-up", "not-json"])
def test_a_server_that_does_not_come_up(mode: str) -> None:
    """A failure within the limit, nothing sent, nothing left behind."""

    async def check() -> None:
        with CatalogServer(["slack"]) as server:
            server.misbehave(mode)
            source = connectors(server, limits=replace(QUICK, connect_s=1.0 if mode == "not-up" else 60.0))
            (tool,) = await source.tools(NOTIFY)
            failed = await failure(tool, MESSAGE)
            assert (failed.code, failed.unknown_outcome) == ("dependency_failure", False)
            assert server.calls == []
            await source.aclose()
            assert gone_within(60, text=str(server.folder))

    run(check())


def test_a_program_that_is_not_there() -> None:
    """Named in the failure."""

    async def check() -> None:
        with CatalogServer(["slack"]) as server:
            changed = {"slack": entries(server)["slack"].model_copy(update={"command": "no-such-program-here"})}
            source = Connectors(manifest(["slack"]), changed, os.environ, QUICK)
            (tool,) = await source.tools(NOTIFY)
            assert "no-such-program-here" in (await failure(tool, MESSAGE)).message
            await source.aclose()

    run(check())


def test_nothing_is_left_after_the_end() -> None:
    """Not even a process that a server started and that ignores the end of its input; and nothing starts afterwards."""

    async def check() -> None:
        with CatalogServer(["slack"]) as server:
            server.misbehave("child")
            source = connectors(server)
            (tool,) = await source.tools(NOTIFY)
            await call(tool, MESSAGE)
            child = int(str(server.calls[0].more["child"]))
            assert alive(child)
            await source.aclose()
            await source.aclose()
            assert gone_within(0, text=str(server.folder))
            assert not alive(child)
            assert "the run has ended" in (await failure(tool, MESSAGE)).message

    run(check())


def test_a_call_under_way_opens_nothing_when_the_run_ends() -> None:
    """A read whose connection is taken away is not asked again over a new one."""

    async def check() -> None:
        with CatalogServer(["slack"]) as server:
            source = connectors(server)
            (read,) = await source.tools(Mcp("slack", read_only=True, operations=("conversations_history",)))
            server.misbehave("hang", "slack.conversations_history")
            task = asyncio.create_task(failure(read, {"channel_id": "C01"}))
            while not server.calls:
                await asyncio.sleep(0.02)
            await source.aclose()
            assert (await task).code == "dependency_failure"
            assert gone_within(0, text=str(server.folder))
            assert len(server.calls) == 1

    run(check())


def test_standard_error_without_end_is_dropped() -> None:
    """Twenty megabytes of complaints change nothing about a call."""

    async def check() -> None:
        with CatalogServer(["slack"]) as server:
            source = connectors(server)
            (tool,) = await source.tools(NOTIFY)
            server.misbehave("flood-errors", f"slack.{POST}")
            assert (await call(tool, MESSAGE)).structured
            await source.aclose()

    run(check())


def test_a_server_by_http_that_is_gone() -> None:
    """Nothing was sent, so a write's outcome is known; another server's calls go on."""

    async def check() -> None:
        with CatalogServer(["slack"], "http") as server, CatalogServer(["exa"], "http") as other:
            servers = {**entries(server), **entries(other)}
            source = Connectors(manifest(["slack", "exa"]), servers, os.environ, QUICK)
            (tool,) = await source.tools(NOTIFY)
            (search,) = await source.tools(Mcp("exa", read_only=True, operations=("web_search_exa",)))
            await call(tool, MESSAGE)
            await call(search, {"query": "x"})
            server.stop()
            failed = await failure(tool, MESSAGE)
            assert (failed.code, failed.unknown_outcome) == ("dependency_failure", False), failed.message
            assert (await call(search, {"query": "x"})).structured
            await source.aclose()

    run(check())


USER = """
import asyncio, os, sys
from pathlib import Path
from aop_runtime.declarations import Mcp
from aop_runtime.sources.servers import read_servers
from aop_runtime.sources.connectors import Connectors
from tests.runtime.sources.given import QUICK, call, manifest

async def main():
    source = Connectors(manifest(["slack"]), read_servers(Path(sys.argv[1])), os.environ, QUICK)
    (tool,) = await source.tools(Mcp("slack", read_only=False, operations=("conversations_add_message",)))
    await call(tool, {"channel_id": "C01", "text": "x"})
    print("called", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_after_a_kill(tmp_path: Path, ending: signal.Signals) -> None:
    """Not of a server whose own child outlives it, and not even when we are killed and can end nothing ourselves."""
    with CatalogServer(["slack"]) as server:
        server.misbehave("child")
        path = server.write(tmp_path / "mcp.json")
        command = [sys.executable, "-c", USER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as user:
            assert user.stdout is not None
            assert user.stdout.readline() == "called\n"
            child = int(str(server.calls[0].more["child"]))
            assert alive(child)
            user.send_signal(ending)
            user.wait(20)
        assert gone_within(60, text=str(server.folder))
        assert gone_within(60, pid=child)
