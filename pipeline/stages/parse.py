"""Parse: bytes to `ParsedDocument` (F1-F6, T1 and V1 as far as form goes)."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.artifacts import ParsedDocument, Positions
from pipeline.diagnostics.findings import Finding
from pipeline.document.source import DEFAULT_MAX_BYTES

VERSION = "1"
"""Raised whenever the same bytes may parse to something else."""


@dataclass(frozen=True, slots=True)
class ParseOutcome:
    """`artifact` is None for an unreadable document. Findings are in the order of detection."""

    artifact: ParsedDocument | None
    positions: Positions
    findings: tuple[Finding, ...]


def parse(data: bytes, stem: str, max_bytes: int = DEFAULT_MAX_BYTES) -> ParseOutcome:
    """`stem` names a document that has no level-1 heading (F5). Never raises for what the bytes hold."""
    raise NotImplementedError
