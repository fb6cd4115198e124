"""One tool call through the whole plane beside the bare call of the MCP SDK's client: the same server, over the same
kind of connection, in turns within one run; the least of many rounds, of processor time (ours) and by clock."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from mcp import Client, StdioServerParameters

from aop_runtime.declarations import Mcp, Phase
from aop_runtime.manifest import Manifest, OperationPin
from aop_runtime.plane.dispatch import Plane, RunSetting
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.permission import Rules
from aop_runtime.plane.questions import Answer, Question
from aop_runtime.plane.registry import Registry
from aop_runtime.plane.spec import ToolCall
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.servers import ServerEntry

ROUNDS = 30
CALLS = 20
SERVER = """
from mcp.server import MCPServer

server = MCPServer("bench")


@server.tool(structured_output=False)
def echo(text: str) -> str:
    return text


server.run("stdio")
"""
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
PIN = OperationPin.model_validate(
    {"tool": "bench", "operation": "echo", "effect": "read", "description": "Echo.", "input_schema": SCHEMA}
)
TEXT = "点検は正常です。" * 20


class Nobody:
    """A `Person` who is never asked: the call reads."""

    async def ask(self, question: Question) -> Answer | None:
        raise AssertionError(question)


async def rounds(bare: Callable[[], Awaitable[object]], through: Callable[[], Awaitable[object]]) -> None:
    least = {name: (float("inf"), float("inf")) for name in ("bare", "plane")}
    for _ in range(ROUNDS):
        for name, call in (("bare", bare), ("plane", through)):
            spent, start = _spent(), time.perf_counter()
            for _ in range(CALLS):
                await call()
            took = ((_spent() - spent) / CALLS, (time.perf_counter() - start) / CALLS)
            least[name] = (min(least[name][0], took[0]), min(least[name][1], took[1]))
    for place, what in ((0, "processor"), (1, "clock")):
        plain, whole = least["bare"][place], least["plane"][place]
        print(
            f"one call of an MCP tool, {what}: {whole * 1000:.2f} ms through the plane, {plain * 1000:.2f} ms "
            f"by the bare client; {whole / plain:.2f} times, {(whole - plain) * 1000:.2f} ms more"
        )


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def measure(folder: Path) -> None:
    script = folder / "server.py"
    script.write_text(SERVER, encoding="utf-8")
    entry = ServerEntry(command=sys.executable, args=(str(script),))
    source = Connectors(Manifest({("bench", "echo"): PIN}, {}), {"bench": entry}, os.environ)
    phase = Phase(number=None, title="", instructions="", tools=(Mcp("bench", read_only=True, operations=("echo",)),))
    tools = await Registry([source], model="test:none").tools(phase)
    setting = RunSetting(
        run="bench",
        phase=0,
        folder=folder,
        state={},
        cancelled=asyncio.Event(),
        progress=lambda line: None,
        notify=lambda line: None,
    )
    plane = Plane(tools, setting=setting, rules=[Rules()], hooks=[], journal=MemoryJournal(), person=Nobody())
    numbers = iter(range(10**9))

    async def through() -> None:
        envelope = await plane.call(ToolCall(id=f"call-{next(numbers)}", name="echo", arguments={"text": TEXT}))
        if envelope.content != TEXT:
            raise RuntimeError(envelope)

    async with Client(StdioServerParameters(command=sys.executable, args=[str(script)])) as client:

        async def bare() -> None:
            await client.call_tool("echo", {"text": TEXT})

        await bare()
        await through()
        await rounds(bare, through)
    await source.aclose()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder)))


if __name__ == "__main__":
    main()
