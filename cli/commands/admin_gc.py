"""`aop admin gc`: what the artifact store may forget."""

from __future__ import annotations

from cli import streams
from cli.administering import administered
from cli.exits import OK, TROUBLE
from cli.messages import say
from pipeline.diagnostics.lang import Lang
from workers.audit import COMMAND_LINE
from workers.retention import DAYS, NEWEST, Policy, collect


def run(lang: Lang, *, newest: int = NEWEST, days: int = DAYS) -> int:
    """A save stays while it is among the `newest` of its document or younger than `days`. Status 2: something cannot be
    read, and was left alone. Raises OutputFault, StoreError."""
    with administered() as installation:
        found = collect(installation.ledger, installation.archive, Policy(newest=newest, days=days))
        counts = {
            "documents": found.documents,
            "saves": found.saves,
            "catalogs": found.catalogs,
            "blobs": found.store.blobs,
            "traces": found.store.traces,
            "kilobytes": (found.store.blob_bytes + found.store.trace_bytes) // 1_024,
        }
        installation.audit.record(COMMAND_LINE, "store.gc", installation.settings.store, after={**counts})
    streams.emit(f"{say('admin.gc', lang, **counts)}\n")
    for text in found.damaged:
        streams.note(f"aop: {say('admin.damaged', lang, detail=text)}")
    return TROUBLE if found.damaged else OK
