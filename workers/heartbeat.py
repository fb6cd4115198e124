"""One thread of a worker process that keeps the lease of its job alive, and watches, while the main thread works."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from redis.exceptions import RedisError

from workers.ledger.ledger import Ledger
from workers.ledger.records import Beat, Lease, LedgerLost
from workers.logs import get_logger

BEATS_A_LEASE: Final = 3
LOOK_S: Final = 0.1
IDLE_S: Final = 2.0
"""Without a job for so long the thread waits to be woken."""

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
        self.since = time.monotonic()
        self.beat: Beat = "held"


class Heart:
    """Beats three times a lease. The thread starts with the first job, after the process was forked."""

    def __init__(self, ledger: Ledger, guard: Guard | None = None) -> None:
        self._ledger = ledger
        self._guard = guard
        self._held: Held | None = None
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._idle = True
        self._closed = False

    @contextmanager
    def keeping(self, lease: Lease) -> Iterator[Held]:
        held = Held(lease)
        if self._guard is not None:
            self._guard.begin()
        self._held = held
        if self._idle:
            self._wake()
        try:
            yield held
        finally:
            self._held = None
            if self._guard is not None:
                self._guard.end()

    def close(self) -> None:
        """The thread ends. No job runs."""
        self._closed = True
        self._woken.set()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
            self._thread.start()
        self._woken.set()

    def _run(self) -> None:
        interval = self._ledger.timing.lease / 1_000 / BEATS_A_LEASE
        watched, beaten, looked = None, 0.0, time.monotonic()
        while not self._closed:
            time.sleep(min(LOOK_S, interval))
            now, held = time.monotonic(), self._held
            if held is None:
                if now - looked > IDLE_S:
                    self._sleep()
                continue
            looked = now
            if held is not watched:
                # The short ones, nearly all, are over before the first look: waking for each would cost more than they.
                watched, beaten = held, held.since
            elif self._guard is not None:
                self._guard.look()
            if now - beaten >= interval:
                beaten = now
                self._beat(held)

    def _sleep(self) -> None:
        """Until a job begins."""
        self._woken.clear()
        self._idle = True
        if self._held is None and not self._closed:  # else one began in between
            self._woken.wait()
        self._idle = False

    def _beat(self, held: Held) -> None:
        try:
            held.beat = self._ledger.heartbeat(held.lease)
        except (RedisError, LedgerLost) as error:
            # The lease has two more beats, and whoever loses it can change nothing.
            _log.warning("heartbeat failed", job=held.lease.job.id, cause=str(error))
