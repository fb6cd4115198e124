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
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental.bundle import Bundle, unpack_positions
from pipeline.incremental.code import SignedCode, from_signed, unpack
from pipeline.incremental.keys import identity_text
from pipeline.incremental.record import Head, Record, Tail
from pipeline.incremental.shelf import Lost, Shelf
from pipeline.places import Positions
from pipeline.stages.link import link
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
        if not self.tail.parsed:
            return None
        return self._decoded(lambda bundle: canonical.loads(bundle.parsed, ParsedDocument))

    @cached_property
    def positions(self) -> Positions:
        return self._decoded(lambda bundle: unpack_positions(bundle.positions))

    @cached_property
    def resolved(self) -> ResolvedDocument | None:
        """None where the document was not resolved, or its artifact was not kept (`steps.ResolveStep`)."""
        if not self.tail.resolved:
            return None
        return self._decoded(lambda bundle: canonical.loads(bundle.resolved, ResolvedDocument))

    @cached_property
    def coded(self) -> dict[str, int]:
        """Of the phases that have code, from the unit to the place."""
        return {phase.unit: place for place, phase in enumerate(self.tail.phases) if phase.coded}

    def coded_by(self, identity: GeneratorIdentity, place: int) -> bool:
        """Whether the phase's code is that generator's own; what was carried over is that of another."""
        return not self.tail.phases[place].carried and self.tail.versions.get("generate") == identity_text(identity)

    def signed_code(self, place: int) -> SignedCode:
        """The code of the phase at that place, which must have some."""
        return self._decoded(lambda bundle: from_signed(bundle.codes[place]))

    @property
    def codes(self) -> list[bytes]:
        """Of all phases of a module that was made, b"" for one that calls another AOP."""
        phases = self.tail.phases
        return self._decoded(
            lambda bundle: [
                from_signed(code).packed if phase.coded else b""
                for code, phase in zip(bundle.codes, phases, strict=True)
            ]
        )

    @cached_property
    def module(self) -> Module | None:
        """None where none was made."""
        parsed, resolved = self.parsed, self.resolved
        if not self.tail.module or parsed is None or resolved is None:
            return None
        codes = self.codes
        module = self._decoded(lambda _: link(parsed, resolved, [unpack(code) if code else None for code in codes]))
        if module.sha256 != self.tail.module:
            raise Lost("artifact-damaged", self.tail.bundle)
        return module

    def _decoded(self, decode: Callable[[Bundle], T]) -> T:
        try:
            return decode(self.bundle)
        except (ValueError, TypeError, IndexError):
            raise Lost("artifact-damaged", self.tail.bundle) from None

    @property
    def parse_findings(self) -> tuple[Finding, ...]:
        return self.record.findings[: self.tail.found[0]]

    @property
    def resolve_findings(self) -> tuple[Finding, ...]:
        parse, resolve = self.tail.found
        return self.record.findings[parse : parse + resolve]
