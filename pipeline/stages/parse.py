"""Parse: bytes to `ParsedDocument` (F1-F6, T1 and V1 as far as form goes)."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.artifacts import ParsedDocument
from pipeline.diagnostics.findings import Finding
from pipeline.document.reader import read_document
from pipeline.document.source import DEFAULT_MAX_BYTES, Unreadable, read_source
from pipeline.places import At, Positions, Span
from pipeline.stages import versions

VERSION = versions.PARSE
"""Raised whenever the same bytes may parse to something else."""


class ParseOutcome(NamedTuple):
    """`artifact` is None for an unreadable document. Findings are in the order of detection."""

    artifact: ParsedDocument | None
    positions: Positions
    findings: tuple[Finding, ...]


def parse(data: bytes, stem: str, max_bytes: int = DEFAULT_MAX_BYTES) -> ParseOutcome:
    """`stem` names a document that has no level-1 heading (F5). Never raises for what the bytes hold."""
    source = read_source(data, max_bytes)
    if isinstance(source, Unreadable):
        return ParseOutcome(None, *_unreadable(source, len(data), max_bytes))
    return ParseOutcome(*read_document(source, stem))


def _unreadable(fault: Unreadable, size: int, limit: int) -> tuple[Positions, tuple[Finding, ...]]:
    if fault.reason == "size":
        return (), (Finding("document-too-large", None, None, (("size", size), ("limit", limit))),)
    if fault.line is None or fault.column is None:
        return (), (Finding("document-unreadable", None, variant=fault.reason),)
    position = Span(fault.line, fault.column, fault.line, fault.column + 1)
    return (position,), (Finding("document-unreadable", At(0), variant=fault.reason),)
