"""What a handler is given besides its arguments. There is nothing else that it could reach: no globals."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.questions import Answer, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What belongs to one call.

    `phase`: place of the phase in its procedure, from 0. `callers`: ids of the runs that called this one, the outermost
    first. `call`: unique in the run, and the same when the run is resumed. `idempotency_key`: of this call, the same
    whenever it is tried again. `folder`: the run's own, for files that belong to it. `state`: of the run, shared by its
    tools while the process lives; key by the tool's name. `cancelled` is set when the run is to end. `progress`: a line
    for whoever watches. `notify`: a line that belongs into the run's record. `ask` raises `Waiting` where nobody can
    answer now. `inner(tool, operation, arguments)` calls one of the tool's own `Tool.inner` through the plane, with
    gate and record, and raises `Waiting` likewise; what the tool does not have inside comes back as an error envelope.
    """

    run: str
    phase: int
    callers: tuple[str, ...]
    call: str
    idempotency_key: str
    folder: Path
    state: MutableMapping[str, object]
    cancelled: asyncio.Event
    progress: Callable[[str], None]
    notify: Callable[[str], None]
    ask: Callable[[Question], Awaitable[Answer]]
    inner: Callable[[str, str, Mapping[str, Json]], Awaitable[Envelope]]
