"""What compiling one document came to. Artifacts of an unchanged document stay in the store until somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from pipeline.diagnostics.findings import Finding
from pipeline.incremental.keys import Json
from pipeline.incremental.record import Kind, Status
from pipeline.incremental.report import StageReport
from pipeline.incremental.shelf import Lost

if TYPE_CHECKING:
    from pipeline.artifacts import Module, ParsedDocument, ResolvedDocument
    from pipeline.places import Positions

T = TypeVar("T")


class Made(NamedTuple):
    """The parts of a compile that ran stages. An artifact that there is none of is None."""

    stages: tuple[StageReport, ...]
    findings: tuple[Finding, ...]
    positions: Positions
    parsed: ParsedDocument | None
    resolved: ResolvedDocument | None
    module: Module | None


class Recalled(Protocol):
    """The parts of a compile that was answered by its record: each is read from the store when it is asked for.

    All but `recover` raise Lost where the store has not got it any more; `recover` compiles the document again.
    """

    @property
    def stages(self) -> tuple[StageReport, ...]: ...

    @property
    def findings(self) -> tuple[Finding, ...]: ...

    @property
    def positions(self) -> Positions: ...

    @property
    def parsed(self) -> ParsedDocument | None: ...

    @property
    def resolved(self) -> ResolvedDocument | None: ...

    @property
    def module(self) -> Module | None: ...

    def recover(self) -> Compilation: ...


class Compilation:
    """One document's. `path` as given, `sha256` of its bytes. An unreadable one has `kind` None, and its stem for name.

    `receipt`: what publishing returned last for this path, None if it was never published.
    Everything else may raise StoreError: of an unchanged document it is read from the store when it is asked for.
    """

    def __init__(
        self,
        path: str,
        sha256: str,
        status: Status,
        kind: Kind | None,
        name: str,
        receipt: Json,
        parts: Made | Recalled,
    ) -> None:
        self.path = path
        self.sha256 = sha256
        self.status: Status = status
        self.kind: Kind | None = kind
        self.name = name
        self.receipt = receipt
        self._parts = parts

    @property
    def stages(self) -> tuple[StageReport, ...]:
        """parse, resolve, generate for each phase in the document's order, link, verify (O2)."""
        return self._part(lambda parts: parts.stages)

    @property
    def recalled(self) -> bool:
        """Whether nothing had to be looked at: the document's record answered."""
        return not isinstance(self._parts, Made)

    @property
    def carried(self) -> frozenset[int]:
        """The places, among the document's phases, of those whose code was made by another version (R3)."""
        generated = [report for report in self.stages if report.stage == "generate"]
        return frozenset(place for place, report in enumerate(generated) if report.outcome == "carried")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """As detected: not sorted."""
        return self._part(lambda parts: parts.findings)

    @property
    def positions(self) -> Positions:
        return self._part(lambda parts: parts.positions)

    @property
    def parsed(self) -> ParsedDocument | None:
        """None for an unreadable document."""
        return self._part(lambda parts: parts.parsed)

    @property
    def resolved(self) -> ResolvedDocument | None:
        """None for an unreadable document."""
        return self._part(lambda parts: parts.resolved)

    @property
    def module(self) -> Module | None:
        """None for a failed compile and for a check."""
        return self._part(lambda parts: parts.module)

    def _part(self, get: Callable[[Made | Recalled], T]) -> T:
        try:
            return get(self._parts)
        except Lost:
            if isinstance(self._parts, Made):
                raise
        # The store lost what the record names, so the record is of no use: the whole document is compiled again.
        again = self._parts.recover()
        self.status, self.kind, self.name = again.status, again.kind, again.name
        self._parts = again._parts
        return self._part(get)
