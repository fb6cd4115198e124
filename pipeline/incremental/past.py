"""The earlier compiles of a document: what their records say they were given, and what they made of it.

A record is the trace of all stages of its compile at once (R1). A stage that is given the same again, at the same
version and with the same options, takes what the newest of them made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from pipeline import canonical
from pipeline.artifacts import Module, ParsedDocument, ResolvedDocument
from pipeline.diagnostics.findings import Finding
from pipeline.incremental.bundle import Bundle, unpack_module, unpack_positions
from pipeline.incremental.record import Head, Record, Tail
from pipeline.incremental.shelf import Lost, Shelf
from pipeline.places import Positions
from pipeline.stages.versions import SCHEMA_VERSION

T = TypeVar("T")


class Past:
    """One earlier compile. Its artifacts raise Lost where the store has not got them any more, StoreError."""

    def __init__(self, record: Record, shelf: Shelf) -> None:
        self.record = record
        self._shelf = shelf

    @property
    def head(self) -> Head:
        return self.record.head

    @property
    def tail(self) -> Tail:
        return self.record.tail

    def made_by(self, stage: str, version: str) -> bool:
        """Whether that version of the stage made it, with this schema of artifacts."""
        known = self.tail.versions
        return known.get(stage) == version and known.get("artifacts") == str(SCHEMA_VERSION)

    @cached_property
    def bundle(self) -> Bundle:
        return self._shelf.load(self.tail.bundle)

    @cached_property
    def parsed(self) -> ParsedDocument | None:
        """None for an unreadable document."""
        return self._artifact(self.tail.parsed, 0, lambda part: canonical.loads(part, ParsedDocument))

    @cached_property
    def positions(self) -> Positions:
        return self._decoded(1, unpack_positions)

    @cached_property
    def resolved(self) -> ResolvedDocument | None:
        """None where the document was not resolved, or its artifact was not kept (`steps.ResolveStep`)."""
        return self._artifact(self.tail.resolved, 2, lambda part: canonical.loads(part, ResolvedDocument))

    @cached_property
    def module(self) -> Module | None:
        """None where none was made."""
        return self._artifact(self.tail.module, 3, unpack_module)

    def _artifact(self, named: str, place: int, decode: Callable[[bytes], T]) -> T | None:
        """Of the part at that place of the bundle, if the record names one."""
        return self._decoded(place, decode) if named else None

    def _decoded(self, place: int, decode: Callable[[bytes], T]) -> T:
        try:
            return decode(self.bundle[place])
        except (ValueError, TypeError):
            raise Lost("artifact-damaged", self.tail.bundle) from None

    @property
    def parse_findings(self) -> tuple[Finding, ...]:
        return self.record.findings[: self.tail.found[0]]

    @property
    def resolve_findings(self) -> tuple[Finding, ...]:
        parse, resolve = self.tail.found
        return self.record.findings[parse : parse + resolve]
