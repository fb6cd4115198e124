"""A worker process: Celery's, with our signs of life and an end that hands jobs back.

`cli.commands.worker` prepares what must come before Celery is imported: the remapped SIGTERM and the metrics' folder.
"""

from __future__ import annotations

import gc
import socket
import threading
import time
import warnings
from pathlib import Path
from typing import Final

from celery import bootsteps
from celery.apps import worker as celery_worker
from celery.apps.worker import Worker as CeleryWorker
from celery.exceptions import CPendingDeprecationWarning, SecurityWarning

from catalog.load import load_catalog
from pipeline.compiler import Compiler, Input
from pipeline.generators.registry import default_registry
from pipeline.stores.memory import MemoryStore
from workers.app import make_app
from workers.busy import Busy
from workers.connections import load_store_code, open_redis
from workers.ledger.records import Stage
from workers.logs import get_logger
from workers.metrics import folder as metrics_folder
from workers.output import output_of
from workers.pulse import BEAT_S, Consumers, Pulse
from workers.queues import Taken, queues_of
from workers.settings import Settings
from workers.tasks import register

_LOOK_S: Final = 0.05
_TURN_S: Final = 1.0
_HANGS_S: Final = 15.0
"""A loop that has not turned for so long hangs."""
_COMPACT_S: Final = 60.0

_log = get_logger(__name__)


class Worker(CeleryWorker):  # type: ignore[misc]  # Celery has no types
    """`busy` and `watch` are set before it starts."""

    busy: Busy
    watch: Watch

    def wait_for_soft_shutdown(self) -> None:
        """As long as a child runs something, but no longer than the time for it; Celery would sleep through it all."""
        end = time.monotonic() + self.app.conf.worker_soft_shutdown_timeout
        while self.busy.any() and time.monotonic() < end:
            time.sleep(_LOOK_S)


class _Turning(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """The loop says that it turns, through its timer."""

    requires = ("celery.worker.components:Timer",)

    def start(self, worker: Worker) -> None:
        worker.timer.call_repeatedly(_TURN_S, worker.watch.turn)


class Watch:
    """A thread of the parent: probes, the list of consumers, and the files of dead children's metrics.

    The worker is well while its loop turns, or waits for a broker that is away.
    """

    def __init__(self, pulse: Pulse, own_metrics: Path | None) -> None:
        self._pulse = pulse
        self._own_metrics = own_metrics
        self._turned = time.monotonic()
        self._compacted = time.monotonic()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self.worker: Worker | None = None

    def start(self) -> None:
        self._thread.start()

    def turn(self) -> None:
        """Called by the loop."""
        self._turned = time.monotonic()

    def end(self) -> None:
        self._end.set()
        self._thread.join(timeout=BEAT_S)
        self._pulse.end()

    def _run(self) -> None:
        while not self._end.wait(BEAT_S):
            try:
                if self._well():
                    self._pulse.beat()
                self._compact()
            except OSError as error:
                _log.warning("signs of life not written", cause=str(error))

    def _well(self) -> bool:
        consumer = getattr(self.worker, "consumer", None)
        waits = consumer is None or consumer.connection is None
        return waits or time.monotonic() - self._turned < _HANGS_S

    def _compact(self) -> None:
        if self._own_metrics is None or time.monotonic() - self._compacted < _COMPACT_S:
            return
        self._compacted = time.monotonic()
        metrics_folder.compact(self._own_metrics)


def load_code(settings: Settings) -> None:
    """Compile something, so that the children are forked with all code loaded, and share its memory."""
    load_store_code(settings)
    store, generator = MemoryStore(), default_registry().find()
    text = "# 準備\n\n## フェーズ 1: 見る (使う道具: slak の notify)\n\n見る。\n"
    for document in (text, text.replace("slak", "slack")):
        output_of(
            Compiler(load_catalog(), store, generator).compile(Input("a.md", document.encode())), generator.identity
        )
    # What is loaded by now stays: no child's collector looks at it again, which would also copy the shared pages.
    gc.collect()
    gc.freeze()


def _unsaid(_words: str, _file: object = None) -> None:
    """In place of Celery's words to whoever sits at a terminal."""


def run_worker(settings: Settings, stage: Stage, taken: Taken, group: str) -> int:
    """Until it is asked to end; the exit status. Logging is configured. `group`: of its metrics' files."""
    # It would tell at each reconnection which default a later Celery will have; ours is set.
    warnings.simplefilter("ignore", CPendingDeprecationWarning)
    # A user without a name, as containers have, is taken for a superuser. It is about pickled messages; ours are JSON.
    warnings.simplefilter("ignore", SecurityWarning)
    # It would write in plain words among the lines of JSON what `worker_shutting_down` and the end say in ours.
    celery_worker.safe_say = _unsaid
    app = make_app(settings)
    busy = Busy()
    queues = queues_of(stage, taken)
    register(app, settings, busy, f"worker-{stage}", queues)
    load_code(settings)
    pulse = Pulse(
        Consumers(open_redis(settings), settings.redis_prefix), settings.probe_folder, f"worker-{stage}", queues
    )
    watch = Watch(pulse, None if settings.metrics_folder is None else settings.metrics_folder / group)

    app.steps["worker"].add(_Turning)
    worker = app.subclass_with_self(Worker)(
        hostname=f"{stage}.{taken}@{socket.gethostname()}",
        queues=queues,
        loglevel=settings.log_level.upper(),
        quiet=True,
        optimization="fair",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.busy, worker.watch = busy, watch
    watch.worker = worker
    watch.start()
    try:
        worker.start()
    finally:
        watch.end()
    status = int(worker.exitcode or 0)
    _log.info("ended", exit_status=status)
    return status
