"""Hooks: what stands around every call. They may block, change or annotate it; they never decide what is permitted.

Before the gate they run in their order, after the call in the reverse. A hook that fails blocks what it was to look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.permission import Verdict
from aop_runtime.plane.questions import Question
from aop_runtime.plane.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class HookCall:
    """A call as hooks see it. `id`: of the call, unique in the run. `spec` None: the model called what is no tool."""

    run: str
    phase: int
    id: str
    name: str
    spec: ToolSpec | None
    arguments: Mapping[str, Json] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Block:
    """The call is not made. `reason`: for the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """The call is made with these arguments, which are validated again."""

    arguments: Mapping[str, Json] = field(hash=False)


class Hook:
    """Does nothing. A hook overrides what it needs."""

    name: str = "hook"

    def describe(self, spec: ToolSpec, description: str) -> str:
        """The description that the model will see."""
        return description

    async def before(self, call: HookCall) -> Block | Change | None:
        """Before the gate: arguments fit the schema."""
        return None

    async def decided(self, call: HookCall, verdict: Verdict) -> None:
        """The gate has spoken; where a person was asked, this is the answer."""

    def shown(self, question: Question) -> Question:
        """What a person is asked, and the record keeps of it. The id must stay."""
        return question

    async def after(self, call: HookCall, envelope: Envelope) -> Envelope:
        """Whatever came of the call, whole and also where nothing ran; it is shortened for the model afterwards."""
        return envelope
