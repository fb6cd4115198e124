"""What dispatchers do for recompiles of many documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, cast

from workers.bulk.plan import Planner
from workers.bulk.run import Bulk
from workers.catalogs import CatalogMissing, redis_key
from workers.context import Context
from workers.ledger.recompiles import Recompiles
from workers.logs import get_logger

_AT_ONCE: Final = 100
_OFFERING_S: Final = 120
"""How long one dispatcher has for an offer before another one makes it."""

_log = get_logger(__name__)


def recompiles_of(context: Context) -> Recompiles:
    return Recompiles(context.ledger, context.redis, context.settings.redis_prefix)


def bulk_of(context: Context) -> Bulk:
    """Plans with the catalog and the project that are current when they are made."""
    recompiles = recompiles_of(context)

    def planner() -> Planner:
        digest = context.catalogs.current()
        return Planner(context.archive, recompiles, context.compiler(digest), digest, context.projects.current())

    return Bulk(context.ledger, recompiles, planner)


@dataclass(frozen=True, slots=True)
class Feeder:
    """The next jobs of what runs, a bounded window of them at once: so bulk work never fills a queue."""

    recompiles: Recompiles
    window: int

    def step(self) -> int:
        """How many jobs begin. Raises RedisError, LedgerLost."""
        return len(self.recompiles.feed(self.window, _AT_ONCE))


@dataclass(slots=True)
class Offers:
    """A catalog that became current marks what it makes stale, and offers a plan for it: once an installation."""

    context: Context
    _offered: str = field(default="")

    def step(self) -> int:
        """1: offered. Raises RedisError, LedgerLost, StoreError, RecordCorrupt."""
        context = self.context
        try:
            digest = context.catalogs.current()
        except CatalogMissing:
            return 0
        if digest == self._offered:
            return 0
        key = f"{redis_key(context.settings.redis_prefix)}-offered"
        if cast("str | None", context.redis.get(key)) != digest:
            if not context.redis.set(f"{key}:{digest}", "1", nx=True, ex=_OFFERING_S):
                return 0  # another dispatcher is at it; look again later
            plan, _ = bulk_of(context).offer()
            context.redis.set(key, digest)
            if plan.documents:
                _log.info("a recompile is offered", catalog=digest, run=len(plan.documents), reused=plan.reused)
        self._offered = digest
        return 1
