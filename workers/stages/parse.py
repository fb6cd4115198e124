"""The first stage: the save's text is read and parsed, the job's catalog chosen, the project told of the document."""

from __future__ import annotations

from dataclasses import replace

from workers.context import Context
from workers.ledger.records import Lease, Row
from workers.project_row import calls_of
from workers.stages.compiling import advance, hand_on, take_up
from workers.stages.step import Next


def run(context: Context, lease: Lease) -> Next:
    job = lease.job
    note, handed = take_up(context, lease)
    advanced = advance(context, job, note, handed, "parse")
    compilation = advanced.compilation
    row = Row(job.sequence, compilation.name, calls_of(compilation))
    if not (advanced.finished and compilation.recalled):
        return replace(hand_on(context, note, handed, advanced, "resolve"), row=row)
    if context.ledger.index(job.document, row.sequence, row.name, row.calls):
        # Answered by a record that was asked of the project as it was before this save.
        advanced = advance(context, job, note, handed, "parse")
    return hand_on(context, note, handed, advanced, "resolve")
