"""One thread of a worker process that keeps the lease of the job at hand alive while the main thread works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from redis.exceptions import RedisError

from workers.ledger.ledger import Ledger
from workers.ledger.records import Beat, Lease, LedgerLost
from workers.logs import get_logger

BEATS_A_LEASE: Final = 3

_log = get_logger(__name__)


class Held:
    """What the last heartbeat said of the lease."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.beat: Beat = "held"


class Heart:
    """Beats three times a lease. The thread starts with the first job, after the process was forked."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._held: Held | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def keeping(self, lease: Lease) -> Iterator[Held]:
        held = Held(lease)
        with self._changed:
            self._held = held
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            yield held
        finally:
            with self._changed:
                self._held = None

    def _run(self) -> None:
        interval = self._ledger.timing.lease / 1_000 / BEATS_A_LEASE
        while True:
            with self._changed:
                while self._held is None:
                    self._changed.wait()
                held = self._held
            # The short ones, nearly all, are over before the first beat.
            with self._changed:
                ended = self._changed.wait_for(partial(self._has_ended, held), timeout=interval)
            if not ended:
                self._beat(held)

    def _has_ended(self, held: Held) -> bool:
        return self._held is not held

    def _beat(self, held: Held) -> None:
        try:
            held.beat = self._ledger.heartbeat(held.lease)
        except (RedisError, LedgerLost) as error:
            # The lease has two more beats, and whoever loses it can change nothing.
            _log.warning("heartbeat failed", job=held.lease.job.id, cause=str(error))
