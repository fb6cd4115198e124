"""The first stage: the save's text is read and parsed, the job's catalog chosen, the project told of the document."""

from __future__ import annotations

from workers.context import Context
from workers.ledger.records import Job
from workers.project_row import calls_of
from workers.stages.compiling import advance, hand_on, take_up
from workers.stages.step import Next


def run(context: Context, job: Job) -> Next:
    note, handed = take_up(context, job, "parse")
    advanced = advance(context, job, note, handed, "parse")
    compilation = advanced.compilation
    changed = context.ledger.index(job.document, job.sequence, compilation.name, calls_of(compilation))
    if changed and advanced.finished and compilation.recalled:
        # Answered by a record that was asked of the project as it was before this save.
        advanced = advance(context, job, note, handed, "parse")
    return hand_on(context, note, handed, advanced, "resolve")
