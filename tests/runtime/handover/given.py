"""Scripts in the box, with operations that record what reaches them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from aop_runtime.confinement import bubblewrap
from aop_runtime.declarations import Handover, Json
from aop_runtime.handover.box import Scripted, run_script
from aop_runtime.handover.limits import BoxLimits, SecondWall
from aop_runtime.handover.source import HandoverSource
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope, Output
from aop_runtime.plane.spec import Tool, ToolSpec

WALLS: list[SecondWall] = ["off"] if bubblewrap.fault() is not None else ["off", "required"]

QUERY: dict[str, Json] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "numResults": {"type": "integer"}},
    "required": ["query"],
    "additionalProperties": False,
}


class Operations:
    """Tools of `exa` that answer with what they were asked. `done`: every call that was really carried out."""

    def __init__(self, output: Output | None = None) -> None:
        self.done: list[tuple[str, dict[str, Json]]] = []
        self.output = output

    def tool(
        self, operation: str, effect: Literal["read", "write"] = "read", schema: Mapping[str, Json] = QUERY
    ) -> Tool:
        async def handler(arguments: Mapping[str, Json], context: ToolContext) -> Output:
            self.done.append((operation, dict(arguments)))
            if self.output is not None:
                return self.output
            return Output(content=f"{operation} done", structured={"asked": dict(arguments)})

        spec = ToolSpec(
            name=operation, tool="exa", operation=operation, description=operation, input_schema=schema, effect=effect
        )
        return Tool(spec, handler)


def source(tools: Sequence[Tool], limits: BoxLimits | None = None) -> HandoverSource:
    async def inner(grant: Handover) -> Sequence[Tool]:
        return tools

    return HandoverSource(inner, limits or BoxLimits(wall_s=20))


def typescript(
    text: str,
    *,
    placeholders: tuple[str, ...] = (),
    operations: tuple[str, ...] | None = ("search",),
    read_only: bool = True,
) -> Handover:
    return Handover(
        name="handover_1",
        tool="exa",
        read_only=read_only,
        mode="typescript",
        operations=operations,
        placeholders=placeholders,
        text=text,
    )


async def refuse(tool: str, operation: str, arguments: Mapping[str, Json]) -> Envelope:
    raise AssertionError(f"called: {tool}.{operation}")


def box(script: str, wall: SecondWall = "off", **limits: float) -> Scripted:
    """`script` alone, with nothing that it could call."""
    given = BoxLimits(**{"wall_s": 20.0, "second_wall": wall, **limits})  # type: ignore[arg-type]  # of BoxLimits
    return asyncio.run(run_script(script, refuse, given))


def printed(scripted: Scripted) -> str:
    ended = scripted.ended
    assert ended.stopped is None, ended
    assert ended.status == 0, ended
    return ended.stdout.decode()


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("aop-box-*"))
