"""What `aop dev` says while it runs: what became of each save, with the diagnostics of what failed."""

from __future__ import annotations

import threading
from typing import Final

from redis.exceptions import RedisError

from cli import streams
from cli.messages import say
from pipeline.diagnostics.lang import Lang
from pipeline.stores.protocol import StoreError
from workers.archive import Archive
from workers.ledger.ledger import Ledger
from workers.ledger.records import Event, LedgerLost
from workers.records import Outcome, RecordCorrupt

_WAIT_MS: Final = 500
_MOST_LINES: Final = 20
"""Diagnostics that are shown of one save."""
_TOLD: Final = frozenset({"succeeded", "failed", "dead"})


class Reporter:
    def __init__(self, ledger: Ledger, archive: Archive, lang: Lang) -> None:
        self._ledger = ledger
        self._archive = archive
        self._lang: Lang = lang

    def follow(self, stop: threading.Event) -> None:
        """Until `stop` is set. What cannot be read now is told when it can be."""
        after = self._ledger.last_event()
        while not stop.is_set():
            try:
                for event in self._ledger.all_events(after, wait_ms=_WAIT_MS):
                    if event.event in _TOLD:
                        self._tell(event)
                    after = event.id
            except (RedisError, StoreError, LedgerLost, RecordCorrupt):
                stop.wait(1.0)

    def _tell(self, event: Event) -> None:
        job = self._ledger.job(event.job)
        outcome = None if job is None else self._archive.outcome(event.document, job.sequence)
        if outcome is None:
            return
        key = "dev.retired" if outcome.status == "retired" else f"dev.{event.event}"
        streams.note(
            say(
                key,
                self._lang,
                document=event.document,
                errors=outcome.errors,
                warnings=outcome.warnings,
                cause=outcome.cause,
                job=event.job,
            )
        )
        for line in self._diagnostics(outcome):
            streams.note(line)

    def _diagnostics(self, outcome: Outcome) -> list[str]:
        if not outcome.output or not (outcome.errors or outcome.warnings):
            return []
        output = self._archive.output(outcome.output)
        found = [] if output is None else output.diagnostics.get(self._lang, [])
        lines = [
            f"    {outcome.document}:{entry['line']}: {entry['code']} {entry['message']}"
            for entry in found[:_MOST_LINES]
        ]
        if len(found) > _MOST_LINES:
            lines.append(say("dev.more", self._lang, count=len(found) - _MOST_LINES))
        return lines
