"""What all entrances share: the installation's Redis, store and ledger, and the threads in which they are waited for.

The server's code is asynchronous, what it calls is not: `Service.run` takes a function to a thread, together with a
`Backend`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Concatenate, Final, ParamSpec, TypeVar

import anyio
from redis import Redis

from catalog.snapshot import Catalog
from pipeline.stores.protocol import Store
from server.errors import ApiError, unavailable
from server.watch import Watch
from workers.archive import Archive
from workers.catalogs import CatalogMissing, Catalogs
from workers.clock import shared_now_ms
from workers.connections import open_ledger, open_redis, open_store
from workers.intake import Intake, open_installation
from workers.ledger.ledger import Ledger
from workers.ledger.recompiles import Recompiles
from workers.ledger.records import LedgerLost, Project
from workers.logs import Masking, secrets_of
from workers.measured_store import MeasuredStore
from workers.settings import Settings
from workers.token_uses import Uses
from workers.tokens import Tokens

THREADS: Final = 64
WORK_S: Final = 20.0
"""A request that takes longer is given up. Redis and the store give up by themselves before that, most of the time."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Backend:
    """What waits. Threads share it."""

    store: Store
    ledger: Ledger
    archive: Archive
    intake: Intake
    tokens: Tokens


class Service:
    """Raises StoreError, RedisError and LedgerVersion where the installation cannot be used. Close it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.redis: Redis = open_redis(settings)
        self.ledger: Ledger = open_ledger(settings, self.redis)
        store = MeasuredStore(open_store(settings))
        archive = Archive(store)
        self.uses = Uses()
        self.backend = Backend(
            store,
            self.ledger,
            archive,
            Intake(self.ledger, archive, settings.max_document_bytes),
            Tokens(store, self.redis, settings.redis_prefix, self.uses),
        )
        self.recompiles = Recompiles(self.ledger, self.redis, settings.redis_prefix)
        self.masking = Masking(secrets_of(settings))
        self.watch = Watch(self.ledger, partial(shared_now_ms, self.redis))
        # Not anyio's threads: those that are given up would not count, and grow without bound while Redis hangs.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="work")
        self._catalogs = Catalogs(store, self.redis, settings.redis_prefix)
        self._loading = threading.Lock()
        self._projects = SharedProject(self.ledger)

    def open(self) -> None:
        """Check the ledger, and make one where the installation is new. One that was lost is no obstacle: requests are
        refused until it is there again. Raises StoreError, RedisError, LedgerVersion."""
        try:
            open_installation(self.ledger, self.backend.archive)
        except LedgerLost:
            return

    # --------------------------------------------------------------------------------------------- threads

    async def run(self, work: Callable[Concatenate[Backend, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `work` returns or raises; ApiError `timeout` where it takes too long."""
        call = partial(copy_context().run, partial(work, self.backend, *args, **kwargs))
        waiting = asyncio.get_running_loop().run_in_executor(self._threads, call)
        try:
            with anyio.fail_after(WORK_S):
                return await waiting
        except TimeoutError:
            # A thread cannot be stopped: one that is given up keeps its place until it comes to its end.
            raise unavailable("timeout") from None

    # ----------------------------------------------------------------------------------- what is kept in memory

    def catalog(self, digest: str = "") -> tuple[str, Catalog]:
        """The catalog of that digest, "" the current one, with its digest. Raises ApiError for the current one,
        CatalogMissing for another."""
        with self._loading:
            try:
                wanted = digest or self._catalogs.current()
                return wanted, self._catalogs.get(wanted)
            except CatalogMissing:
                if digest:
                    raise
                raise ApiError("dependency_failure", "no-catalog") from None

    def project(self) -> Project:
        """The rows of all documents. Raises RedisError, LedgerLost."""
        return self._projects.get()

    # --------------------------------------------------------------------------------------------- ending

    def flush(self) -> None:
        """Keep what was only counted so far. Raises StoreError."""
        self.uses.flush(self.backend.store)

    def close(self) -> None:
        """Raises StoreError."""
        self.watch.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        try:
            self.flush()
        finally:
            self.backend.store.close()
            self.redis.close()


class SharedProject:
    """The project's rows, read again when they changed."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._known: Project | None = None

    def get(self) -> Project:
        with self._lock:
            newer = self._ledger.project("" if self._known is None else self._known.version)
            if newer is not None:
                self._known = newer
            if self._known is None:
                raise AssertionError("a ledger that knows no version answers with all rows")
            return self._known
