"""The dispatcher: begins what is due, has what was lost sent again, keeps store, callers and catalog up to date.

It holds nothing that the ledger does not: any number may run, each step is safe beside the same step elsewhere, and one
that is killed leaves nothing undone. Where Redis or the store does not answer, it waits and goes on by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from catalog.errors import CatalogError
from pipeline.stores.protocol import StoreError
from workers import publishing
from workers.bulk.duties import Feeder, Offers, recompiles_of
from workers.callers import Callers
from workers.catalogs import Sources, publish_catalog, sources_of
from workers.context import Context, open_context
from workers.faults import SYSTEM
from workers.intake import open_installation
from workers.ledger.ledger import Ledger
from workers.logs import get_logger
from workers.metrics import dispatching
from workers.pulse import BEAT_S, Consumers, Pulse
from workers.server_lists import server_lists_of
from workers.settings import Settings

AT_ONCE: Final = 100
RECONCILE_MS: Final = 1_000
RECORD_MS: Final = 500
CALLERS_MS: Final = 1_000
CATALOG_MS: Final = 2_000
OFFERS_MS: Final = 5_000
SERVERS_MS: Final = 1_000
_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 5.0
_HANGS_S: Final = 120.0
"""The slow line may compile a catalog, or wait for the store's time-outs; after so long it hangs."""

_log = get_logger(__name__)


# ------------------------------------------------------------------------------------------------------- duties


@dataclass(frozen=True, slots=True)
class Claims:
    """Documents whose quiet time is over."""

    ledger: Ledger

    def step(self) -> int:
        """How many jobs begin. Raises RedisError, LedgerLost."""
        count = 0
        while True:
            begun = len(self.ledger.claim(AT_ONCE))
            count += begun
            if begun < AT_ONCE:
                return count


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Jobs whose lease has ended, whose message was lost, or whose next attempt is due."""

    ledger: Ledger

    def step(self) -> int:
        """How many messages are sent again. Raises RedisError, LedgerLost."""
        found = self.ledger.reconcile(AT_ONCE)
        for message, reason in found:
            if reason != "retry":
                _log.warning("sent again", job=message.job, stage=message.stage, reason=reason)
        return len(found)


@dataclass(frozen=True, slots=True)
class Recorder:
    """Jobs that ended in the ledger alone (superseded, dead): the store is told, dead letters among it."""

    context: Context

    def step(self) -> int:
        """How many were told. Raises RedisError, LedgerLost, LedgerCorrupt, StoreError, RecordCorrupt."""
        ledger, archive = self.context.ledger, self.context.archive
        found = ledger.unrecorded(AT_ONCE)
        for identity, ended_ms in found:
            job = ledger.job(identity)
            if job is not None and publishing.record_end(archive, job) and job.state == "dead":
                _log.error("job is dead", job=job.id, document=job.document, stage=job.stage, cause=job.cause)
                now = ledger.job(identity)
                if now is None or now.state != "dead":
                    archive.remove_dead(identity)  # replayed meanwhile
            ledger.recorded(identity, ended_ms)
        return len(found)


@dataclass(slots=True)
class CatalogWatch:
    """The installation's catalog: published at the start, and when its files or what Redis says changed."""

    context: Context
    sources: Sources
    _stamp: object = field(default=None)

    def step(self) -> int:
        """1: published. Raises StoreError, RedisError, OSError."""
        context = self.context
        stamp = self.sources.stamp()
        if stamp == self._stamp and context.catalogs.is_known():
            return 0
        try:
            digest = publish_catalog(self.sources, context.store, context.redis, context.settings.redis_prefix)
        except CatalogError as error:
            # The earlier one stays; said once for what the files are now.
            self._stamp = stamp
            dispatching.catalog_wrong.set(1)
            _log.error("catalog refused: the earlier one stays", cause=str(error))
            return 0
        self._stamp = stamp
        dispatching.catalog_wrong.set(0)
        _log.info("catalog published", digest=digest)
        return 1


# -------------------------------------------------------------------------------------------------------- rounds


@dataclass(slots=True)
class Duty:
    """`step` is called every so often, and at once where it did as much as it may (`most`) in one step."""

    name: str
    every_ms: int
    step: Callable[[], int]
    most: int = 0
    due: float = 0.0
    pause: float = _PAUSE_S
    failing: bool = False


