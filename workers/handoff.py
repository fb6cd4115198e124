"""What one worker hands to the next: a blob in the store, and a note in the ledger that names it.

The blob carries all that the next stage needs, the document's text included: over a network one object costs as much as
its parse. Nothing in it is believed: what is lost or damaged is made again from the save.

    aop-handoff 1 LENGTH-OF-REPORTS LENGTH-OF-TEXT \\n
    the reports of the stages so far, JSON \\n the text \\n what `Compiler.advance` handed out
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple, cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.incremental.report import Outcome, Reason, Stage, StageReport
from workers.ledger.records import STAGES, Job, LedgerCorrupt
from workers.ledger.records import Stage as LedgerStage
from workers.records import Digest, MaybeDigest

_HEAD: Final = re.compile(rb"aop-handoff 1 ([0-9]{1,10}) ([0-9]{1,10})\n")


class Note(BaseModel):
    """In the ledger. `handed`: the blob's digest; `catalog`: with which the job is compiled, from start to end; `text`:
    the document's blob. Another version may write more."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    handed: MaybeDigest = ""
    catalog: Digest
    text: Digest


class Handed(NamedTuple):
    """`advance`: what the compiler handed out; None: it is to begin anew."""

    text: bytes
    reports: tuple[StageReport, ...]
    advance: bytes | None


def note_of(job: Job, stage: LedgerStage) -> Note | None:
    """What the stage before `stage` left; None: nothing was. Raises LedgerCorrupt."""
    for earlier in reversed(STAGES[: STAGES.index(stage)]):
        text = job.notes.get(earlier)
        if text is not None:
            try:
                return Note.model_validate_json(text)
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]
                raise LedgerCorrupt(f"job:{job.id}: note:{earlier}: {first['loc']}: {first['msg']}") from None
    return None


def pack(handed: Handed) -> bytes:
    reports = json.dumps([[r.stage, r.phase, r.outcome, r.reason] for r in handed.reports]).encode("ascii")
    head = b"aop-handoff 1 %d %d\n" % (len(reports), len(handed.text))
    return b"".join((head, reports, b"\n", handed.text, b"\n", handed.advance or b""))


def unpack(data: bytes) -> Handed | None:
    """None: it is not what `pack` wrote."""
    head = _HEAD.match(data)
    if head is None:
        return None
    begin = head.end()
    middle = begin + int(head[1]) + 1
    end = middle + int(head[2]) + 1
    if len(data) < end:
        return None
    reports = _reports(data[begin : middle - 1])
    return None if reports is None else Handed(data[middle : end - 1], reports, data[end:] or None)


def _reports(data: bytes) -> tuple[StageReport, ...] | None:
    try:
        return tuple(_report(entry) for entry in json.loads(data))
    except (ValueError, TypeError, RecursionError):
        return None


def _report(entry: Sequence[object]) -> StageReport:
    """Raises ValueError, TypeError."""
    stage, phase, outcome, reason = entry
    known = stage in get_args(Stage) and outcome in get_args(Outcome) and reason in get_args(Reason)
    if not known or not (phase is None or type(phase) is int):
        raise ValueError(f"not a report: {entry!r:.80}")
    return StageReport(cast("Stage", stage), phase, cast("Outcome", outcome), cast("Reason", reason))
