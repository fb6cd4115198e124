"""Measures costs and figures anew, on this machine: about three minutes where nothing else runs.

Others who use the machine change what a second of the clock gives, and little of what a second of a processor does. So
costs are processor time; how long something waits is taken from the quietest moments; and each figure says how many
cores others used meanwhile.
"""

from __future__ import annotations

import platform
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from os import cpu_count
from pathlib import Path
from typing import Final, NamedTuple

from bench.sizing import bounds, runs
from bench.sizing.client import Client
from bench.sizing.costs import Costs, Figures, Machine, Memory, Requests, Running, S3Requests, StageCost
from bench.sizing.counting import measure_requests
from bench.sizing.processes import memory_mb
from bench.sizing.redis_bytes import measure_bytes, measure_index
from bench.sizing.reproduction import BACKLOG, BACKLOG_S3, BUSY_S, SENDING_S
from bench.sizing.runs import Idle, Service, over, p95
from workers.ledger.records import STAGES, Stage

COMMAND: Final = "python -m bench.sizing measure"
PART: Final = 1 / 3
"""Of the greatest rate: what still waits for little."""

Say = Callable[[str], None]


class Sizes(NamedTuple):
    """How many documents of each run; of two, for how long."""

    through: int = BACKLOG
    through_s3: int = BACKLOG_S3
    http: int = 300
    http_s3: int = 60
    idle: int = 80
    idle_s3: int = 24
    part_s: float = BUSY_S
    sender_s: float = SENDING_S
    counted: int = 8


SIZES: Final = Sizes()


def measure(say: Say, sizes: Sizes = SIZES) -> Costs:
    """Raises TimeoutError where nothing moves for minutes, ServerNotStarted."""
    with tempfile.TemporaryDirectory(prefix="aop-sizing-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        say("Redis: bytes of documents and jobs, and of the index")
        redis, index = measure_bytes(folder), measure_index(folder)
        say("S3: requests by operation")
        requests = measure_requests(folder / "requests", sizes.counted)
        file, memory, idle, rates = _files(folder / "file", sizes, requests, say)
        s3, through_s3 = _s3(folder / "s3", sizes, requests, say)
    figures = Figures(
        through=rates.through[0],
        through_others=rates.through[1],
        sender=rates.sender[0],
        sender_others=rates.sender[1],
        through_s3=through_s3.rate,
        through_s3_others=through_s3.others,
        idle_median_ms=statistics.median(idle.took_ms),
        idle_p95_ms=p95(idle.took_ms),
        idle_others=idle.others,
        part_rate=rates.part.rate,
        part_median_ms=statistics.median(rates.part.took_ms),
        part_others=rates.part.others,
    )
    return Costs(
        machine=_machine(),
        file=file,
        s3=s3,
        memory=memory,
        redis=redis,
        requests=requests,
        index=index,
        figures=figures,
    )


def _machine() -> Machine:
    found = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return Machine(
        date=datetime.now(UTC).date().isoformat(),
        command=COMMAND,
        cores=cpu_count() or 1,
        processor=found[0].partition(":")[2].strip() if found else platform.machine(),
        python=platform.python_version(),
    )


@dataclass(frozen=True, slots=True)
class Rates:
    """Each rate with the cores that others used."""

    through: tuple[float, float]
    sender: tuple[float, float]
    part: runs.Load


def _files(folder: Path, sizes: Sizes, requests: S3Requests, say: Say) -> tuple[Running, Memory, Idle, Rates]:
    with runs.service(folder, s3=False) as service:
        say("files: saves over HTTP")
        server_ms, server_mb = _http(service, sizes.http)
        say("files: through four stages, for the costs")
        first = runs.through(service, sizes.through)
        memory = runs.memory(service, server_mb)
        say("files: saves of an idle service, for the pauses")
        running = _running(first, runs.idle(service, sizes.idle), server_ms, requests.compile)
        say("files: once more, for the figures")
        idle = runs.idle(service, sizes.idle)
        second = runs.through(service, sizes.through)
        say("files: at a third of the load")
        part = runs.part_load(service, PART * _most(running), sizes.part_s)
        say("files: beside a sender")
        sender = runs.beside_sender(service, sizes.sender_s)
        return running, memory, idle, Rates((second.rate, second.others), sender, part)


def _s3(folder: Path, sizes: Sizes, requests: S3Requests, say: Say) -> tuple[Running, runs.Through]:
    with runs.service(folder, s3=True) as service:
        say("S3: saves over HTTP")
        server_ms, _ = _http(service, sizes.http_s3)
        say("S3: through four stages, for the costs")
        first = runs.through(service, sizes.through_s3)
        running = _running(first, runs.idle(service, sizes.idle_s3), server_ms, requests.compile)
        say("S3: once more, for the rate")
        return running, runs.through(service, sizes.through_s3)


def _running(found: runs.Through, idle: Idle, server_ms: float, requests: Mapping[Stage, Requests]) -> Running:
    """An S3 server's work is every stage's by its `requests`."""
    every = bounds.total(bounds.together(requests.values()))
    accepting, costs = found.accepting, found.costs
    stages: dict[Stage, StageCost] = {}
    for stage in STAGES:
        parent = costs[f"{stage} parent"]
        child = costs[stage] - parent
        asked = costs.get("store", 0.0) * bounds.total(requests[stage]) / every
        computing = parent / 2 + child + asked + costs["redis"] / len(STAGES)
        pause = max(0.0, idle.gaps_ms[stage] - computing)
        stages[stage] = StageCost(parent_ms=parent, child_ms=child, store_ms=asked, pause_ms=pause)
    store = accepting.get("store", 0.0)
    return Running(
        stages=stages,
        dispatcher_ms=costs["dispatcher"],
        redis_ms=costs["redis"],
        server_ms=server_ms,
        sender_ms=accepting["sender"],
        sender_pause_ms=max(0.0, found.accepting_clock_ms - accepting["sender"] - accepting["redis"] - store),
        accept_redis_ms=accepting["redis"],
        accept_store_ms=store,
        # Of a worker's parent and children together, which are there apart as well.
        rest_ms=sum(spent for name, spent in found.rest.items() if not name.endswith(" parent")),
    )


def _most(running: Running) -> float:
    """Documents a second that come out: of all processors, or of the slowest stage's one process, whichever are
    fewer."""
    every_ms = running.document_ms + running.sender_ms + running.accept_redis_ms
    slowest_ms = max(cost.parent_ms + cost.child_ms + cost.pause_ms for cost in running.stages.values())
    return min((cpu_count() or 1) * 1_000 / every_ms, 1_000 / slowest_ms)


def _http(running: Service, count: int) -> tuple[float, float]:
    """Processor milliseconds of the server for a save, and its memory in MB. Nobody compiles meanwhile."""
    found = running.found
    running.start("server")
    with Client(found) as client:
        found.wait(client.answers, "server")
        for documents in (runs.WARM, count):
            before = running.used()
            for _ in range(documents):
                running.saved += 1
                client.put(running.saved)
    return over(before, running.used(), count)["server"], memory_mb(running.pids()["server"])
