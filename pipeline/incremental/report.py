"""What a compile says about each of its stages (R3, O2 `stages`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Stage: TypeAlias = Literal["parse", "resolve", "generate", "link", "verify"]

Outcome: TypeAlias = Literal["ran", "reused", "carried", "skipped"]

Reason: TypeAlias = Literal[
    "new",
    "document",
    "declaration",
    "fence",
    "shared-fence",
    "tool-schema",
    "tool-added",
    "tool-removed",
    "tool-effect",
    "callee",
    "options",
    "stage-version",
    "model",
    "artifact-missing",
    "artifact-damaged",
    "forced",
    "same",
]


@dataclass(frozen=True, slots=True)
class StageReport:
    """`phase`: the phase's number, for `generate` in a multi-phase document.

    *reused* and `same` go together. A stage is *skipped* with `document` because the document has errors, with
    `options` because only a check was asked for, and a phase's generation with `callee` because it calls another AOP.
    """

    stage: Stage
    phase: int | None
    outcome: Outcome
    reason: Reason


_AFTER_GENERATE: tuple[Stage, ...] = ("link", "verify")


def reused(stage: Stage, phase: int | None = None) -> StageReport:
    return StageReport(stage, phase, "reused", "same")


def skipped(numbers: Iterable[int | None], check: bool) -> tuple[StageReport, ...]:
    """Generation of the phases with these numbers, link and verify, not run: only checked, or because of errors."""
    reason: Reason = "options" if check else "document"
    phases = [StageReport("generate", number, "skipped", reason) for number in numbers]
    return (*phases, *(StageReport(stage, None, "skipped", reason) for stage in _AFTER_GENERATE))
