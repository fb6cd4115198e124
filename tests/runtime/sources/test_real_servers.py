"""Servers that others wrote, from the npm registry, over stdio and Streamable HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aop_runtime.declarations import Mcp
from aop_runtime.manifest import Manifest
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.servers import ServerEntry
from tests.catalog_live.live import npm_server
from tests.runtime.sources.given import QUICK, Watched, call, failure, named, run

EVERYTHING = Mcp("everything", read_only=False, operations=None)


def start(port: int) -> subprocess.Popen[bytes]:
    """`server-everything` over Streamable HTTP."""
    entry = ServerEntry.model_validate(npm_server("everything", "streamableHttp"))
    process = subprocess.Popen(
        [entry.command or "", *entry.args],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process
        except OSError:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)


@pytest.fixture(scope="module")
def everything() -> Iterator[str]:
    port = free_port()
    process = start(port)
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def source_of(name: str, entry: dict[str, object]) -> Connectors:
    return Connectors(Manifest({}, {}), {name: ServerEntry.model_validate(entry)}, os.environ, QUICK)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_everything(transport: str, everything: str) -> None:
    """Texts, structured results, progress, resources and pictures; a wrong argument; what it asks of us is refused."""

    async def check() -> None:
        entry = npm_server("everything") if transport == "stdio" else {"url": everything}
        source = source_of("everything", entry)
        tools = await source.tools(EVERYTHING)
        assert (await call(named(tools, "echo"), {"message": "こんにちは\n世界"})).content == "Echo: こんにちは\n世界"
        assert "5" in (await call(named(tools, "get-sum"), {"a": 2, "b": 3})).content
        weather = await call(named(tools, "get-structured-content"), {"location": "New York"})
        assert set(weather.structured or {}) == {"temperature", "conditions", "humidity"}  # type: ignore[call-overload]
        picture = await call(named(tools, "get-tiny-image"))
        assert "[image, image/png, " in picture.content
        assert len(picture.warnings) == 1
        watched = Watched(Path())
        slow = named(tools, "trigger-long-running-operation")
        await call(slow, {"duration": 0.3, "steps": 3}, watched)
        assert watched.progress[-1].startswith("everything.trigger-long-running-operation: 3/3")
        failed = await failure(named(tools, "get-sum"), {"a": "zwei", "b": 3})
        assert failed.code in ("invalid_input", "dependency_failure")
        assert not {"sample-llm-request", "trigger-sampling-request"} & {tool.spec.operation for tool in tools}
        await source.aclose()

    run(check())


def test_a_server_that_starts_again_between_two_calls() -> None:
    """It has forgotten the session: a new one is begun, and the call is sent again, for it was not looked at."""

    async def check() -> None:
        port = free_port()
        process = start(port)
        source = source_of("everything", {"url": f"http://127.0.0.1:{port}/mcp"})
        echo = named(await source.tools(EVERYTHING), "echo")
        await call(echo, {"message": "a"})
        process.kill()
        process.wait()
        process = start(port)
        try:
            assert (await call(echo, {"message": "b"})).content == "Echo: b"
            await source.aclose()
        finally:
            process.kill()
            process.wait()

    run(check())


def test_filesystem(tmp_path: Path) -> None:
    """Reading as the server marks it; writing only where it is granted; what leaves its folder is its refusal."""

    async def check() -> None:
        source = source_of("files", npm_server("filesystem", str(tmp_path)))
        reading = await source.tools(Mcp("files", read_only=True, operations=None))
        assert "write_file" not in {tool.spec.operation for tool in reading}
        tools = await source.tools(Mcp("files", read_only=False, operations=None))
        await call(named(tools, "write_file"), {"path": str(tmp_path / "控え.txt"), "content": "見積り 700"})
        assert (tmp_path / "控え.txt").read_text(encoding="utf-8") == "見積り 700"
        output = await call(named(reading, "read_text_file"), {"path": str(tmp_path / "控え.txt")})
        assert output.content == "見積り 700"
        failed = await failure(named(reading, "read_text_file"), {"path": "/etc/passwd"})
        assert (failed.code, failed.unknown_outcome) == ("dependency_failure", False)
        assert "root:" not in failed.message
        await source.aclose()

    run(check())


def test_memory(tmp_path: Path) -> None:
    """Its entry's own environment reaches it; what it stored is read back by a later run."""
    entry = npm_server("memory") | {"env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}}
    entity = {"name": "ゼットソフト", "entityType": "会社", "observations": ["料金を改定"]}

    async def check() -> None:
        source = source_of("memory", entry)
        tools = await source.tools(Mcp("memory", read_only=False, operations=None))
        await call(named(tools, "create_entities"), {"entities": [entity]})
        await source.aclose()
        source = source_of("memory", entry)
        tools = await source.tools(Mcp("memory", read_only=True, operations=None))
        graph = await call(named(tools, "read_graph"))
        assert graph.structured == {"entities": [entity], "relations": []}
        await source.aclose()

    run(check())
