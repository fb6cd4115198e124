"""A document that is as it was, answered from its record (`record.py`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from pipeline.artifacts import Module, ParsedDocument, Positions, ResolvedDocument
from pipeline.diagnostics.findings import Finding
from pipeline.incremental.codec import unpack_positions
from pipeline.incremental.reads import Inquiry, mentionable_text
from pipeline.incremental.record import Record
from pipeline.incremental.report import StageReport, reused, skipped
from pipeline.incremental.shelf import Lost, Shelf

if TYPE_CHECKING:
    from pipeline.compilation import Compilation


def holds(record: Record, inquiry: Inquiry, shelf: Shelf) -> bool:
    """Whether all that the recorded compile read is still the same. Raises StoreError."""
    head = record.head
    if head.catalog in ("", inquiry.catalog.digest) and head.project in ("", inquiry.project.digest):
        return True
    tail = record.tail
    if tail.reads is None:
        return True
    try:
        return not inquiry.changes(tail.reads, lambda: mentionable_text(shelf.load(tail.parsed, ParsedDocument)))
    except Lost:
        return False


class RecalledParts:
    """`parse_key`: of the parse trace, which has the positions. `check`: whether only a check was asked for."""

    def __init__(
        self, record: Record, shelf: Shelf, parse_key: str, check: bool, recover: Callable[[Lost], Compilation]
    ) -> None:
        self._record = record
        self._shelf = shelf
        self._parse_key = parse_key
        self._check = check
        self._recover = recover

    def recover(self, lost: Lost) -> Compilation:
        return self._recover(lost)

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
    def positions(self) -> Positions:
        for trace in self._shelf.store.get_traces(self._parse_key):
            _, positions, _ = json.loads(trace)
            return unpack_positions(positions)
        raise Lost("artifact-missing", self._parse_key)

    @cached_property
    def parsed(self) -> ParsedDocument | None:
        digest = self._record.tail.parsed
        return self._shelf.load(digest, ParsedDocument) if digest else None

    @cached_property
    def resolved(self) -> ResolvedDocument | None:
        digest = self._record.tail.resolved
        return self._shelf.load(digest, ResolvedDocument) if digest else None

    @cached_property
    def module(self) -> Module | None:
        digest = self._record.tail.module
        return self._shelf.load(digest, Module) if digest and not self._check else None
