"""What is remembered of a compile, or of a parse alone: its record, and the bundle that the record names."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.compilation import Compilation
from pipeline.incremental.bundle import Bundle, pack_positions
from pipeline.incremental.keys import Json
from pipeline.incremental.record import Head, PhaseRecord, Record, Tail
from pipeline.incremental.run import Run
from pipeline.incremental.shelf import Shelf
from pipeline.incremental.steps import ParseStep
from pipeline.project import ProjectDocument


class MadeBy(NamedTuple):
    """By whom and how. `setup`: see `Head`; `versions` by stage; `options` of parse."""

    setup: str
    versions: dict[str, str]
    options: tuple[Json, ...]
    check: bool


def compiled(shelf: Shelf, by: MadeBy, compilation: Compilation, run: Run, calls: tuple[str, ...]) -> Record:
    """Puts the bundle on the shelf. Raises StoreError."""
    parsed, resolved, assembly = run.parsed, run.resolved, run.assembly
    reads = None if resolved is None else resolved.reads
    module = None if assembly is None else assembly.module
    sections = () if run.made.parsed is None else run.made.parsed.phases
    head = Head(
        "check" if by.check else "whole",
        compilation.sha256,
        by.setup,
        compilation.status,
        compilation.kind,
        compilation.name,
        calls,
        "" if reads is None else reads.catalog,
        "" if reads is None else reads.project,
        assembly is not None and assembly.again,
        compilation.receipt,
    )
    bundle = Bundle(
        parsed.stored.packed,
        pack_positions(parsed.positions),
        b"" if resolved is None else resolved.stored.packed,
        () if assembly is None else assembly.codes,
    )
    tail = Tail(
        by.versions,
        by.options,
        shelf.put(bundle),
        parsed.stored.digest,
        "" if resolved is None else resolved.stored.digest,
        "" if module is None else module.sha256,
        (len(parsed.findings), 0 if resolved is None else len(resolved.findings)),
        assembly is not None and assembly.proven,
        tuple(PhaseRecord(section.number, "", False) for section in sections) if assembly is None else assembly.phases,
        reads,
    )
    return Record(head, run.made.findings, tail)


def surveyed(shelf: Shelf, by: MadeBy, document: ProjectDocument, sha256: str, step: ParseStep) -> Record:
    """As `compiled`, of a parse that no compile follows."""
    bundle = shelf.put(Bundle(step.stored.packed, pack_positions(step.positions)))
    head = Head("survey", sha256, by.setup, "succeeded", None, document.name, document.calls, "", "", False, None)
    found = (len(step.findings), 0)
    tail = Tail(by.versions, by.options, bundle, step.stored.digest, "", "", found, False, (), None)
    return Record(head, step.findings, tail)
