"""Runs of a whole installation, and what its processes use in them."""

from __future__ import annotations

import os
import signal
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, cast

from bench.compiling import document
from bench.service.installation import Installation
from bench.sizing.arrivals import poisson
from bench.sizing.costs import Memory
from bench.sizing.processes import Stretch, children, family_ms, memory_mb, processor_ms, urgent
from workers.ledger.records import STAGES, Stage

_LOOK_S: Final = 0.05
_LIMIT_S: Final = 300.0
_SETTLED_S: Final = 1.0
_REST_S: Final = 3.0
_TRIES: Final = 4
WARM: Final = 5
"""Documents before the measured ones."""
_BLOCK: Final = 8
"""Saves of an idle service whose surroundings are judged together."""


class Idle(NamedTuple):
    """Of saves that found nobody at work, those of the quietest moments. `gaps_ms`: by stage, from the end of the one
    before to its own, as the ledger says, when it goes well."""

    took_ms: list[float]
    gaps_ms: Mapping[Stage, float]
    others: float


@dataclass(slots=True)
class Service:
    """All processes of an installation, and what they have used so far."""

    found: Installation
    saved: int = 0
    started: list[str] = field(default_factory=list)

    def start(self, *names: str) -> None:
        self.found.start(*names)
        self.started += names

    def pids(self) -> dict[str, int]:
        found = {name: pid for name in self.started if (pid := self.found.supervisor.pid(name)) is not None}
        found["redis"] = self.found.valkey_pid
        if self.found.s3_pid:
            found["store"] = self.found.s3_pid
        return found

    def used(self) -> dict[str, float]:
        """Milliseconds of processors, by process; of workers as `parse`, and their parents as `parse parent`."""
        spent = {name: family_ms(pid) for name, pid in self.pids().items()}
        return spent | {f"{stage} parent": processor_ms(self.pids()[stage]) for stage in STAGES if stage in spent}

    def save(self) -> str:
        """The job's id."""
        self.saved += 1
        text = document(self.saved).encode()
        return self.found.intake.accept(f"sizing/{self.saved}.md", data=text, source="bench").job

    def wait_for(self, count: int) -> None:
        """Until so many jobs have ended ever."""
        self.found.wait(lambda: self.found.ended() >= count, f"{count} documents", _LIMIT_S, _LOOK_S)

    def stretch(self) -> Stretch:
        return Stretch(self.pids().values())


@contextmanager
def service(folder: Path, *, s3: bool, **extra: str) -> Iterator[Service]:
    with Installation(folder, s3=s3, **extra) as found:
        yield Service(found)


def rest(service: Service) -> dict[str, float]:
    """Milliseconds of processors that each process uses in a second in which nothing is to be done."""
    before, begun = service.used(), time.perf_counter()
    time.sleep(_REST_S)
    seconds = time.perf_counter() - begun
    return {name: (spent - before[name]) / seconds for name, spent in service.used().items()}


def over(before: Mapping[str, float], after: Mapping[str, float], documents: int) -> dict[str, float]:
    return {name: max(0.0, after[name] - spent) / documents for name, spent in before.items()}


@dataclass(frozen=True, slots=True)
class Through:
    """Milliseconds of processors for a document, by process: of taking it in (the bench's own: `sender`), with what
    that takes by the clock when it goes well; and of compiling it, without what is used at `rest` (in a second).
    `rate`: documents a second, while others used so many cores."""

    accepting: Mapping[str, float]
    accepting_clock_ms: float
    costs: Mapping[str, float]
    rest: Mapping[str, float]
    rate: float
    others: float


def through(service: Service, count: int) -> Through:
    """Documents that all wait at the start. Those that wait already are compiled first, untimed."""
    found = service.found
    if "dispatcher" not in service.started:
        service.start(*STAGES)
        found.wait_for_workers()
        service.start("dispatcher")
    service.wait_for(service.saved)
    time.sleep(_SETTLED_S)
    resting = rest(service)
    with _dispatcher_held(service):
        before, own, clocks = service.used(), time.process_time(), []
        for _ in range(count):
            begun = time.perf_counter()
            service.save()
            clocks.append((time.perf_counter() - begun) * 1_000)
        sender = (time.process_time() - own) * 1_000 / count
        accepting = over(before, service.used(), count) | {"sender": sender}
    before, at = service.used(), found.ended()
    with service.stretch() as stretch:
        service.wait_for(service.saved)
    after, ended = service.used(), service.saved - at
    working = {name: spent - resting[name] * stretch.seconds for name, spent in after.items()}
    return Through(
        accepting=accepting,
        accepting_clock_ms=statistics.quantiles(clocks, n=4)[0],
        costs=over(before, working, ended),
        rest=resting,
        rate=ended / stretch.seconds,
        others=stretch.others,
    )


