"""`aop admin reindex`: the ledger from the artifact store."""

from __future__ import annotations

from contextlib import ExitStack

from cli import streams
from cli.administering import administered
from cli.exits import OK, TROUBLE
from cli.messages import say
from cli.progress import Bar, bar_for
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from workers.audit import COMMAND_LINE
from workers.reindex import reindex


def run(lang: Lang) -> int:
    """On a lost ledger and on a living one. Status 2: something in the store cannot be read, and was left out.

    Raises OutputFault, StoreError.
    """
    with administered() as installation, ExitStack() as resources:
        bar: Bar | None = None

        def progress(done: int, total: int) -> None:
            nonlocal bar
            if bar is None:
                made = bar_for(total, say("admin.reindex-label", lang))
                resources.enter_context(made)
                bar = made
            bar.advance(done, total)

        found = reindex(installation.ledger, installation.archive, progress)
        installation.audit.record(
            COMMAND_LINE,
            "ledger.reindex",
            installation.settings.redis_prefix,
            after={"fresh": found.fresh, "documents": found.documents, "jobs": found.jobs, "dead": found.dead},
        )
    key = "admin.reindex-fresh" if found.fresh else "admin.reindex-living"
    counts = {"documents": found.documents, "jobs": found.jobs, "superseded": found.superseded, "dead": found.dead}
    streams.emit(f"{say(key, lang, **counts)}\n")
    for text in found.damaged:
        streams.note(f"aop: {say('admin.damaged', lang, detail=visible(text))}")
    return TROUBLE if found.damaged else OK
