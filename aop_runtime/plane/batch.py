"""Several calls in one, for models that make one at a time. Offered only where the feature `batch` is on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output
from aop_runtime.plane.shaping import for_model
from aop_runtime.plane.spec import DEFAULT_OUTPUT_LIMIT, Compatibility, Tool, ToolSpec
from aop_runtime.plane.texts import template

NAME: Final = "batch"
MOST: Final = 20


def batch(tools: Sequence[Tool]) -> Tool:
    """Of the other tools of a phase: never of itself."""
    by_name = {tool.spec.name: tool for tool in tools if tool.spec.name != NAME}
    spec = ToolSpec(
        name=NAME,
        tool="aop",
        operation=NAME,
        description=template("batch"),
        input_schema=_schema(sorted(by_name)),
        effect="read",
        timeout_s=600.0,
        # Where the result of one call was cut, that of the batch is, so it says that there is more to read.
        output_limit=min([DEFAULT_OUTPUT_LIMIT, *(tool.spec.output_limit for tool in by_name.values())]),
        compatibility=Compatibility(features=frozenset({NAME})),
    )
    return Tool(spec, _Batch(by_name), tuple(by_name.values()))


@dataclass(frozen=True, slots=True)
class _Batch:
    """A `Handler`. Reads at once, writes one after the other in their order, in between."""

    tools: Mapping[str, Tool]

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
        """Raises Waiting."""
        results: list[Json] = []
        reads: list[Json] = []
        calls = arguments["calls"]
        for call in calls if isinstance(calls, list) else ():
            tool = self._tool(call)
            if tool.spec.effect == "read" and not tool.inner:
                reads.append(call)
                continue
            results += await self._together(reads, context)
            results.append(await self._one(call, context))
            reads = []
        results += await self._together(reads, context)
        return Output(content="", structured=results)

    def _tool(self, call: Json) -> Tool:
        """The schema has let pass nothing else."""
        if not isinstance(call, dict):
            raise TypeError("a call of a batch is an object")
        return self.tools[str(call["tool"])]

    async def _together(self, calls: Sequence[Json], context: ToolContext) -> list[Json]:
        tasks = [asyncio.ensure_future(self._one(call, context)) for call in calls]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def _one(self, call: Json, context: ToolContext) -> Json:
        tool = self._tool(call)
        given = call.get("arguments") if isinstance(call, dict) else None
        envelope = await context.inner(tool.spec.tool, tool.spec.operation, given if isinstance(given, dict) else {})
        stored = "" if envelope.truncation is None else PurePosixPath(envelope.truncation.path).stem
        result: Json = json.loads(for_model(envelope, stored, tool.spec.name))
        return result


def _schema(names: list[str]) -> dict[str, Json]:
    call: dict[str, Json] = {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "enum": list[Json](names)},
            "arguments": {"type": "object", "additionalProperties": True},
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }
    calls: dict[str, Json] = {"type": "array", "minItems": 1, "maxItems": MOST, "items": call}
    return {"type": "object", "properties": {"calls": calls}, "required": ["calls"], "additionalProperties": False}
