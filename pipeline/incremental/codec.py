"""Findings and positions as JSON values, for the traces and records that keep them beside the artifacts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from pipeline.artifacts import At, Positions, Span
from pipeline.diagnostics.findings import Argument, Finding
from pipeline.incremental.keys import Json

PackedFinding: TypeAlias = "tuple[str, At | None, int | None, tuple[tuple[str, Argument], ...], tuple[str, ...], str]"


def pack_findings(findings: Iterable[Finding]) -> list[Json]:
    return [
        (finding.name, finding.at, finding.phase, finding.arguments, finding.suggestions, finding.variant)
        for finding in findings
    ]


def _argument(value: str | int | Sequence[str]) -> Argument:
    return value if isinstance(value, str | int) else tuple(value)


def unpack_findings(packed: Sequence[Sequence]) -> tuple[Finding, ...]:  # type: ignore[type-arg]
    """The findings that `pack_findings` packed, after a way through JSON."""
    return tuple(
        Finding(
            name,
            None if at is None else At(*at),
            phase,
            tuple((argument, _argument(value)) for argument, value in arguments),
            tuple(suggestions),
            variant,
        )
        for name, at, phase, arguments, suggestions, variant in packed
    )


def unpack_positions(packed: Iterable[Sequence[int]]) -> Positions:
    return tuple(Span(*span) for span in packed)
