"""Child processes for what is as dear as a text's author likes (`server.computed`): few at once, one for each who asks,
none for longer or with more memory than it may have. One that goes over is killed, and the next text has a new one.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import anyio
import anyio.to_process

from catalog.snapshot import Catalog
from pipeline.project import ProjectDocument
from server.computed import Bounds, ProjectNeeded, Work, Written, begin
from server.errors import ApiError, unavailable
from server.service import WORK_S, Backend, Service
from workers.logs import get_logger

AT_ONCE: Final = 2
SECONDS: Final = 20.0
"""A megabyte of the dearest text takes about 4 s of a processor."""
MEGABYTES: Final = 384
"""And about 300 MB."""
_UNPROCESSABLE: Final = 422

_logger = get_logger("server")

T = TypeVar("T")


class Computing:
    """To be used in one event loop, which ends the children with itself."""

    def __init__(self, service: Service) -> None:
        # A child imports nothing from the folder in which the server was started, as Python would have it do.
        os.environ["PYTHONSAFEPATH"] = "1"
        self._service = service
        self.bounds = Bounds(service.settings.max_document_bytes, SECONDS, MEGABYTES)
        self._all = anyio.Semaphore(AT_ONCE)
        self._limiter = anyio.CapacityLimiter(AT_ONCE)
        self._of: dict[str, tuple[anyio.Lock, int]] = {}

    async def run(self, who: str, work: Work[T]) -> T:
        """What `work` returns or raises; it and its answer can be pickled. `who`: one at a time of each, so that nobody
        takes all places. Raises ApiError: 422 where it takes too much time or memory, 503 where it does not get its
        turn or a process, and what asking for the project raises."""
        async with self._turn(who):
            try:
                with anyio.fail_after(self.bounds.seconds):
                    return await self._run(work)
            except TimeoutError:
                raise self._too_dear("time", "too-dear-time", round(self.bounds.seconds)) from None
            except (anyio.BrokenWorkerProcess, ProcessLookupError, ConnectionError, MemoryError) as error:
                _logger.warning("a child ended", cause=repr(error.__cause__ or error))
                raise self._too_dear("memory", "too-dear-memory", self.bounds.megabytes) from None
            except OSError as error:
                _logger.error("no child can be started", cause=repr(error))
                raise unavailable("timeout") from None

    async def _run(self, work: Work[T]) -> T:
        project: bytes | None = None
        while True:
            try:
                return await anyio.to_process.run_sync(
                    begin, work, project, self.bounds, cancellable=True, limiter=self._limiter
                )
            except ProjectNeeded:
                if project is not None:
                    raise AssertionError("the project was given") from None
                project = await self._service.run(_project, self._service)

    def _too_dear(self, resource: str, key: str, limit: int) -> ApiError:
        _logger.warning("too dear", resource=resource, limit=limit)
        return ApiError(
            "invalid_input", key, status=_UNPROCESSABLE, details={"resource": resource, "limit": limit}, limit=limit
        )

    @asynccontextmanager
    async def _turn(self, who: str) -> AsyncIterator[None]:
        lock, waiting = self._of.get(who, (anyio.Lock(), 0))
        self._of[who] = (lock, waiting + 1)
        taken = False
        try:
            try:
                with anyio.fail_after(WORK_S):
                    await lock.acquire()
                    taken = True
                    await self._all.acquire()
            except TimeoutError:
                raise unavailable("timeout") from None
            try:
                yield
            finally:
                self._all.release()
        finally:
            if taken:
                lock.release()
            lock, waiting = self._of[who]
            if waiting > 1:
                self._of[who] = (lock, waiting - 1)
            else:
                del self._of[who]


def with_catalog(data: bytes, catalog: Catalog) -> Written:
    return Written(data, pickle.dumps(catalog.self_contained(), pickle.HIGHEST_PROTOCOL))


def _project(_backend: Backend, service: Service) -> bytes:
    rows = service.project().rows
    documents = tuple(ProjectDocument(document, row.name, row.calls) for document, row in rows.items())
    return pickle.dumps(documents, pickle.HIGHEST_PROTOCOL)