@dataclass(slots=True)
class Line:
    """Duties that take turns in one thread. What fails is tried again, later and later; the others go on."""

    duties: Sequence[Duty]
    clock: Callable[[], float] = time.monotonic
    turned: float = field(default_factory=time.monotonic)

    def turn(self) -> float:
        """Do what is due; seconds until something is again."""
        self.turned = self.clock()
        for duty in self.duties:
            if duty.due <= self.clock():
                self._do(duty)
        return max(0.0, min(duty.due for duty in self.duties) - self.clock())

    def _do(self, duty: Duty) -> None:
        try:
            count = duty.step()
        except SYSTEM as error:
            if not duty.failing:
                _log.warning("duty waits", duty=duty.name, cause=str(error))
            self._fail(duty)
        except Exception:  # noqa: BLE001 - the duties of others go on, and this one is tried again
            _log.exception("duty failed: this is a bug of aop", duty=duty.name)
            self._fail(duty)
        else:
            if duty.failing:
                _log.info("duty goes on", duty=duty.name)
            duty.failing, duty.pause = False, _PAUSE_S
            again = duty.most and count >= duty.most
            duty.due = self.clock() + (0.0 if again else duty.every_ms / 1_000)

    def _fail(self, duty: Duty) -> None:
        duty.failing = True
        duty.due = self.clock() + duty.pause
        duty.pause = min(_LONGEST_PAUSE_S, duty.pause * 2)

    def run(self, stop: threading.Event) -> None:
        while not stop.wait(self.turn()):
            pass


def quick_duties(context: Context) -> list[Duty]:
    """Those that a saved document waits for: they ask nobody but Redis."""
    ledger = context.ledger
    return [
        Duty("claim", context.settings.tick_ms, Claims(ledger).step),
        Duty("reconcile", RECONCILE_MS, Reconciler(ledger).step, AT_ONCE),
        Duty("feed", context.settings.tick_ms, _feeder(context).step),
    ]


def slow_duties(context: Context, sources: Sources) -> list[Duty]:
    """Those that ask the store."""
    return [
        Duty("catalog", CATALOG_MS, CatalogWatch(context, sources).step),
        Duty("record", RECORD_MS, Recorder(context).step, AT_ONCE),
        Duty("callers", CALLERS_MS, Callers(context).step),
        Duty("offers", OFFERS_MS, Offers(context).step),
    ]


def _feeder(context: Context) -> Feeder:
    return Feeder(recompiles_of(context), context.settings.bulk_window)


def run_dispatcher(settings: Settings, stop: threading.Event) -> None:
    """Until `stop` is set. Raises StoreError: where it cannot even be opened, another start may help."""
    # A store is used by one thread; so each line has a context of its own.
    quick, slow = open_context(settings), open_context(settings)
    lists = server_lists_of(settings, slow.redis)
    asking = [] if lists is None else [Duty("servers", SERVERS_MS, lists.step)]
    slow_line = Line([_opening(slow), *slow_duties(slow, sources_of(settings)), *asking])
    pulse = Pulse(Consumers(quick.redis, settings.redis_prefix), settings.probe_folder, "dispatcher")

    def beat() -> int:
        if time.monotonic() - slow_line.turned < _HANGS_S:
            pulse.beat()
        return 0

    quick_line = Line([Duty("beat", int(BEAT_S * 1_000), beat), *quick_duties(quick)])
    thread = threading.Thread(target=slow_line.run, args=(stop,), name="slow")
    thread.start()
    _log.info("dispatcher started")
    try:
        quick_line.run(stop)
    finally:
        stop.set()
        thread.join()
        if lists is not None:
            lists.close()
        pulse.end()
        for context in (quick, slow):
            _close(context)
    _log.info("dispatcher ended")


def _opening(context: Context) -> Duty:
    """The very first process of an installation makes its ledger."""
    done = threading.Event()

    def step() -> int:
        if not done.is_set():
            open_installation(context.ledger, context.archive)
            done.set()
        return 0

    return Duty("open", CATALOG_MS, step)


def _close(context: Context) -> None:
    try:
        context.close()
    except StoreError as error:
        _log.warning("store not closed", cause=str(error))
