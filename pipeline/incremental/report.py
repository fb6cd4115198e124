"""What a compile says about each of its stages (R3, O2 `stages`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

Stage: TypeAlias = Literal["parse", "resolve", "generate", "link", "verify"]

Until: TypeAlias = Literal["parse", "resolve", "link"]
"""How far an earlier step of a job goes, where its stages are taken in several."""

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


class StageReport(NamedTuple):
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


def as_told(own: Sequence[StageReport], told: Sequence[StageReport]) -> tuple[StageReport, ...]:
    """The reports of a job whose stages were taken in several steps. `own`: of this step; `told`: of those before.

    Where this step only reuses what was made, and an earlier one made it, the earlier one knows why.
    """
    if not told:
        return tuple(own)
    ran = {place: report for place, report in _placed(told) if report.outcome == "ran"}
    return tuple([report if report.outcome != "reused" else ran.get(place, report) for place, report in _placed(own)])


def _placed(reports: Sequence[StageReport]) -> list[tuple[tuple[Stage, int | None, int], StageReport]]:
    """Each with its stage, its phase's number, and the place among those: what tells it from the others."""
    counts: dict[tuple[Stage, int | None], int] = {}
    placed: list[tuple[tuple[Stage, int | None, int], StageReport]] = []
    for report in reports:
        key = report.stage, report.phase
        counts[key] = counts.get(key, 0) + 1
        placed.append(((*key, counts[key]), report))
    return placed
