"""How a job ends in the store: its output, its outcome, what is published, dead letters.

Everything here may run twice, and after a worker died anywhere in between: blobs are found by content, what is
published moves forward only, and what was published once is not compiled again. In this order: the output, what is
published, what the compiler remembers, the outcome, the ledger. So whoever reads of a success finds it published.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from pipeline.compilation import Compilation
from pipeline.generators.protocol import GeneratorIdentity
from workers import clock
from workers.archive import Archive
from workers.ledger.records import Job
from workers.ledger.records import Outcome as LedgerOutcome
from workers.metrics import metrics
from workers.output import output_of, tools_of
from workers.project_row import calls_of
from workers.records import DeadLetter, Outcome, Published, StageLine

MOST_STAGES: Final = 1_000
"""So many lines of what stages did stand in an outcome; all of them are in its output."""


class Overtaken(Exception):
    """A later compile of the document was published meanwhile: this one is not."""


@dataclass(frozen=True, slots=True)
class Ending:
    """`outcome`: for the ledger; `record`: for the store, where it is."""

    outcome: LedgerOutcome
    record: Outcome

    @property
    def detail(self) -> str:
        """For the ledger: what a reader wants without asking the store."""
        record = self.record
        return json.dumps(
            {
                "status": record.status,
                "text": record.text,
                "catalog": record.catalog,
                "output": record.output,
                "errors": record.errors,
                "warnings": record.warnings,
            }
        )


def earlier_ending(archive: Archive, job: Job) -> Ending | None:
    """How an earlier attempt has ended the job, or a later compile has: then nothing is to be compiled.

    Raises StoreError, RecordCorrupt, ArchiveContended.
    """
    published, found = archive.ending(job.document, job.sequence)
    if published is not None and published.order == (job.sequence, job.round):
        record = published.outcome
        archive.put_outcome(record)
        return Ending("succeeded", record)
    if published is not None and published.order > (job.sequence, job.round):
        return overtaken(archive, job)
    if found is not None and found.round == job.round and found.status == "failed":
        return Ending("failed", found)
    return None


def publish(
    archive: Archive, job: Job, compilation: Compilation, catalog: str, text: str, generator: GeneratorIdentity
) -> Ending:
    """Have the compile be the document's newest; where it failed, what is published stays. What comes back is not
    the save's outcome yet: whoever calls puts it into the archive.

    Raises Overtaken, StoreError, RecordCorrupt, ArchiveContended.
    """
    output = output_of(compilation, generator)
    errors = sum(finding.fails for finding in compilation.findings)
    record = Outcome(
        document=job.document,
        sequence=job.sequence,
        round=job.round,
        job=job.id,
        job_class=job.job_class,
        status=compilation.status,
        at_ms=clock.now_ms(),
        text=text,
        name=compilation.name,
        kind=compilation.kind,
        calls=calls_of(compilation),
        tools=tools_of(output),
        errors=errors,
        warnings=len(compilation.findings) - errors,
        catalog=catalog,
        output=archive.put_output(output),
        stages=tuple(
            StageLine(stage=report.stage, phase=report.phase, outcome=report.outcome, reason=report.reason)
            for report in compilation.stages[:MOST_STAGES]
        ),
        bulk=job.bulk,
    )
    if record.status == "succeeded":
        _move(archive, record, retired=False)
    return Ending("succeeded" if record.status == "succeeded" else "failed", record)


def retire(archive: Archive, job: Job) -> Ending:
    """The document is no longer there. Raises Overtaken, StoreError, RecordCorrupt, ArchiveContended."""
    record = _bare(job, clock.now_ms()).model_copy(update={"status": "retired"})
    _move(archive, record, retired=True)
    archive.put_outcome(record)
    return Ending("succeeded", record)


def overtaken(archive: Archive, job: Job) -> Ending:
    """Raises StoreError, RecordCorrupt, ArchiveContended."""
    record = _bare(job, clock.now_ms())
    _put_unless_compiled(archive, record)
    return Ending("superseded", record)


def record_end(archive: Archive, job: Job) -> bool:
    """Tell the store of a job that ended in the ledger alone, superseded or dead. False: it has not ended so.

    Raises StoreError, RecordCorrupt, ArchiveContended.
    """
    at = clock.now_ms() if job.ended_ms is None else job.ended_ms
    if job.state == "superseded":
        _put_unless_compiled(archive, _bare(job, at))
        return True
    if job.state != "dead":
        return False
    letter = DeadLetter(
        job=job.id,
        document=job.document,
        sequence=job.sequence,
        round=job.round,
        job_class=job.job_class,
        stage=job.stage,
        cause=job.cause,
        at_ms=at,
    )
    archive.put_dead(letter)
    _put_unless_compiled(archive, _bare(job, at).model_copy(update={"status": "dead", "cause": job.cause}))
    return True


def count(compilation: Compilation) -> None:
    """Tell the metrics of a compile that ended."""
    for report in compilation.stages:
        metrics.stage_reuse.labels(report.stage, report.reason).inc()
    for finding in compilation.findings:
        metrics.diagnostics.labels(finding.name).inc()


def _move(archive: Archive, record: Outcome, *, retired: bool) -> None:
    fields = {name: getattr(record, name) for name in Outcome.model_fields}
    if not archive.publish(Published(**fields, retired=retired)):
        raise Overtaken(f"a later compile of {record.document!r} is published")


def _bare(job: Job, at_ms: int) -> Outcome:
    """Of a job that compiled nothing; superseded, unless the caller knows better."""
    return Outcome(
        document=job.document,
        sequence=job.sequence,
        round=job.round,
        job=job.id,
        job_class=job.job_class,
        status="superseded",
        at_ms=at_ms,
        bulk=job.bulk,
    )


def _put_unless_compiled(archive: Archive, record: Outcome) -> None:
    """A save that was compiled keeps that outcome when its compile again came to nothing."""
    if record.round == 0 or archive.outcome(record.document, record.sequence) is None:
        archive.put_outcome(record)
