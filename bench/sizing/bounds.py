"""How many documents one installation bears: each bound by itself, the least first."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Final, Literal, NamedTuple

from bench.sizing.costs import Costs, Requests
from bench.sizing.loads import Loads
from pipeline.stores.bucket import PARALLEL

HOUR_S: Final = 3_600.0
DAY_S: Final = 86_400.0

Bound = Literal["reindex", "gc", "redis-pause", "redis-memory", "redis-processor", "dispatcher-memory"]


class Limit(NamedTuple):
    documents: float
    bound: Bound


def limits(costs: Costs, loads: Loads) -> list[Limit]:
    """The least first."""
    use, allowed = loads.use, loads.limits
    by: dict[Bound, float] = {
        "reindex": allowed.reindex_hours * HOUR_S / reindex_s(costs, loads),
        "gc": allowed.gc_hours * HOUR_S / gc_s(costs, loads),
        "redis-pause": _share(allowed.redis_pause_s * 1_000, costs.index.redis_ms),
        "redis-memory": _share(allowed.redis_gib * 2**30 - costs.redis.empty, redis_bytes(costs, loads)),
        "redis-processor": _share(
            allowed.redis_utilisation * 1_000,
            save_rate(loads, 1) * (costs.s3.redis_ms + costs.s3.accept_redis_ms)
            + costs.s3.redis_ms / (use.recompile_hours * HOUR_S),
        ),
        "dispatcher-memory": _share((allowed.dispatcher_mb - costs.memory.dispatcher) * 1_024, costs.index.reader_kib),
    }
    return sorted(Limit(documents, bound) for bound, documents in by.items())


def _share(allowed: float, each: float) -> float:
    return max(0.0, allowed) / each if each else float("inf")


def save_rate(loads: Loads, documents: float) -> float:
    """Saves a second in the busiest minutes."""
    use = loads.use
    return documents * use.saves_a_day * use.peak / (use.day_hours * HOUR_S)


def kept_jobs(loads: Loads, documents: float) -> float:
    """Ended jobs that Redis keeps after a day of saves and a recompile of everything."""
    use, keep = loads.use, loads.settings.keep_jobs_s
    saves = documents * use.saves_a_day * min(keep / (use.day_hours * HOUR_S), max(1.0, keep / DAY_S))
    return saves + documents * min(1.0, keep / (use.recompile_hours * HOUR_S))


def redis_bytes(costs: Costs, loads: Loads) -> float:
    """For one document, what is kept of its jobs included."""
    return costs.redis.document + kept_jobs(loads, 1) * costs.redis.ended_job


def request_ms(costs: Costs) -> float:
    """Processor time of one request: what a compile takes more with S3 than with files, a request."""
    count = sum(total(requests) for requests in costs.requests.compile.values())
    return max(0.0, costs.s3.workers_ms - costs.file.workers_ms) / count if count else 0.0


def total(requests: Requests) -> float:
    return requests.get + requests.put + requests.head + requests.delete


def plus(first: Requests, second: Requests, times: float = 1.0) -> Requests:
    pairs = zip(first.model_dump().items(), second.model_dump().values(), strict=True)
    return Requests(**{name: mine + other * times for (name, mine), other in pairs})


def gc_requests(costs: Costs, loads: Loads) -> Requests:
    """For one document with the saves that are kept of it."""
    return plus(costs.requests.gc, costs.requests.gc_save, loads.use.history - 1)


def reindex_requests(costs: Costs, loads: Loads) -> Requests:
    return plus(costs.requests.reindex, costs.requests.reindex_save, loads.use.history - 1)


def gc_s(costs: Costs, loads: Loads) -> float:
    """Seconds for one document."""
    return _walk_s(costs, loads, gc_requests(costs, loads))


def reindex_s(costs: Costs, loads: Loads) -> float:
    return _walk_s(costs, loads, reindex_requests(costs, loads))


def _walk_s(costs: Costs, loads: Loads, requests: Requests) -> float:
    """Records of many documents are read together, `PARALLEL` requests at once (`Archive.listed`). Whichever is slower,
    the bucket or the processor."""
    waiting = total(requests) / PARALLEL * loads.s3.round_s(requests)
    lists = requests.listed / loads.s3.keys_a_list * loads.s3.put_ms / 1_000
    return max(waiting + lists, total(requests) * request_ms(costs) / 1_000)


def planned_documents(costs: Costs, loads: Loads) -> float:
    """How many one plan over HTTP can cover."""
    return _share(loads.limits.plan_s, _walk_s(costs, loads, costs.requests.plan))


def together(several: Iterable[Requests]) -> Requests:
    return reduce(plus, several, Requests())
