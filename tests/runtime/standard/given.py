"""A context for a tool that is called without a plane around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.questions import Answer, Question

Inner = Callable[[str, str, Mapping[str, Json]], Awaitable[Envelope]]


async def nobody(question: Question) -> Answer:
    raise AssertionError(f"asked: {question.text}")


async def nothing(tool: str, operation: str, arguments: Mapping[str, Json]) -> Envelope:
    raise AssertionError(f"called: {tool}.{operation} {arguments}")


def context(
    folder: Path,
    *,
    phase: int = 0,
    ask: Callable[[Question], Awaitable[Answer]] = nobody,
    inner: Inner = nothing,
) -> ToolContext:
    return ToolContext(
        run="run-1",
        phase=phase,
        callers=(),
        call="call-1",
        idempotency_key="key-1",
        folder=folder,
        state={},
        cancelled=asyncio.Event(),
        progress=lambda text: None,
        notify=lambda text: None,
        ask=ask,
        inner=inner,
    )
