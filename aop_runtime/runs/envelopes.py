"""Envelopes as the record of a run holds them."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel, ConfigDict, JsonValue

from aop_runtime.plane.envelope import CallError, Envelope, ErrorCode, Truncation


class _Record(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class TruncationRecord(_Record):
    path: str
    total: int
    head: int
    tail: int


class ErrorRecord(_Record):
    code: ErrorCode
    message: str
    details: dict[str, JsonValue] = {}
    unknown_outcome: bool = False


class EnvelopeRecord(_Record):
    """The fields of `plane.envelope.Envelope`; what has its default is left out."""

    content: str = ""
    structured: JsonValue = None
    warnings: tuple[str, ...] = ()
    truncation: TruncationRecord | None = None
    duration_s: float = 0.0
    error: ErrorRecord | None = None


def recorded(envelope: Envelope) -> EnvelopeRecord:
    error, cut = envelope.error, envelope.truncation
    return EnvelopeRecord(
        content=envelope.content,
        structured=envelope.structured,
        warnings=envelope.warnings,
        truncation=None
        if cut is None
        else TruncationRecord(path=cut.path, total=cut.total, head=cut.head, tail=cut.tail),
        duration_s=round(envelope.duration_s, 3),
        error=None
        if error is None
        else ErrorRecord(
            code=error.code,
            message=error.message,
            details=cast("dict[str, JsonValue]", dict(error.details)),
            unknown_outcome=error.unknown_outcome,
        ),
    )


def restored(record: EnvelopeRecord) -> Envelope:
    error, cut = record.error, record.truncation
    return Envelope(
        content=record.content,
        structured=record.structured,
        warnings=record.warnings,
        truncation=None if cut is None else Truncation(path=cut.path, total=cut.total, head=cut.head, tail=cut.tail),
        duration_s=record.duration_s,
        error=None
        if error is None
        else CallError(
            code=error.code,
            message=error.message,
            details=error.details,
            unknown_outcome=error.unknown_outcome,
        ),
    )
