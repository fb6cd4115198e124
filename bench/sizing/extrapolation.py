"""From costs and loads to pods, memory, requests: counted first, then simulated until the wanted times are kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from bench.sizing import bounds
from bench.sizing.arrivals import poisson, with_burst
from bench.sizing.bounds import HOUR_S, Limit
from bench.sizing.costs import Costs, Requests
from bench.sizing.loads import Loads
from bench.sizing.simulation import FEED_AT_ONCE, Layout, Outcome, simulate, steps
from workers.ledger.records import CLASSES, STAGES, JobClass, Stage

_SAVES: Final = 1_000
_RECOMPILES: Final = 2_000
"""So many jobs of each kind are simulated: enough for a p95, and still quick."""
_PUSH_S: Final = 120.0
"""So long before and after a push together."""
_SHORTEST_S: Final = 60.0
_TRIES: Final = 60
_AT_LEAST: Final = 2
"""Servers and dispatchers: one may be replaced."""


@dataclass(frozen=True, slots=True)
class Size:
    """Of one installation with so many `documents`; `installations` of them are needed, because of `bound`. `slots`:
    worker processes. As simulated: `saves` in the busiest minutes, a `push` of many at once among them, `bulk`, a
    recompile. Gigabytes of memory of all pods, and of Redis."""

    documents: int
    installations: int
    bound: Limit
    slots: Mapping[tuple[Stage, JobClass], int]
    window: int
    servers: int
    dispatchers: int
    cores: float
    pods_gb: float
    redis_gb: float
    redis_busy: float
    save_rate: float
    saves: Outcome
    push: Outcome
    bulk: Outcome
    bill: Bill
    reindex_hours: float
    gc_hours: float
    plan_documents: float

    def pods(self, job_class: JobClass, concurrency: int) -> dict[Stage, int]:
        return {stage: math.ceil(self.slots[stage, job_class] / concurrency) for stage in STAGES}

    def all_pods(self, concurrency: int) -> int:
        """Of workers, servers, dispatchers, and the exporter."""
        workers = sum(sum(self.pods(job_class, concurrency).values()) for job_class in CLASSES)
        return workers + self.servers + self.dispatchers + 1


def size(costs: Costs, loads: Loads, documents: int) -> Size:
    """Raises ValueError where no number of worker processes keeps the wanted times."""
    bound = bounds.limits(costs, loads)[0]
    installations = max(1, math.ceil(documents / bound.documents))
    each = math.ceil(documents / installations)
    rate = bounds.save_rate(loads, each)
    bulk_rate = each / (loads.use.recompile_hours * HOUR_S)
    layout, saves, push, bulk = _simulated(costs, loads, each, rate, bulk_rate)
    concurrency = loads.settings.concurrency
    servers = max(_AT_LEAST, math.ceil(rate * costs.s3.server_ms / 1_000 / loads.limits.utilisation))
    cores = _cores(costs, loads, rate, bulk_rate)
    pods = sum(math.ceil(count / concurrency) for count in layout.slots.values())
    memory = costs.memory
    return Size(
        documents=each,
        installations=installations,
        bound=bound,
        slots=layout.slots,
        window=layout.window,
        servers=servers,
        dispatchers=layout.dispatchers,
        cores=cores,
        pods_gb=(
            pods * memory.worker_parent
            + sum(layout.slots.values()) * memory.worker_child
            + servers * memory.server
            + layout.dispatchers * (memory.dispatcher + each * costs.index.reader_kib / 1_024)
        )
        / 1_024,
        redis_gb=_redis_bytes(costs, loads, each, layout.window) / 2**30,
        redis_busy=max(push.redis, bulk.redis),
        save_rate=rate,
        saves=saves,
        push=push,
        bulk=bulk,
        bill=monthly(costs, loads, each),
        reindex_hours=each * bounds.reindex_s(costs, loads) / HOUR_S,
        gc_hours=each * bounds.gc_s(costs, loads) / HOUR_S,
        plan_documents=bounds.planned_documents(costs, loads),
    )


@dataclass(frozen=True, slots=True)
class Bill:
    """Requests of a month. `lists` apart: one tells a thousand keys. `cost`: US dollars, of which `upkeep` is gc's."""

    requests: Requests
    lists: float
    cost: float
    upkeep: float


