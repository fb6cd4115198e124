"""Parse and resolve: use what an earlier compile was given and read the same for, else run (R1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline import canonical
from pipeline.artifacts import ParsedDocument, ResolvedDocument
from pipeline.diagnostics.findings import Finding
from pipeline.incremental import bundle, reasons
from pipeline.incremental.past import Past
from pipeline.incremental.previous import Previous
from pipeline.incremental.reads import Inquiry, Reads, Recorder, mentionable_text
from pipeline.incremental.report import Reason, StageReport, reused
from pipeline.incremental.shelf import Lost, LostReason
from pipeline.places import Positions
from pipeline.stages import parse as parse_stage
from pipeline.stages import resolve as resolve_stage
from pipeline.stages.generate import MAX_INSTRUCTIONS, expanded_size


@dataclass(frozen=True, slots=True)
class ParseStep:
    """`packed`: the artifact's bytes, `digest` theirs; b"", "" and None for an unreadable document."""

    report: StageReport
    packed: bytes
    digest: str
    artifact: ParsedDocument | None
    positions: Positions
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ResolveStep:
    """As `ParseStep`. `expanded`: how much text is asked for, see `generate.expanded_size`.

    Above the limit the document is refused, and there are no bytes: each phase would name all that the phases share.
    """

    report: StageReport
    packed: bytes
    digest: str
    artifact: ResolvedDocument
    expanded: int
    reads: Reads
    findings: tuple[Finding, ...]


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
        return ParseStep(reused("parse"), packed, past.tail.parsed, artifact, positions, past.parse_findings)
    stem, max_bytes = options
    outcome = parse_stage.parse(data, stem, max_bytes)
    report = StageReport("parse", None, "ran", _parse_reason(document, options, previous, fresh, lost))
    packed = b"" if outcome.artifact is None else canonical.dumps(outcome.artifact)
    return ParseStep(report, packed, bundle.digest(packed), outcome.artifact, outcome.positions, outcome.findings)


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
        if past.tail.parsed != parsed.digest or reads is None or not past.made_by("resolve", resolve_stage.VERSION):
            continue
        if inquiry.changes(reads, lambda: mentionable_text(artifact)):
            continue
        try:
            resolved, packed = past.resolved, past.bundle.resolved
        except Lost as error:
            lost = lost or error.reason
            continue
        if resolved is not None:
            return ResolveStep(
                reused("resolve"),
                packed,
                past.tail.resolved,
                resolved,
                expanded_size(artifact, resolved),
                reads,
                past.resolve_findings,
            )
    recorder = Recorder(inquiry)
    outcome = resolve_stage.resolve(artifact, recorder.catalog, recorder.project, path)
    reason = _resolve_reason(parsed.digest, artifact, inquiry, previous, fresh, lost)
    expanded = expanded_size(artifact, outcome.artifact)
    packed = b"" if expanded > MAX_INSTRUCTIONS else canonical.dumps(outcome.artifact)
    return ResolveStep(
        StageReport("resolve", None, "ran", reason),
        packed,
        bundle.digest(packed),
        outcome.artifact,
        expanded,
        recorder.reads(artifact),
        outcome.findings,
    )


def _resolve_reason(
    digest: str,
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
    if previous.tail.parsed != digest:
        return "document" if previous.parsed is None else reasons.parsed_change(previous.parsed, parsed)
    reads = previous.tail.reads
    changes = [] if reads is None else inquiry.changes(reads, lambda: mentionable_text(parsed))
    known = {reasons.read_change(change, previous.pins, inquiry.catalog) for change in changes}
    # Nothing that was read is another: what was recorded is gone.
    return reasons.first(known) or "artifact-missing"
