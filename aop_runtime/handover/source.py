"""The dedicated tools of a phase: each hands the text that it holds to another tool, unretyped."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final

from aop_runtime.confinement import bubblewrap
from aop_runtime.declarations import Handover
from aop_runtime.handover import deno
from aop_runtime.handover.argument import ArgumentCall
from aop_runtime.handover.limits import BoxLimits
from aop_runtime.handover.substitution import input_schema
from aop_runtime.handover.texts import description
from aop_runtime.handover.typescript import ScriptCall
from aop_runtime.plane.spec import Handler, Tool, ToolSpec
from aop_runtime.sources.protocol import Grant, SourceFault

_MARGIN_S: Final = 30.0

InnerTools = Callable[[Handover], Awaitable[Sequence[Tool]]]


class HandoverSource:
    """A `Source`. `inner_tools` provides what a hand-over may reach, and raises SourceFault."""

    def __init__(self, inner_tools: InnerTools, limits: BoxLimits = BoxLimits()) -> None:  # noqa: B008 - immutable
        self._inner_tools = inner_tools
        self._limits = limits

    def accepts(self, grant: Grant) -> bool:
        return isinstance(grant, Handover)

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        """The one dedicated tool. Raises SourceFault."""
        if not isinstance(grant, Handover):
            raise SourceFault("handover.none", tool=grant.tool)
        inner = tuple(await self._inner_tools(grant))
        _check(grant, inner)
        handler = await self._handler(grant, inner)
        spec = ToolSpec(
            name=grant.name,
            tool=grant.tool,
            operation=grant.name,
            description=description(grant, tuple(tool.spec.operation for tool in inner)),
            input_schema=input_schema(grant.placeholders),
            # All that it does is done by its inner calls, which are gated one by one.
            effect="read",
            timeout_s=self._limits.wall_s + _MARGIN_S,
        )
        return (Tool(spec, handler, tuple(map(self._whole, inner))),)

    async def aclose(self) -> None:
        """Nothing outlives a call; the inner tools belong to their own source."""

    async def _handler(self, grant: Handover, inner: Sequence[Tool]) -> Handler:
        if grant.mode == "argument":
            if len(inner) != 1 or grant.argument is None:
                raise SourceFault("handover.one-operation", tool=grant.tool, name=grant.name, count=len(inner))
            return ArgumentCall(grant, inner[0].spec.operation, grant.argument)
        if sys.platform != "linux":
            raise SourceFault("handover.linux", tool=grant.tool, name=grant.name)
        try:
            deno.program()
        except deno.Missing as missing:
            raise SourceFault("handover.box", tool=grant.tool, name=grant.name, why=missing.message) from missing
        if self._limits.second_wall == "required":
            fault = await asyncio.to_thread(bubblewrap.fault)
            if fault is not None:
                raise SourceFault("handover.box", tool=grant.tool, name=grant.name, why=fault)
        return ScriptCall(grant, self._limits)

    def _whole(self, tool: Tool) -> Tool:
        """Its results go to a script, or on as the hand-over's own: they are shortened for the model, not before."""
        return replace(tool, spec=replace(tool.spec, output_limit=self._limits.result_characters))


def _check(grant: Handover, inner: Sequence[Tool]) -> None:
    """What the grant does not allow is not reached, whatever provided it. Raises SourceFault."""
    for tool in inner:
        spec = tool.spec
        outside = grant.operations is not None and spec.operation not in grant.operations
        if spec.tool != grant.tool or outside or (grant.read_only and spec.effect != "read"):
            raise SourceFault("handover.not-granted", tool=grant.tool, name=grant.name, address=spec.address)
