"""What a tool is: what a model sees of it, the contract that it is held to, and, apart from both, its handler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Final, Literal, Protocol

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output

Effect = Literal["read", "write"]

Confirmation = Literal["never", "rules", "always"]
"""`rules`: reads are allowed and writes are asked for, unless a rule says otherwise. `always`: it is asked for whatever
the rules allow. `never`: it is allowed unless a rule says otherwise."""

DEFAULT_TIMEOUT_S: Final = 60.0
DEFAULT_OUTPUT_LIMIT: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """Where a tool can be offered. `models`: shell patterns of `provider:name`; `features`: all must be on in the
    run."""

    models: tuple[str, ...] = ("*",)
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """The contract of one operation of one tool.

    `name`: what the model calls, `[A-Za-z0-9_-]{1,64}`, unique in its phase. `tool` and `operation`: the catalog's
    names (for a hand-over: the tool that it goes to, and the hand-over's name). `input_schema`: JSON Schema 2020-12 of
    the arguments, an object that allows no others; it does not hold `idempotency_argument`, which the plane fills in.
    `effect`: of this call itself; a tool whose effects are all those of its inner calls reads. `description`: only a
    `Template` is filled from the run's values when the tool is offered; what comes from outside is never one.
    """

    name: str
    tool: str
    operation: str
    description: str | Template
    input_schema: Mapping[str, Json] = field(hash=False)
    effect: Effect
    output_schema: Mapping[str, Json] | None = field(default=None, hash=False)
    confirmation: Confirmation = "rules"
    idempotency_argument: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    output_limit: int = DEFAULT_OUTPUT_LIMIT
    """In code points: what is longer goes to a file, and the model gets its head and tail."""
    compatibility: Compatibility = Compatibility()

    @property
    def address(self) -> str:
        """What rules, audit and messages call it: `slack.post_message`."""
        return f"{self.tool}.{self.operation}"

    def described(self, values: Mapping[str, str]) -> str:
        """Its description for a model. Places of a template that `values` does not name stay as they are."""
        text = self.description
        return text.safe_substitute(values) if isinstance(text, Template) else text


class Handler(Protocol):
    """Carries a call out. `arguments` fit the input schema, and the gate has let them pass; the idempotency argument is
    filled in.

    Raises `ToolFailure` for what went wrong outside; anything else that it raises is an internal error of ours. It is
    cancelled at the tool's time-out and when the run is cancelled, and leaves nothing behind then.
    """

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> Output: ...


@dataclass(frozen=True, slots=True)
class Tool:
    """`inner`: what only its handler may call, by `ToolContext.inner`; never offered to a model. The plane gates and
    records these calls one by one, so a tool that does everything through them can be started again after a crash: the
    inner calls that had ended are answered from the record."""

    spec: ToolSpec
    handler: Handler
    inner: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`id`: unique in the run, and the same when the run is resumed. `arguments`: as the model gave them."""

    id: str
    name: str
    arguments: str | Mapping[str, object]
