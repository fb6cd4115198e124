"""The service as processes that wait for one another: saves, four stages, recompiles in a window, one Redis.

What is not simulated: failures, saves of one document that supersede each other (each save here is another document's,
which is the dearer case), and the short time that a worker's parent is shared by its children.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.sizing.costs import Running
from bench.sizing.kernel import Cores, Process, Queue, Serial, Simulation
from workers.ledger.records import STAGES, JobClass, Stage

FEED_AT_ONCE: Final = 100
"""Recompiles that one look of a dispatcher begins at most (`workers.bulk.duties`)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of one document, in seconds. `before` and `after`: of the processor, until the next stage may begin
    and then; `pause`: while nobody computes; `redis`, `store`: of those servers."""

    before: float
    after: float
    pause: float
    redis: float
    store: float


@dataclass(frozen=True, slots=True)
class Layout:
    """`cores` run all processes; Redis has one of its own unless `together`, and the same for an S3 server. `slots`:
    worker processes of each stage and class; a class of which there is none is taken by the other's, in one queue.
    `senders`: how many take saves in at once; 0: taking in costs nothing here."""

    cores: float
    steps: Mapping[Stage, Step]
    dispatch: float
    slots: Mapping[tuple[Stage, JobClass], int]
    together: bool
    sender: Step | None = None
    senders: int = 1
    dispatchers: int = 1
    quiet: float = 2.0
    tick: float = 0.2
    window: int = 64


@dataclass(slots=True)
class Job:
    job_class: JobClass
    accepted: float
    ended: float = math.nan

    @property
    def took(self) -> float:
        return self.ended - self.accepted


@dataclass(slots=True)
class Outcome:
    """`jobs`: in the order in which they ended. `seconds`: until all had. `cores`, `redis`, `slots`: what share of the
    time each was busy, of the latter the fullest. `live`: jobs that were accepted and had not ended, on average."""

    jobs: list[Job] = field(default_factory=list)
    seconds: float = 0.0
    cores: float = 0.0
    redis: float = 0.0
    slots: dict[tuple[Stage, JobClass], float] = field(default_factory=dict)
    live: float = 0.0

    def quantile(self, share: float, job_class: JobClass = "interactive") -> float:
        """Seconds from save to published. Raises ValueError where there was none."""
        took = sorted(job.took for job in self.jobs if job.job_class == job_class)
        if not took:
            raise ValueError(f"no job of class {job_class} ended")
        return took[min(len(took) - 1, int(len(took) * share))]

    def rate(self, start: float = 0.1, end: float = 0.9) -> float:
        """Documents a second between those shares of all that ended: filling and emptying left out."""
        ended = [job.ended for job in self.jobs]
        first, last = int(len(ended) * start), int(len(ended) * end) - 1
        return (last - first) / (ended[last] - ended[first])

    def rate_until(self, time: float) -> float:
        """Documents a second that ended until then."""
        return bisect_left([job.ended for job in self.jobs], time) / time


def steps(running: Running, rounds: Mapping[Stage, float] | None = None, round_s: float = 0.0) -> dict[Stage, Step]:
    """Half of the parent's work comes after the next stage has its message. `rounds`: of S3, `round_s` seconds each,
    in place of the store that was measured."""
    return {
        stage: Step(
            before=(cost.parent_ms / 2 + cost.child_ms) / 1_000,
            after=cost.parent_ms / 2 / 1_000,
            pause=cost.pause_ms / 1_000 if rounds is None else rounds[stage] * round_s,
            redis=running.redis_ms / len(STAGES) / 1_000,
            store=cost.store_ms / 1_000 if rounds is None else 0.0,
        )
        for stage, cost in running.stages.items()
    }


def sender_step(running: Running) -> Step:
    """Taking a save in, as the bench does."""
    return Step(
        before=running.sender_ms / 1_000,
        after=0.0,
        pause=running.sender_pause_ms / 1_000,
        redis=running.accept_redis_ms / 1_000,
        store=running.accept_store_ms / 1_000,
    )


def one_each(count: int = 1) -> dict[tuple[Stage, JobClass], int]:
    """So many processes a stage, which take both classes."""
    return {(stage, "interactive"): count for stage in STAGES}


def simulate(layout: Layout, saves: Sequence[float] = (), recompiles: int = 0, backlog: int = 0) -> Outcome:
    """`saves`: when each is sent, in order. `backlog`: saves that are accepted and due at the start. `recompiles`: of a
    plan that begins at the start. Ends when every job has."""
    return _Service(layout).run(saves, recompiles, backlog)


class _Service:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.simulation = Simulation()
        self.cores = Cores(self.simulation, layout.cores)
        self.redis = Serial(self.simulation, self.cores if layout.together else Cores(self.simulation, 1))
        self.store = self.cores if layout.together else Cores(self.simulation, math.inf)
        self.due: Queue[Job] = Queue(self.simulation)
        self.entrance: Queue[None] = Queue(self.simulation)
        self.queues: dict[tuple[Stage, JobClass], Queue[Job]] = {}
        self.busy: dict[tuple[Stage, JobClass], float] = {}
        self.outcome = Outcome()
        self.in_flight = 0
        self._live = 0
        self._live_since = 0.0
        self._live_seconds = 0.0
        for key, count in layout.slots.items():
            queue = self.queues[key] = Queue(self.simulation)
            self.busy[key] = 0.0
            for _ in range(count):
                self.simulation.start(self._slot(key, queue))
        for stage in STAGES:
            for mine, other in (("interactive", "bulk"), ("bulk", "interactive")):
                if (stage, mine) not in self.queues:
                    self.queues[stage, mine] = self.queues[stage, other]  # type: ignore[index]  # both are classes

    def run(self, saves: Sequence[float], recompiles: int, backlog: int) -> Outcome:
        simulation, layout = self.simulation, self.layout
        for _ in range(backlog):
            self._accept(0.0)
        for time in saves:
            if layout.sender is None:
                simulation.at(time, lambda: self._accept(layout.quiet))
            else:
                simulation.at(time, lambda: self.entrance.put(None))
        if layout.sender is not None:
            for _ in range(layout.senders):
                simulation.start(self._sender(layout.sender))
        for _ in range(layout.dispatchers):
            simulation.start(self._dispatcher())
        if recompiles:
            simulation.start(self._feeder(recompiles))
        simulation.run()
        return self._ended()

    def _ended(self) -> Outcome:
        outcome, seconds = self.outcome, self.simulation.now
        outcome.seconds = seconds
        self._count_live(0)
        if seconds:
            outcome.cores = self.cores.busy / (self.cores.count * seconds)
            outcome.redis = self.redis.busy / seconds
            outcome.live = self._live_seconds / seconds
            outcome.slots = {key: busy / (self.layout.slots[key] * seconds) for key, busy in self.busy.items()}
        return outcome

    def _count_live(self, change: int) -> None:
        now = self.simulation.now
        self._live_seconds += self._live * (now - self._live_since)
        self._live, self._live_since = self._live + change, now

    # ---------------------------------------------------------------------------------------------- processes

    def _accept(self, quiet: float) -> None:
        job = Job("interactive", self.simulation.now)
        self._count_live(1)
        self.simulation.at(self.simulation.now + quiet, lambda: self.due.put(job))

    def _sender(self, step: Step) -> Process:
        while True:
            yield self.entrance.take()
            yield from self._work(step)
            self._accept(self.layout.quiet)

    def _dispatcher(self) -> Process:
        """Looks once a tick, and takes all that is due."""
        while True:
            job = yield self.due.take()
            yield self.simulation.pause(self._to_tick())
            yield from self._dispatch(job)
            while len(self.due):
                job = yield self.due.take()
                yield from self._dispatch(job)

    def _dispatch(self, job: Job) -> Process:
        yield self.cores.work(self.layout.dispatch)
        self.queues["parse", job.job_class].put(job)

    def _feeder(self, recompiles: int) -> Process:
        left = recompiles
        while left:
            for _ in range(min(FEED_AT_ONCE, left, self.layout.window - self.in_flight)):
                self.in_flight += 1
                left -= 1
                self._count_live(1)
                job = Job("bulk", self.simulation.now)
                yield from self._dispatch(job)
            yield self.simulation.pause(self.layout.tick)

    def _to_tick(self) -> float:
        tick, now = self.layout.tick, self.simulation.now
        return math.ceil(now / tick - 1e-9) * tick - now

    def _slot(self, key: tuple[Stage, JobClass], queue: Queue[Job]) -> Process:
        """A worker process: it takes no message before it has ended the last one."""
        step, place = self.layout.steps[key[0]], STAGES.index(key[0]) + 1
        while True:
            job: Job = yield queue.take()
            begun = self.simulation.now
            yield from self._work(step)
            if place < len(STAGES):
                self.queues[STAGES[place], job.job_class].put(job)
            else:
                self._end(job)
            if step.after:
                yield self.cores.work(step.after)
            self.busy[key] += self.simulation.now - begun

    def _work(self, step: Step) -> Process:
        yield self.cores.work(step.before)
        if step.redis:
            yield self.redis.work(step.redis)
        if step.store:
            yield self.store.work(step.store)
        if step.pause:
            yield self.simulation.pause(step.pause)

    def _end(self, job: Job) -> None:
        job.ended = self.simulation.now
        self._count_live(-1)
        self.in_flight -= job.job_class == "bulk"
        self.outcome.jobs.append(job)
