"""The second stage: declarations are resolved against the catalog and the project."""

from __future__ import annotations

from workers.context import Context
from workers.ledger.records import Job
from workers.stages.compiling import advance, hand_on, take_up
from workers.stages.step import Next


def run(context: Context, job: Job) -> Next:
    note, handed = take_up(context, job, "resolve")
    return hand_on(context, note, handed, advance(context, job, note, handed, "resolve"), "generate")
