"""The Celery tasks, and what a child process of a worker keeps between them."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass, field
from typing import Final

from billiard.process import current_process
from celery import Celery, signals

from pipeline.stores.protocol import StoreError
from workers import tracing
from workers.app import retry_options
from workers.busy import Busy
from workers.context import Context, open_context
from workers.faults import SYSTEM
from workers.heartbeat import Heart
from workers.ledger.records import STAGES, Stage
from workers.logs import get_logger
from workers.memory import MemoryGuard, limit_requests
from workers.queues import task_of
from workers.settings import Settings
from workers.shell import Shell

TAKING: Final = 1 / 60
"""For what share of the soft time limit a process takes messages by itself: the limits are those of Celery's task, so a
stage has the rest of it at least. It also bounds for how long a worker goes on that is asked to end."""

_log = get_logger(__name__)


@dataclass(slots=True)
class Child:
    """What a process that runs tasks has: opened with its first job, and again after one that spoiled it.

    `queues`: of its worker. While there are messages on them, the process takes them by itself for a moment, instead of
    having Celery bring each: that costs more than a stage of a usual document.
    """

    settings: Settings
    busy: Busy
    queues: tuple[str, ...] = ()
    _shell: Shell | None = field(default=None)
    _guard: MemoryGuard | None = field(default=None)

    def run(self, job: str, stage: Stage) -> None:
        with self.busy.at_work(_slot()):
            shell = self._open()
            if shell is not None:
                end = time.monotonic() + self.settings.soft_time_limit_s * TAKING
                shell.run(job, stage, lambda: () if shell.context.spoiled else self._more(end))
                if shell.context.spoiled:
                    self.close()

    def _more(self, end: float) -> tuple[str, ...]:
        """In turn, as Celery takes them: neither class waits for the other."""
        if time.monotonic() >= end:
            return ()
        self.queues = (*self.queues[1:], *self.queues[:1])
        return self.queues

    def prepare(self) -> None:
        """Before the first job comes: as much of what it needs as there is by now."""
        shell = self._open()
        if shell is not None:
            context = shell.context
            try:
                context.compiler(context.catalogs.current())
            except SYSTEM as error:
                _log.debug("not prepared", cause=str(error))

    def _open(self) -> Shell | None:
        if self._shell is None:
            try:
                context = open_context(self.settings)
            except StoreError as error:
                # Nothing was begun: the message is sent again.
                _log.error("store cannot be opened", cause=str(error))
                return None
            worker = f"{socket.gethostname()}:{os.getpid()}"
            if self._guard is None:
                self._guard = MemoryGuard(self.settings.max_memory_mb)
            self._shell = Shell(context, Heart(context.ledger, self._guard), worker)
        return self._shell

    def close(self) -> None:
        shell, self._shell = self._shell, None
        if shell is not None:
            shell.heart.close()
            _close(shell.context)


def _close(context: Context) -> None:
    try:
        context.close()
    except StoreError as error:
        _log.warning("store not closed", cause=str(error))


def _slot() -> int:
    """Which of the pool's places this process has; 0 outside a pool."""
    return int(getattr(current_process(), "index", 0))


def register(
    app: Celery, settings: Settings, busy: Busy, process: str = "worker", queues: tuple[str, ...] = ()
) -> Child:
    """Add the four tasks. They take the job's id; other arguments may come from a newer version and are ignored.
    `process`: what traces call the children. `queues`: of one stage, which its children take from by themselves."""
    child = Child(settings, busy, queues)
    for stage in STAGES:
        _register(app, settings, child, stage)

    def on_start(**_: object) -> None:
        tracing.begin(settings, process)
        limit_requests(settings.max_memory_mb)
        child.prepare()

    def on_end(**_: object) -> None:
        child.close()
        tracing.end()

    signals.worker_process_init.connect(on_start, weak=False)
    signals.worker_process_shutdown.connect(on_end, weak=False)
    return child


def _register(app: Celery, settings: Settings, child: Child, stage: Stage) -> None:
    def task(job: str, *_: object, **__: object) -> None:
        child.run(job, stage)

    app.task(name=task_of(stage), **retry_options(settings))(task)
