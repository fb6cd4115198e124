"""Parse and resolve: use what an earlier compile was given and read the same for, else run (R1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipeline import canonical
from pipeline.artifacts import ParsedDocument, ResolvedDocument
from pipeline.diagnostics.findings import Finding
from pipeline.incremental import bundle, reasons
from pipeline.incremental.lookups import ItemLookups
from pipeline.incremental.past import Past
from pipeline.incremental.previous import Previous
from pipeline.incremental.reads import Inquiry, Reads, Recorder, mentionable_text
from pipeline.incremental.report import Reason, StageReport, reused
from pipeline.incremental.shelf import Lost, LostReason
from pipeline.places import Positions
from pipeline.project import ProjectDocument, stem
from pipeline.stages import parse as parse_stage
from pipeline.stages import resolve as resolve_stage
from pipeline.stages.generate import oversize


class Stored(NamedTuple):
    """An artifact's bytes and their digest."""

    packed: bytes
    digest: str


class ParseStep:
    """`artifact` None: an unreadable document."""

    def __init__(
        self,
        report: StageReport,
        artifact: ParsedDocument | None,
        positions: Positions,
        findings: tuple[Finding, ...],
        stored: Stored | None = None,
    ) -> None:
        self.report = report
        self.artifact = artifact
        self.positions = positions
        self.findings = findings
        self._stored = stored

    @property
    def stored(self) -> Stored:
        """Of the artifact, b"" and "" where there is none. Made when it is asked for, unless an earlier compile has
        stored it: most steps of a job store nothing."""
        if self._stored is None:
            packed = b"" if self.artifact is None else canonical.dumps(self.artifact)
            self._stored = Stored(packed, bundle.digest(packed))
        return self._stored

    def in_project(self, path: str) -> ProjectDocument:
        """What a project must know of the document."""
        if self.artifact is None:
            return ProjectDocument(path, stem(path), ())
        targets = [call.target for section in self.artifact.phases for call in section.calls if call.target]
        return ProjectDocument(path, self.artifact.name, tuple(dict.fromkeys(targets)))


class ResolveStep:
    """As `ParseStep`. `expanded`: how much text is asked for, if it is too much, else 0 (`generate.oversize`)."""

    def __init__(
        self,
        report: StageReport,
        artifact: ResolvedDocument,
        expanded: int,
        reads: Reads,
        findings: tuple[Finding, ...],
        stored: Stored | None = None,
    ) -> None:
        self.report = report
        self.artifact = artifact
        self.expanded = expanded
        self.reads = reads
        self.findings = findings
        self._stored = stored

    @property
    def stored(self) -> Stored:
        """As `ParseStep.stored`. None of a document that is refused for what it asks for: each phase would name all
        that the phases share."""
        if self._stored is None:
            packed = b"" if self.expanded else canonical.dumps(self.artifact)
            self._stored = Stored(packed, bundle.digest(packed))
        return self._stored


def parse_step(
    data: bytes,
    document: str,
    options: tuple[str, int],
    pasts: Sequence[Past],
    previous: Previous | None,
    fresh: bool,
) -> ParseStep:
    """`document`: sha256 of `data`. `fresh`: use nothing that is recorded. Raises StoreError."""
    lost: LostReason | None = None
    for past in () if fresh else pasts:
        if past.head.document != document or past.tail.options != options:
            continue
        if not past.made_by("parse", parse_stage.VERSION):
            continue
        try:
            artifact, positions, packed = past.parsed, past.positions, past.bundle.parsed
        except Lost as error:
            lost = lost or error.reason
            continue
        return ParseStep(reused("parse"), artifact, positions, past.parse_findings, Stored(packed, past.tail.parsed))
    stem, max_bytes = options
    outcome = parse_stage.parse(data, stem, max_bytes)
    report = StageReport("parse", None, "ran", _parse_reason(document, options, previous, fresh, lost))
    return ParseStep(report, outcome.artifact, outcome.positions, outcome.findings)


def _parse_reason(
    document: str, options: tuple[str, int], previous: Previous | None, fresh: bool, lost: LostReason | None
) -> Reason:
    if previous is None or fresh or lost is not None:
        return reasons.without_record(fresh, lost)
    if previous.other_version("parse", parse_stage.VERSION):
        return "stage-version"
    if previous.tail.options != options:
        return "options"
    # The same bytes as in the previous compile would have been found.
    return "document" if previous.document != document else "artifact-missing"


def resolve_step(
    parsed: ParseStep,
    path: str,
    inquiry: Inquiry,
    pasts: Sequence[Past],
    previous: Previous | None,
    fresh: bool,
) -> ResolveStep:
    """`parsed` must have an artifact. `pasts`: of the document at the same path. Raises StoreError."""
    artifact = parsed.artifact
    if artifact is None:
        raise ValueError("an unreadable document cannot be resolved")
    lost: LostReason | None = None
    for past in () if fresh else pasts:
        reads = past.tail.reads
        if (
            past.tail.parsed != parsed.stored.digest
            or reads is None
            or not past.made_by("resolve", resolve_stage.VERSION)
        ):
            continue
        if inquiry.changes(reads, lambda: mentionable_text(artifact)):
            continue
        try:
            resolved, packed = past.resolved, past.bundle.resolved
        except Lost as error:
            lost = lost or error.reason
            continue
        if resolved is not None:
            expanded, stored = oversize(artifact, resolved), Stored(packed, past.tail.resolved)
            return ResolveStep(reused("resolve"), resolved, expanded, reads, past.resolve_findings, stored)
    recorder = Recorder(inquiry)
    read_item = ItemLookups(inquiry, recorder.catalog).read_item
    outcome = resolve_stage.resolve(artifact, recorder.catalog, recorder.project, path, read_item)
    report = StageReport("resolve", None, "ran", _resolve_reason(parsed, artifact, inquiry, previous, fresh, lost))
    expanded = oversize(artifact, outcome.artifact)
    return ResolveStep(report, outcome.artifact, expanded, recorder.reads(artifact), outcome.findings)


def _resolve_reason(
    step: ParseStep,
    parsed: ParsedDocument,
    inquiry: Inquiry,
    previous: Previous | None,
    fresh: bool,
    lost: LostReason | None,
) -> Reason:
    if previous is None or fresh or lost is not None:
        return reasons.without_record(fresh, lost)
    if previous.other_version("resolve", resolve_stage.VERSION):
        return "stage-version"
    if previous.tail.parsed != step.stored.digest:
        return "document" if previous.parsed is None else reasons.parsed_change(previous.parsed, parsed)
    reads = previous.tail.reads
    changes = [] if reads is None else inquiry.changes(reads, lambda: mentionable_text(parsed))
    known = {reasons.read_change(change, previous.pins, inquiry.catalog) for change in changes}
    # Nothing that was read is another: what was recorded is gone.
    return reasons.first(known) or "artifact-missing"
