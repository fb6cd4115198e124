"""Who waits for news of a job, told when there are some: one thread reads the stream of all jobs' events, however many
clients wait.

What is told is only that something happened; each reads its own job's events then. So nothing is lost that a client
would not find a moment later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import anyio
import anyio.from_thread
import anyio.lowlevel
from redis.exceptions import RedisError

from workers.ledger.reading import LedgerReader
from workers.ledger.records import LedgerLost
from workers.logs import get_logger

_WAIT_MS: Final = 1_000
_PAUSE_S: Final = 1.0

_logger = get_logger("server.watch")


class Watch:
    """Begun with the first who waits, in whose event loop all others wait, too."""

    def __init__(self, ledger: LedgerReader, now_ms: Callable[[], int]) -> None:
        """`now_ms`: by the clock of Redis, from which the ids of events are made. May raise RedisError."""
        self._ledger = ledger
        self._now_ms = now_ms
        self._waiting: dict[str, set[anyio.Event]] = {}
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._token: anyio.lowlevel.EventLoopToken | None = None
        self.ending = False
        """The server is about to stop: streams end, so that it need not wait for them."""

    @contextmanager
    def on(self, job: str) -> Iterator[Waiter]:
        """To be used in the event loop."""
        self._begin()
        waiter = Waiter(self, job)
        try:
            yield waiter
        finally:
            waiter.leave()

    def end_streams(self) -> None:
        """In the event loop: wake everybody up for the last time."""
        self.ending = True
        for job in list(self._waiting):
            self._tell(job)

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join(timeout=2 * _WAIT_MS / 1_000)

    def enter(self, job: str, event: anyio.Event) -> None:
        self._waiting.setdefault(job, set()).add(event)

    def leave(self, job: str, event: anyio.Event) -> None:
        events = self._waiting.get(job)
        if events is not None:
            events.discard(event)
            if not events:
                del self._waiting[job]

    def _begin(self) -> None:
        if self._thread is None:
            self._token = anyio.lowlevel.current_token()
            self._thread = threading.Thread(target=self._read, name="watch", daemon=True)
            self._thread.start()

    def _read(self) -> None:
        after = ""
        while not self._closed.is_set():
            try:
                after = after or f"{self._now_ms()}-0"
                events = self._ledger.all_events(after, _WAIT_MS)
            except (RedisError, LedgerLost) as error:
                _logger.warning("cannot read events", cause=f"{type(error).__name__}: {error}")
                after = ""
                self._closed.wait(_PAUSE_S)
                continue
            if events:
                after = events[-1].id
            for job in {event.job for event in events}:
                if job in self._waiting:
                    self._from_thread(job)

    def _from_thread(self, job: str) -> None:
        try:
            anyio.from_thread.run_sync(self._tell, job, token=self._token)
        except RuntimeError:  # the event loop has ended
            self._closed.set()

    def _tell(self, job: str) -> None:
        for event in list(self._waiting.get(job, ())):
            event.set()


class Waiter:
    """One who waits for news of a job."""

    def __init__(self, watch: Watch, job: str) -> None:
        self._watch = watch
        self._job = job
        self._event = anyio.Event()
        watch.enter(job, self._event)

    async def news(self, timeout_s: float) -> bool:
        """Whether there were any since the last time; False after the timeout."""
        with anyio.move_on_after(timeout_s) as scope:
            await self._event.wait()
        self.leave()
        self._event = anyio.Event()
        self._watch.enter(self._job, self._event)
        return not scope.cancelled_caught

    def leave(self) -> None:
        self._watch.leave(self._job, self._event)
