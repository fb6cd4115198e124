"""What a test gives to a source: manifests of the catalog's own definitions, and the context of a call."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aop_runtime.declarations import Json
from aop_runtime.manifest import Contract, Manifest, OperationPin, ToolPin
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope, Output, ToolFailure
from aop_runtime.plane.questions import Answer, Question
from aop_runtime.plane.spec import Tool
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.servers import ServerEntry, fold
from examples.server.offered import shipped
from tests.runtime.servers.catalog_server import CatalogServer

QUICK = Limits(connect_s=60, message_bytes=1_000_000, flood_bytes=3_000_000)


def pins(name: str, operations: Sequence[str] | None = None) -> list[OperationPin]:
    """The operations (all of them: None) of a shipped tool as `manifest.json` has them."""
    found = []
    for operation in shipped(name).operations or ():
        if operations is None or operation.name in operations:
            found.append(
                OperationPin(
                    tool=name,
                    operation=operation.name,
                    effect=operation.effect,
                    description=operation.description,
                    input_schema=json.loads(operation.schema) if operation.schema else None,
                    contract=Contract.model_validate(json.loads(operation.definition)),
                )
            )
    return found


def manifest(tools: Sequence[str] = (), *extra: OperationPin, urls: Mapping[str, str] | None = None) -> Manifest:
    """`urls`: where a tool is, in place of the catalog's."""
    operations = [pin for name in tools for pin in pins(name)] + list(extra)
    servers = {}
    for name in dict.fromkeys([*tools, *(pin.tool for pin in extra)]):
        known = name in tools
        kind = shipped(name).kind if known else "mcp"
        server = json.loads(shipped(name).definition).get("server") if known else None
        if urls and name in urls:
            server = {**(server or {}), "url": urls[name]}
        servers[name] = ToolPin.model_validate({"tool": name, "kind": kind, "server": server})
    return Manifest({(pin.tool, pin.operation): pin for pin in operations}, servers)


def entries(server: CatalogServer) -> dict[str, ServerEntry]:
    return {fold(name): ServerEntry.model_validate(entry) for name, entry in server.entries().items()}


def connectors(
    server: CatalogServer,
    *extra: OperationPin,
    limits: Limits = QUICK,
    environment: Mapping[str, str] | None = None,
    known: bool = True,
) -> Connectors:
    """Of a test server's tools. `known`: the manifest defines their operations."""
    written = manifest(server.tools if known else (), *extra)
    return Connectors(written, entries(server), os.environ if environment is None else environment, limits)


@dataclass
class Watched:
    """A call's context, and what came of it."""

    folder: Path
    progress: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def context(self, call: str = "call-1") -> ToolContext:
        async def ask(question: Question) -> Answer:
            raise AssertionError("a connector asks nobody")

        async def inner(tool: str, operation: str, arguments: Mapping[str, Json]) -> Envelope:
            raise AssertionError("a connector has nothing inside")

        return ToolContext(
            run="run-1",
            phase=0,
            callers=(),
            call=call,
            idempotency_key=f"key-{call}",
            folder=self.folder,
            state={},
            cancelled=asyncio.Event(),
            progress=self.progress.append,
            notify=self.notes.append,
            ask=ask,
            inner=inner,
        )


def named(tools: Sequence[Tool], operation: str) -> Tool:
    return next(tool for tool in tools if tool.spec.operation == operation)


async def call(tool: Tool, arguments: Mapping[str, Json] | None = None, watched: Watched | None = None) -> Output:
    watched = watched or Watched(Path())
    return await tool.handler(arguments or {}, watched.context())


async def failure(tool: Tool, arguments: Mapping[str, Json] | None = None) -> ToolFailure:
    """How a call fails, which it must."""
    with pytest.raises(ToolFailure) as raised:
        await call(tool, arguments)
    return raised.value


def run(coroutine: Coroutine[object, object, None]) -> None:
    """Within two minutes: a busy machine may be slow."""
    asyncio.run(asyncio.wait_for(coroutine, 120))


def generations(source: Connectors) -> int:
    """How often what its servers had listed has become stale."""
    return sum(remote._connection.generation for remote in source._mcp._pool._remotes.values())


async def announced(source: Connectors, change: Callable[[], None]) -> None:
    """Have a server change, until it has been heard: who does not listen yet is told again."""
    before = generations(source)
    while generations(source) == before:
        change()
        for _ in range(100):
            if generations(source) == before:
                await asyncio.sleep(0.01)


async def noticed(source: Connectors) -> None:
    """Wait until it has seen that no server is there any more."""
    while any(remote._connection.alive for remote in source._mcp._pool._remotes.values()):
        await asyncio.sleep(0.01)
