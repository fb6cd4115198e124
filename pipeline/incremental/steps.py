"""Parse and resolve through the store: use a recorded run whose reads still hold, else run and record (R1)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pipeline.artifacts import ParsedDocument, Positions, ResolvedDocument
from pipeline.diagnostics.findings import Finding
from pipeline.incremental import keys, reasons
from pipeline.incremental.codec import findings_text, unpack_findings, unpack_positions
from pipeline.incremental.previous import Previous
from pipeline.incremental.reads import Inquiry, Reads, Recorder, mentionable_text, reads_from_json
from pipeline.incremental.report import Reason, StageReport, reused
from pipeline.incremental.shelf import Lost, LostReason, Shelf
from pipeline.stages import parse as parse_stage
from pipeline.stages import resolve as resolve_stage


@dataclass(frozen=True, slots=True)
class ParseStep:
    """`digest` of the artifact, "" and None for an unreadable document."""

    report: StageReport
    digest: str
    artifact: ParsedDocument | None
    positions: Positions
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ResolveStep:
    report: StageReport
    digest: str
    artifact: ResolvedDocument
    reads: Reads
    findings: tuple[Finding, ...]


def newcomer(parse: StageReport, previous: Previous | None) -> bool:
    """Whether nothing of the document was ever seen: neither was it compiled, nor its bytes parsed.

    Nothing was recorded for what its stages read then, short of a document that differs in comments alone and lies
    under another name. Not looking for it saves a library's first compile a good part of its reads of the store.
    """
    return previous is None and parse.outcome == "ran"


def parse_step(
    shelf: Shelf, data: bytes, document: str, options: tuple[str, int], previous: Previous | None, fresh: bool
) -> ParseStep:
    """`document`: sha256 of `data`. `fresh`: use nothing that is recorded. Raises StoreError."""
    key = keys.stage_key("parse", parse_stage.VERSION, (document,), options)
    lost: LostReason | None = None
    if not fresh:
        for trace in shelf.store.get_traces(key):
            digest, positions, findings = json.loads(trace)
            try:
                artifact = shelf.load(digest, ParsedDocument) if digest else None
            except Lost as error:
                lost = error.reason
                continue
            return ParseStep(reused("parse"), digest, artifact, unpack_positions(positions), unpack_findings(findings))
    stem, max_bytes = options
    outcome = parse_stage.parse(data, stem, max_bytes)
    digest = "" if outcome.artifact is None else shelf.put(outcome.artifact)
    recorded = f'["{digest}",{keys.encode(outcome.positions)},{findings_text(outcome.findings)}]'
    shelf.store.add_trace(key, recorded.encode("ascii"))
    reason = _parse_reason(document, options, previous, fresh, lost)
    report = StageReport("parse", None, "ran", reason)
    return ParseStep(report, digest, outcome.artifact, outcome.positions, outcome.findings)


def _parse_reason(
    document: str, options: tuple[str, int], previous: Previous | None, fresh: bool, lost: LostReason | None
) -> Reason:
    if previous is None or fresh or lost is not None:
        return reasons.without_record(fresh, lost)
    if previous.other_version("parse", parse_stage.VERSION):
        return "stage-version"
    if previous.tail.options != options:
        return "options"
    # The same bytes as in the previous compile, whose trace is gone: pruned.
    return "document" if previous.document != document else "artifact-missing"


def resolve_step(
    shelf: Shelf, parsed: ParseStep, path: str, inquiry: Inquiry, previous: Previous | None, fresh: bool
) -> ResolveStep:
    """`parsed` must have an artifact. Raises StoreError."""
    artifact = parsed.artifact
    if artifact is None:
        raise ValueError("an unreadable document cannot be resolved")
    # Only calls look at the document's own path: a document without any resolves alike wherever it lies.
    calling = any(section.calls for section in (artifact.outside, *artifact.phases))
    key = keys.stage_key("resolve", resolve_stage.VERSION, (parsed.digest,), (path if calling else "",))
    lost: LostReason | None = None
    if not fresh and not newcomer(parsed.report, previous):
        for trace in shelf.store.get_traces(key):
            digest, packed_reads, findings = json.loads(trace)
            reads = reads_from_json(packed_reads)
            if inquiry.changes(reads, lambda: mentionable_text(artifact)):
                continue
            try:
                resolved = shelf.load(digest, ResolvedDocument)
            except Lost as error:
                lost = error.reason
                continue
            return ResolveStep(reused("resolve"), digest, resolved, reads, unpack_findings(findings))
    recorder = Recorder(inquiry)
    outcome = resolve_stage.resolve(artifact, recorder.catalog, recorder.project, path)
    reads = recorder.reads(artifact)
    digest = shelf.put(outcome.artifact)
    recorded = f'["{digest}",{reads.text},{findings_text(outcome.findings)}]'
    shelf.store.add_trace(key, recorded.encode("ascii"))
    reason = _resolve_reason(parsed.digest, artifact, inquiry, previous, fresh, lost)
    return ResolveStep(StageReport("resolve", None, "ran", reason), digest, outcome.artifact, reads, outcome.findings)


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
    # Nothing that was read is another: the trace itself is gone.
    return reasons.first(known) or "artifact-missing"