def monthly(costs: Costs, loads: Loads, documents: int) -> Bill:
    use, found = loads.use, costs.requests
    saves, compiles = documents * use.saves_a_day * use.working_days, documents * use.recompiles
    gc = bounds.plus(Requests(), bounds.gc_requests(costs, loads), documents * use.gc_runs)
    every = gc
    for requests, times in (
        (found.save, saves),
        (bounds.together(found.compile.values()), saves + compiles),
        (found.plan, 2 * compiles),  # it is made again before it runs
    ):
        every = bounds.plus(every, requests, times)
    return Bill(every, every.listed / loads.s3.keys_a_list, price(loads, every), price(loads, gc))


def price(loads: Loads, requests: Requests) -> float:
    """US dollars. Deletions cost nothing."""
    s3, lists = loads.s3, requests.listed / loads.s3.keys_a_list
    return ((requests.put + lists) * s3.put_price + (requests.get + requests.head) * s3.get_price) / 1_000


# ------------------------------------------------------------------------------------------------------ simulated


def _simulated(
    costs: Costs, loads: Loads, documents: int, rate: float, bulk_rate: float
) -> tuple[Layout, Outcome, Outcome, Outcome]:
    """The least layout that keeps the times, found by adding to what is fullest; and what saves, a push and a recompile
    are with it."""
    layout = _first(costs, loads, rate, bulk_rate)
    seconds = max(_SHORTEST_S, _SAVES / rate)
    arrivals = poisson(rate, seconds)
    pushed = with_burst([time for time in arrivals if time < _PUSH_S], _PUSH_S / 2, min(loads.use.burst, documents))
    for _ in range(_TRIES):
        push = simulate(layout, pushed)
        if push.quantile(0.95) <= loads.use.p95_s:
            break
        layout = _more(layout, push, "interactive")
    else:
        raise ValueError(f"saves of {documents} documents are not published within {loads.use.p95_s} s")
    for _ in range(_TRIES):
        bulk = simulate(layout, recompiles=min(_RECOMPILES, documents))
        if bulk.rate() >= bulk_rate:
            return layout, simulate(layout, arrivals), push, bulk
        layout = replace(_more(layout, bulk, "bulk"), window=layout.window * 2)
    raise ValueError(f"{documents} documents are not compiled within {loads.use.recompile_hours} h")


def _redis_bytes(costs: Costs, loads: Loads, documents: int, window: int) -> float:
    waiting = (loads.use.burst + window) * costs.redis.waiting_job
    return costs.redis.empty + documents * bounds.redis_bytes(costs, loads) + waiting


def _first(costs: Costs, loads: Loads, rate: float, bulk_rate: float) -> Layout:
    """As many of everything as its own work takes, at the utilisation that is allowed."""
    used, settings = loads.limits.utilisation, loads.settings
    rounds = {stage: requests.rounds for stage, requests in costs.requests.compile.items()}
    round_s = loads.s3.round_s(bounds.together(costs.requests.compile.values()))
    found = steps(costs.s3, rounds, round_s)
    took = {stage: step.before + step.after + step.pause + step.redis for stage, step in found.items()}
    slots: dict[tuple[Stage, JobClass], int] = {}
    for stage in STAGES:
        slots[stage, "interactive"] = max(1, math.ceil(rate * took[stage] / used))
        slots[stage, "bulk"] = max(1, math.ceil(bulk_rate * took[stage] / used))
    dispatch = costs.s3.dispatcher_ms / 1_000
    fed = bulk_rate * settings.tick_s / FEED_AT_ONCE
    return Layout(
        cores=max(1.0, _cores(costs, loads, rate, bulk_rate)),
        steps=found,
        dispatch=dispatch,
        slots=slots,
        together=False,
        dispatchers=max(_AT_LEAST, math.ceil(((rate + bulk_rate) * dispatch + fed) / used)),
        quiet=settings.quiet_s,
        tick=settings.tick_s,
        # A job that ends is followed by the next one only when a dispatcher looks.
        window=max(settings.bulk_window, math.ceil(bulk_rate * (sum(took.values()) + settings.tick_s) / used)),
    )


def _cores(costs: Costs, loads: Loads, rate: float, bulk_rate: float) -> float:
    """Of all pods in the busiest minutes, while a recompile runs as well."""
    compiling = (costs.s3.workers_ms + costs.s3.dispatcher_ms) * (rate + bulk_rate)
    return (compiling + costs.s3.server_ms * rate) / 1_000 / loads.limits.utilisation


def _more(layout: Layout, outcome: Outcome, job_class: JobClass) -> Layout:
    fullest = max((key for key in layout.slots if key[1] == job_class), key=lambda key: outcome.slots[key])
    return replace(
        layout, cores=layout.cores * 1.1, slots={**layout.slots, fullest: math.ceil(layout.slots[fullest] * 1.25 + 0.1)}
    )
