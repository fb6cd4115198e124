"""A document that is as it was, answered from its record (`record.py`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from pipeline.diagnostics.findings import Finding
from pipeline.incremental.reads import Inquiry, mentionable_text
from pipeline.incremental.record import Record
from pipeline.incremental.report import StageReport, reused, skipped
from pipeline.incremental.shelf import Lost, Shelf

if TYPE_CHECKING:
    from pipeline.artifacts import Module, ParsedDocument, ResolvedDocument
    from pipeline.compilation import Compilation
    from pipeline.incremental.past import Past
    from pipeline.places import Positions


def holds(record: Record, inquiry: Inquiry, shelf: Shelf) -> bool:
    """Whether all that the recorded compile read is still the same. Raises StoreError."""
    head = record.head
    if head.catalog in ("", inquiry.catalog.digest) and head.project in ("", inquiry.project.digest):
        return True
    reads = record.tail.reads
    if reads is None:
        return True
    try:
        return not inquiry.changes(reads, lambda: _mentionable(record, shelf))
    except Lost:
        return False


def _mentionable(record: Record, shelf: Shelf) -> str:
    parsed = _past(record, shelf).parsed
    return "" if parsed is None else mentionable_text(parsed)


def _past(record: Record, shelf: Shelf) -> Past:
    # Loaded where an artifact is looked at: most unchanged documents need none, and their classes are slow to make.
    from pipeline.incremental.past import Past  # noqa: PLC0415 - see above

    return Past(record, shelf)


class RecalledParts:
    """`check`: whether only a check was asked for."""

    def __init__(self, record: Record, shelf: Shelf, check: bool, recover: Callable[[], Compilation]) -> None:
        self._record = record
        self._shelf = shelf
        self._check = check
        self.recover = recover

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self._record.findings

    @cached_property
    def stages(self) -> tuple[StageReport, ...]:
        tail = self._record.tail
        if not tail.parsed:
            resolve = StageReport("resolve", None, "skipped", "document")
            return (reused("parse"), resolve, *skipped([None], self._check))
        before = (reused("parse"), reused("resolve"))
        if self._check or self._record.head.status == "failed":
            return (*before, *skipped([phase.number for phase in tail.phases], self._check))
        phases = (
            reused("generate", phase.number)
            if phase.unit
            else StageReport("generate", phase.number, "skipped", "callee")
            for phase in tail.phases
        )
        return (*before, *phases, reused("link"), reused("verify"))

    @cached_property
    def _past(self) -> Past:
        return _past(self._record, self._shelf)

    @property
    def positions(self) -> Positions:
        return self._past.positions

    @property
    def parsed(self) -> ParsedDocument | None:
        return self._past.parsed

    @property
    def resolved(self) -> ResolvedDocument | None:
        resolved, tail = self._past.resolved, self._record.tail
        if resolved is None and tail.parsed:  # that of a document that asks for too much is not kept
            raise Lost("artifact-missing", tail.bundle)
        return resolved

    @property
    def module(self) -> Module | None:
        return None if self._check else self._past.module
