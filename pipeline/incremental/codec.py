"""Findings and positions as JSON values, for the traces and records that keep them beside the artifacts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipeline.artifacts import At, Positions, Span
from pipeline.diagnostics.findings import Argument, Finding
from pipeline.incremental.keys import Packed, encode


def findings_text(findings: Sequence[Finding]) -> str:
    """As JSON: an array of arrays."""
    if not findings:
        return "[]"
    return encode(
        [
            (
                finding.name,
                finding.at,
                finding.phase,
                finding.arguments,
                finding.suggestions,
                finding.variant,
                finding.severity,
            )
            for finding in findings
        ]
    )


def _argument(value: str | int | Sequence[str]) -> Argument:
    return value if isinstance(value, str | int) else tuple(value)


def unpack_findings(packed: Iterable[Packed]) -> tuple[Finding, ...]:
    """The findings whose `findings_text` says that."""
    return tuple(
        Finding(
            name,
            None if at is None else At(*at),
            phase,
            tuple((argument, _argument(value)) for argument, value in arguments),
            tuple(suggestions),
            variant,
            severity,
        )
        for name, at, phase, arguments, suggestions, variant, severity in packed
    )


def unpack_positions(packed: Iterable[Sequence[int]]) -> Positions:
    return tuple(Span(*span) for span in packed)
