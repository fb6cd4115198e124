"""What one exporter reads from the ledger, the queues and Redis, for all processes together."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias, cast

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from redis import Redis

from workers.clock import shared_now_ms
from workers.ledger.reading import LedgerReader
from workers.ledger.records import STAGES
from workers.pulse import Consumers
from workers.queues import QUEUES, queue_key, sent_ms

_DOCUMENTS_S: Final = 30.0
"""How long the count of documents by state is kept: it looks at each of them."""
_CHUNK: Final = 1_000


Expiries: TypeAlias = "Callable[[], Iterable[tuple[str, float]]]"


class _Documents(NamedTuple):
    states: dict[str, int]
    read_at: float


@dataclass(eq=False)  # a registry tells collectors apart by identity
class LedgerFigures:
    """A collector for a registry. A scrape fails where Redis does not answer or holds no ledger, which Prometheus
    shows as `up` 0: no figure is better than an old one.

    `tokens`, `certificates`: ask for name and time of expiry, in seconds since 1970, of those that expire.
    """

    redis: Redis
    ledger: LedgerReader
    prefix: str
    tokens: Expiries
    certificates: Expiries
    _documents: _Documents | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: else a registry would collect, and Redis need not be there yet."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Raises RedisError, LedgerLost, LedgerVersion."""
        with self._lock:
            # Of a ledger that was lost everything would be zero, as if all were well.
            self.ledger.check()
            yield from self._queues()
            yield from self._ledger()
            yield from self._expiries()
            memory = cast("dict[str, int]", self.redis.info("memory"))
            used = GaugeMetricFamily("aop_redis_memory_bytes", "What Redis has in use")
            used.add_metric((), memory["used_memory"])
            yield used
            most = GaugeMetricFamily("aop_redis_memory_limit_bytes", "What Redis may use; 0: no limit")
            most.add_metric((), memory.get("maxmemory", 0))
            yield most

    def _queues(self) -> Iterator[Metric]:
        pipe = self.redis.pipeline(transaction=False)
        for queue in QUEUES:
            pipe.llen(queue_key(self.prefix, queue))
        depth = GaugeMetricFamily("aop_queue_depth", "Messages in each queue", labels=("queue",))
        for queue, length in zip(QUEUES, cast("list[int]", pipe.execute()), strict=True):
            depth.add_metric((queue,), length)
        yield depth
        oldest = GaugeMetricFamily(
            "aop_queue_oldest_seconds",
            "Since when the oldest message of each queue waits, in seconds",
            labels=("queue",),
        )
        for queue, seconds in self._oldest().items():
            oldest.add_metric((queue,), seconds)
        yield oldest
        consumers = GaugeMetricFamily("aop_consumers", "Workers that take messages from each queue", labels=("queue",))
        for queue, count in Consumers(self.redis, self.prefix).count(QUEUES).items():
            consumers.add_metric((queue,), count)
        yield consumers

    def _oldest(self) -> dict[str, float]:
        pipe = self.redis.pipeline(transaction=False)
        for queue in QUEUES:
            pipe.lindex(queue_key(self.prefix, queue), -1)
        now = self._now_s()
        first = zip(QUEUES, cast("list[str | None]", pipe.execute()), strict=True)
        since = {queue: None if message is None else sent_ms(message) for queue, message in first}
        return {queue: 0.0 if sent is None else max(0.0, now - sent / 1_000) for queue, sent in since.items()}

    def _ledger(self) -> Iterator[Metric]:
        depths = self.ledger.depths()
        dead = GaugeMetricFamily("aop_dead_letters", "Dead letters: jobs that used up their attempts")
        dead.add_metric((), depths["dead"])
        yield dead
        due = GaugeMetricFamily("aop_due_documents", "Documents that wait for their quiet time or for a dispatcher")
        due.add_metric((), depths["due"])
        yield due
        first = cast("list[tuple[str, float]]", self.redis.zrange(f"{self.prefix}:due", 0, 0, withscores=True))
        overdue = GaugeMetricFamily(
            "aop_due_oldest_seconds", "For how long the oldest due document has waited for a dispatcher, in seconds"
        )
        overdue.add_metric((), max(0.0, self._now_s() - first[0][1] / 1_000) if first else 0.0)
        yield overdue
        totals = self.ledger.totals()
        jobs = CounterMetricFamily("aop_jobs", "Jobs that have ended", labels=("outcome",))
        for outcome in ("succeeded", "failed", "superseded", "dead"):
            jobs.add_metric((outcome,), totals.get(outcome, 0))
        yield jobs
        expired = CounterMetricFamily("aop_lease_expired", "Leases whose worker fell silent", labels=("stage",))
        for stage in STAGES:
            expired.add_metric((stage,), totals.get(f"expired:{stage}", 0))
        yield expired
        documents = GaugeMetricFamily("aop_documents", "Documents by the state of their newest save", labels=("state",))
        for state, count in self._states().items():
            documents.add_metric((state,), count)
        yield documents

    def _expiries(self) -> Iterator[Metric]:
        now = time.time()
        for name, what, asked in (
            ("aop_token_expiry_seconds", "Until the token of that name expires, in seconds", self.tokens),
            ("aop_certificate_expiry_seconds", "Until the certificate of redis or store expires", self.certificates),
        ):
            family = GaugeMetricFamily(name, what, labels=("name",))
            for label, at in asked():
                family.add_metric((label,), at - now)
            yield family

    def _states(self) -> dict[str, int]:
        known = self._documents
        if known is not None and time.monotonic() - known.read_at < _DOCUMENTS_S:
            return known.states
        states: Counter[str] = Counter(dict.fromkeys(("accepted", "succeeded", "failed", "dead", "retired"), 0))
        ids = list(self.ledger.documents())
        for start in range(0, len(ids), _CHUNK):
            pipe = self.redis.pipeline(transaction=False)
            for identity in ids[start : start + _CHUNK]:
                pipe.hget(f"{self.prefix}:doc:{identity}", "state")
            states.update(state or "accepted" for state in cast("list[str | None]", pipe.execute()))
        self._documents = _Documents(dict(states), time.monotonic())
        return self._documents.states

    def _now_s(self) -> float:
        return shared_now_ms(self.redis) / 1_000
