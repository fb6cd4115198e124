"""What one worker hands to the next: a note in the ledger and, where it would be long, a blob in the store.

A blob carries all that the next stage needs, the document's text included: over a network one object costs as much as
its parse. Nothing of it is believed: what is lost or damaged is made again from the save.

    aop-handoff 1 LENGTH-OF-REPORTS LENGTH-OF-TEXT \\n
    the reports of the stages so far, JSON \\n the text \\n what `Compiler.advance` handed out
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.incremental.report import Outcome, Reason, Stage, StageReport
from workers.ledger.records import STAGES, Job, LedgerCorrupt
from workers.ledger.records import Stage as LedgerStage
from workers.records import Digest, MaybeDigest

_HEAD: Final = re.compile(rb"aop-handoff 1 ([0-9]{1,10}) ([0-9]{1,10})\n")


MOST_INLINE: Final = 4_096
"""Bytes, compressed: what is no longer stands in the note itself, without the text. Redis keeps it until the job ends.
Phases have much in common, so that most documents' code fits; then the stage writes nothing to the store."""

_MOST_UNPACKED: Final = 1 << 20
"""Bytes that a note may come to."""


class Note(BaseModel):
    """In the ledger. `inline`: what is handed on, compressed and in base64, or `handed`: the digest of its blob.
    `catalog`: with which the job is compiled, from start to end; `text`: the document's blob. Another version may write
    more."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    handed: MaybeDigest = ""
    inline: Annotated[str, Field(max_length=MOST_INLINE * 4 // 3 + 4)] = ""
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


def inline(handed: Handed) -> str:
    """For a note, without the text; "" where it would be too long."""
    packed = pack(handed._replace(text=b""))
    if len(packed) > _MOST_UNPACKED:
        return ""
    compressed = zlib.compress(packed, 1)
    return base64.b64encode(compressed).decode("ascii") if len(compressed) <= MOST_INLINE else ""


def from_inline(note: Note, text: bytes) -> Handed | None:
    """None: it is not what `inline` wrote."""
    try:
        found = unpack(zlib.decompressobj().decompress(base64.b64decode(note.inline, validate=True), _MOST_UNPACKED))
    except (binascii.Error, zlib.error):
        return None
    return None if found is None else found._replace(text=text)


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
