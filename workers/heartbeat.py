"""One thread of a worker process that keeps the lease of its job alive, and watches, while the main thread works."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final, Protocol

from redis.exceptions import RedisError

from workers.ledger.ledger import Ledger
from workers.ledger.records import Beat, Lease, LedgerLost
from workers.logs import get_logger

BEATS_A_LEASE: Final = 3
LOOK_S: Final = 0.1

_log = get_logger(__name__)


class Guard(Protocol):
    """Whoever watches while a job runs, as `workers.memory.MemoryGuard` does."""

    def begin(self) -> None: ...

    def end(self) -> None: ...

    def look(self) -> None: ...


class Held:
    """What the last heartbeat said of the lease."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.beat: Beat = "held"


class Heart:
    """Beats three times a lease. The thread starts with the first job, after the process was forked."""

    def __init__(self, ledger: Ledger, guard: Guard | None = None) -> None:
        self._ledger = ledger
        self._guard = guard
        self._held: Held | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    @contextmanager
    def keeping(self, lease: Lease) -> Iterator[Held]:
        held = Held(lease)
        if self._guard is not None:
            self._guard.begin()
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
                self._changed.notify()
            if self._guard is not None:
                self._guard.end()

    def close(self) -> None:
        """The thread ends. No job runs."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _run(self) -> None:
        interval = self._ledger.timing.lease / 1_000 / BEATS_A_LEASE
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._held is not None)
                held = self._held
            if held is None:
                return
            # The short ones, nearly all, are over before the first look.
            beaten = time.monotonic()
            while not self._ended(held, min(LOOK_S, interval)):
                if self._guard is not None:
                    self._guard.look()
                if time.monotonic() - beaten >= interval:
                    beaten = time.monotonic()
                    self._beat(held)

    def _ended(self, held: Held, within_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(partial(self._is_over, held), timeout=within_s)

    def _is_over(self, held: Held) -> bool:
        return self._held is not held

    def _beat(self, held: Held) -> None:
        try:
            held.beat = self._ledger.heartbeat(held.lease)
        except (RedisError, LedgerLost) as error:
            # The lease has two more beats, and whoever loses it can change nothing.
            _log.warning("heartbeat failed", job=held.lease.job.id, cause=str(error))
