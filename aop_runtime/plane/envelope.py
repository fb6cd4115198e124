"""What comes back from a call: the same shape for every tool, and for every way in which a call can end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from aop_runtime.declarations import Json

ErrorCode = Literal[
    "invalid_input",
    "denied",
    "confirmation_required",
    "conflict",
    "rate_limited",
    "dependency_failure",
    "internal",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """`total`: code points of the whole, which lies in the file `path` (relative to the run's folder). `head` and
    `tail`: how many of them the content still shows at its two ends."""

    path: str
    total: int
    head: int
    tail: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a handler returns. With `truncation` it has shortened its content itself, and the plane leaves it so."""

    content: str
    structured: Json = None
    warnings: tuple[str, ...] = ()
    truncation: Truncation | None = None


class ToolFailure(Exception):
    """A call that failed, in words that a model can act on. `details`: what it needs to correct itself.

    `unknown_outcome`: a write was sent and nobody knows whether it was done.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        details: Mapping[str, Json] | None = None,
        *,
        unknown_outcome: bool = False,
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.details: dict[str, Json] = dict(details or {})
        self.unknown_outcome = unknown_outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class CallError:
    code: ErrorCode
    message: str
    details: Mapping[str, Json] = field(default_factory=dict, hash=False)
    unknown_outcome: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The end of one call. `error` None: it succeeded. `duration_s` is 0 where no handler ran."""

    content: str
    structured: Json = field(default=None, hash=False)
    warnings: tuple[str, ...] = ()
    truncation: Truncation | None = None
    duration_s: float = 0.0
    error: CallError | None = None

    @property
    def ok(self) -> bool:
        return self.error is None
