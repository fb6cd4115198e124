"""Several calls in one, for models that make one at a time. Offered only where the feature `batch` is on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope, Output
from aop_runtime.plane.shaping import for_model
from aop_runtime.plane.spec import Compatibility, Tool, ToolSpec
from aop_runtime.plane.texts import template

NAME: Final = "batch"
MOST: Final = 20


def batch(tools: Sequence[Tool]) -> Tool:
    """Of the other tools of a phase: never of itself."""
    by_name = {tool.spec.name: tool for tool in tools if tool.spec.name != NAME}

    async def handler(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        calls = arguments["calls"]
        results: list[Json] = []
        pending: list[asyncio.Task[Envelope]] = []

        async def one(call: Json) -> Envelope:
            if not isinstance(call, dict):
                raise TypeError("the schema has let pass what is no call")
            given = call.get("arguments")
            tool = by_name[str(call["tool"])]
            return await context.inner(tool.spec.tool, tool.spec.operation, given if isinstance(given, dict) else {})

        for call in calls if isinstance(calls, list) else ():
            name = str(call["tool"]) if isinstance(call, dict) else ""
            writes = by_name[name].spec.effect == "write" or bool(by_name[name].inner)
            if writes:
                results += await _ended(pending)
                results.append(for_model(await one(call), context.call, name))
            else:
                pending.append(asyncio.create_task(one(call)))
        results += await _ended(pending)
        return Output(content="", structured=results)

    async def _ended(pending: list[asyncio.Task[Envelope]]) -> list[Json]:
        try:
            envelopes = await asyncio.gather(*pending)
        except BaseException:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            raise
        pending.clear()
        return [for_model(envelope, "", "") for envelope in envelopes]

    spec = ToolSpec(
        name=NAME,
        tool="aop",
        operation=NAME,
        description=template("batch"),
        input_schema=_schema(sorted(by_name)),
        effect="read",
        timeout_s=600.0,
        compatibility=Compatibility(features=frozenset({"batch"})),
    )
    return Tool(spec, handler, tuple(by_name.values()))


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
