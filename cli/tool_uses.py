"""Which operations the documents of a project use, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from catalog.drift import Drift
from catalog.fold import fold
from catalog.snapshot import Catalog
from cli import streams
from cli.arguments import DEFAULT_OUT, Setting
from cli.batch import compile_many, no_siblings
from cli.batch_worker import Broken
from cli.checking import check_job
from cli.discovery import STDIN, discover
from cli.documents import document_of, siblings_of
from cli.printing import broken_sentence
from cli.trouble import Trouble, sentence
from pipeline.artifacts import Grant, Handover
from pipeline.compilation import Compilation
from pipeline.resolution.drifts import concerns


class Use(NamedTuple):
    """A tool attached to a phase. `phase`: its number, None in a single-phase document."""

    path: str
    phase: int | None
    grant: Grant | Handover


class DocumentUses(NamedTuple):
    """One document's. `errors`: how many it has. `unknown`: what it declares and the catalog has not."""

    path: str
    uses: tuple[Use, ...]
    errors: int
    unknown: tuple[tuple[str, int | None], ...]


class Touched(NamedTuple):
    """A document that a drift concerns. `phases`: their numbers; none in a single-phase document."""

    path: str
    phases: tuple[int, ...]


class Uses(NamedTuple):
    """`broken`: whether some document could not be read; a note has said so."""

    documents: tuple[DocumentUses, ...]
    broken: bool

    def operations(self) -> dict[str, set[str]]:
        """The names of the operations in use, by tool. Standard tools have none, and are left out."""
        found: dict[str, set[str]] = {}
        for use in self._all():
            if isinstance(use.grant, Handover) or use.grant.kind != "standard":
                found.setdefault(use.grant.tool, set()).update(use.grant.operations or ())
        return found

    def touched(self, drift: Drift) -> tuple[Touched, ...]:
        """The documents that use what drifted, or did."""
        phases: dict[str, list[int | None]] = {}
        for use in self._all():
            if fold(use.grant.tool) == fold(drift.tool) and concerns(drift, use.grant):
                phases.setdefault(use.path, []).append(use.phase)
        for document in self.documents:
            for name, phase in document.unknown:
                if fold(name) == fold(drift.tool):
                    phases.setdefault(document.path, []).append(phase)
        return tuple(
            Touched(path, tuple(sorted({number for number in numbers if number is not None})))
            for path, numbers in sorted(phases.items())
        )

    def _all(self) -> Iterable[Use]:
        return (use for document in self.documents for use in document.uses)


def uses_of(names: Sequence[str], setting: Setting, catalog: Catalog) -> Uses:
    """Raises Trouble for standard input, Unusable, StoreError."""
    if STDIN in names:
        raise Trouble("lock.stdin")
    selection = discover(names, Path(DEFAULT_OUT))
    documents = [document_of(named) for named in selection.documents]
    alone = len(documents) == 1 and not selection.several
    siblings = siblings_of(selection.documents[0], Path(DEFAULT_OUT)) if alone else no_siblings
    found: list[DocumentUses] = []
    broken = bool(selection.faults)
    for fault in selection.faults:
        streams.note(f"aop: {sentence(fault, setting.lang)}")
    for outcome in compile_many(documents, check_job(setting, catalog, _document), siblings=siblings):
        if isinstance(outcome, Broken):
            broken = True
            streams.note(f"aop: {broken_sentence(outcome, setting.lang)}")
        else:
            found.append(outcome.value)
    return Uses(tuple(found), broken)


def _document(compilation: Compilation) -> DocumentUses:
    phases = () if compilation.resolved is None else compilation.resolved.phases
    attached: list[tuple[int | None, Grant | Handover]] = []
    for phase in phases:
        attached += [(phase.number, grant) for grant in phase.tools]
        attached += [(phase.number, handover) for handover in phase.handovers]
    uses = tuple(Use(compilation.path, number, grant) for number, grant in attached)
    unknown = tuple(
        (str(dict(finding.arguments)["name"]), finding.phase)
        for finding in compilation.findings
        if finding.name == "tool-unknown"
    )
    errors = sum(finding.fails for finding in compilation.findings)
    return DocumentUses(compilation.path, uses, errors, unknown)
