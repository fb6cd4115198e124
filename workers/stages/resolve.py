"""The second stage: declarations are resolved against the catalog and the project."""

from __future__ import annotations

from workers.context import Context
from workers.ledger.records import Lease
from workers.stages.compiling import advance, hand_on, take_up
from workers.stages.step import Next


def run(context: Context, lease: Lease) -> Next:
    note, handed = take_up(context, lease)
    return hand_on(context, note, handed, advance(context, lease.job, note, handed, "resolve"), "generate")