@contextmanager
def _dispatcher_held(service: Service) -> Iterator[None]:
    """Nothing begins meanwhile."""
    pid = service.pids()["dispatcher"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def memory(service: Service, server_mb: float) -> Memory:
    """Of the dispatcher and, on average, of the workers' parents and children."""
    pids = service.pids()
    below = [child for stage in STAGES for child in children(pids[stage])]
    return Memory(
        worker_parent=statistics.mean(memory_mb(pids[stage]) for stage in STAGES),
        worker_child=statistics.mean(map(memory_mb, below)),
        dispatcher=memory_mb(pids["dispatcher"]),
        server=server_mb,
    )


def idle(service: Service, count: int) -> Idle:
    """One save after the other, each when the one before has ended."""
    service.wait_for(service.saved)
    time.sleep(_SETTLED_S)
    samples: list[tuple[float, _Times]] = []
    with urgent(service.pids().values()):
        for number in range(count + WARM):
            with service.stretch() as stretch:
                job = service.save()
                service.wait_for(service.saved)
            if number >= WARM:
                samples.append((stretch.others, _times(service, job)))
    # Each alone is a short stretch of a coarse clock; eight in a row are not.
    blocks = [samples[place : place + _BLOCK] for place in range(0, len(samples) - _BLOCK + 1, _BLOCK)]
    blocks.sort(key=lambda block: sum(others for others, _ in block))
    quiet = [sample for block in blocks[: max(1, len(blocks) // 3)] for sample in block]
    return Idle(
        took_ms=[times.took for _, times in quiet],
        gaps_ms={stage: statistics.quantiles((t.gaps[stage] for _, t in quiet), n=4)[0] for stage in STAGES},
        others=statistics.mean(others for others, _ in quiet),
    )


@dataclass(frozen=True, slots=True)
class _Times:
    """Of one job, ms. `took`: from its acceptance to its end."""

    took: float
    gaps: Mapping[Stage, float]


def _times(service: Service, job: str) -> _Times:
    """As the ledger has them."""
    prefix = service.found.settings.redis_prefix
    fields = cast("dict[str, str]", service.found.redis.hgetall(f"{prefix}:job:{job}"))
    ends = {stage: float(fields[f"begun:{stage}"]) + float(fields[f"took:{stage}"]) for stage in STAGES}
    before = [float(fields["claimed_ms"]), *ends.values()]
    return _Times(
        float(fields["ended_ms"]) - float(fields["created_ms"]),
        {stage: ends[stage] - begun for stage, begun in zip(STAGES, before, strict=False)},
    )


@dataclass(frozen=True, slots=True)
class Load:
    """Saves that came by chance: how many a second on average, what each took (ms), what others used meanwhile."""

    rate: float
    took_ms: list[float]
    others: float


def part_load(service: Service, rate: float, seconds: float) -> Load:
    """Saves that come by chance, `rate` a second on average: of several runs with the same arrivals the one with the
    least times, since whatever else the machine does only adds."""
    tries = [_load(service, rate, seconds) for _ in range(_TRIES)]
    return min(tries, key=lambda found: statistics.median(found.took_ms))


def _load(service: Service, rate: float, seconds: float) -> Load:
    service.wait_for(service.saved)
    jobs: list[str] = []
    with urgent(service.pids().values()), service.stretch() as stretch:
        begun = time.perf_counter()
        for arrival in poisson(rate, seconds):
            time.sleep(max(0.0, begun + arrival - time.perf_counter()))
            jobs.append(service.save())
        service.wait_for(service.saved)
    return Load(rate, [_times(service, job).took for job in jobs], stretch.others)


def p95(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[int(len(ordered) * 0.95)]


def beside_sender(service: Service, seconds: float) -> tuple[float, float]:
    """Documents a second while one process sends as fast as it can, and what others used. What it has sent by then is
    not waited for."""
    service.wait_for(service.saved)
    at = service.found.ended()
    with service.stretch() as stretch:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            service.save()
        ended = service.found.ended() - at
    return ended / stretch.seconds, stretch.others
