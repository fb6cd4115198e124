"""The document's previous compile, as far as it still can be had: what reasons compare with."""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from pipeline.artifacts import SCHEMA_VERSION, ParsedDocument, Pin, ResolvedDocument, Unit
from pipeline.incremental.record import Record, Tail
from pipeline.incremental.shelf import Lost, Shelf
from pipeline.stages.generate import units_of

T = TypeVar("T")


class Previous:
    """Loaded piece by piece, when a stage runs and its reason is asked for. What is lost is None."""

    def __init__(self, record: Record, shelf: Shelf) -> None:
        self.document = record.head.document
        self.tail: Tail = record.tail
        self._shelf = shelf

    def other_version(self, stage: str, version: str) -> bool:
        """Whether another version of the stage made the previous compile, or one with another schema of artifacts."""
        known = self.tail.versions
        return known.get(stage) != version or known.get("artifacts") != str(SCHEMA_VERSION)

    def _load(self, digest: str, kind: type[T]) -> T | None:
        try:
            return self._shelf.load(digest, kind) if digest else None
        except Lost:
            return None

    @cached_property
    def parsed(self) -> ParsedDocument | None:
        return self._load(self.tail.parsed, ParsedDocument)

    @cached_property
    def resolved(self) -> ResolvedDocument | None:
        return self._load(self.tail.resolved, ResolvedDocument)

    @property
    def pins(self) -> tuple[Pin, ...]:
        return () if self.resolved is None else self.resolved.pins

    @cached_property
    def units(self) -> tuple[Unit | None, ...]:
        if self.parsed is None or self.resolved is None:
            return ()
        return units_of(self.parsed, self.resolved)
