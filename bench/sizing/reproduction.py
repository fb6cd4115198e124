"""Whether the simulation gives what was measured on the machine of the costs, before it is believed about larger ones.

The costs are processor time and pauses of single steps; the figures come from runs of their own, of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from bench.sizing.arrivals import poisson
from bench.sizing.costs import Costs, Running
from bench.sizing.simulation import Layout, one_each, sender_step, simulate, steps

TICK_S: Final = 0.01
"""Of the dispatcher of `bench.service`, where nothing is quiet before it is compiled."""
BACKLOG: Final = 400
BACKLOG_S3: Final = 100
"""So many documents wait at the start, and the rate is that until the last has ended: measured and simulated alike."""
IDLE: Final = 200
BUSY_S: Final = 6.0
SENDING_S: Final = 6.0
LEAST_CORES: Final = 0.1
"""Others leave at least so much: the system gives everybody a turn."""

RATE: Final = 0.2
"""By what share a rate may differ."""
BUSY_RATE: Final = 0.5
"""That of a few seconds, in which queues begin to fill, and in which a sender and four workers wait for a file store's
one writer, each for its disk: which is not simulated, and which no size is made of."""
LATENCY: Final = 0.35
"""A median; a clock of milliseconds measured its parts."""
TAIL: Final = 0.5
"""The slowest twentieth, of which a run has few. Under load nothing is said of it: on a machine that others use, too,
it is a figure of their use of the disk."""


class Check(NamedTuple):
    """`others`: cores that others used while it was measured. `unit`: of both numbers; /s, documents a second."""

    name: str
    others: float
    measured: float
    simulated: float
    tolerance: float
    unit: Literal["ms", "/s"]

    @property
    def holds(self) -> bool:
        return abs(self.simulated - self.measured) <= self.tolerance * self.measured


def checks(costs: Costs) -> Iterator[Check]:
    """Each figure beside what the simulation makes of it. The same costs give the same numbers."""
    figures, cores = costs.figures, costs.machine.cores
    through = simulate(machine(costs.file, cores - figures.through_others), backlog=BACKLOG)
    yield Check("four stages", figures.through_others, figures.through, BACKLOG / through.seconds, RATE, "/s")
    yield Check(
        "four stages beside a sender", figures.sender_others, figures.sender, _beside_sender(costs), BUSY_RATE, "/s"
    )
    s3 = simulate(machine(costs.s3, cores - figures.through_s3_others), backlog=BACKLOG_S3)
    yield Check(
        "four stages with S3", figures.through_s3_others, figures.through_s3, BACKLOG_S3 / s3.seconds, RATE, "/s"
    )
    # What runs for milliseconds now and then hardly waits for others: all cores are its own. Each at another moment of
    # a tick.
    idle = simulate(machine(costs.file, cores), [1.0037 * number for number in range(IDLE)])
    yield Check("idle, median", figures.idle_others, figures.idle_median_ms, idle.quantile(0.5) * 1_000, LATENCY, "ms")
    yield Check("idle, p95", figures.idle_others, figures.idle_p95_ms, idle.quantile(0.95) * 1_000, TAIL, "ms")
    part = simulate(with_sender(machine(costs.file, cores), costs.file), poisson(figures.part_rate, BUSY_S))
    yield Check(
        "a third of the load, median",
        figures.part_others,
        figures.part_median_ms,
        part.quantile(0.5) * 1_000,
        LATENCY,
        "ms",
    )


def alone(costs: Costs, running: Running) -> float:
    """Documents a second on that machine where nobody else uses it."""
    return BACKLOG / simulate(machine(running, costs.machine.cores), backlog=BACKLOG).seconds


def machine(running: Running, cores: float) -> Layout:
    """One process a stage and a Redis, all on the same cores, of which they use some at rest."""
    return Layout(
        cores=max(LEAST_CORES, cores - running.rest_ms / 1_000),
        steps=steps(running),
        dispatch=running.dispatcher_ms / 1_000,
        slots=one_each(),
        together=True,
        quiet=0.0,
        tick=TICK_S,
    )


def with_sender(layout: Layout, running: Running) -> Layout:
    return replace(layout, sender=sender_step(running))


def _beside_sender(costs: Costs) -> float:
    """Documents a second while one process sends as fast as it can."""
    cores = costs.machine.cores - costs.figures.sender_others
    layout = with_sender(machine(costs.file, cores), costs.file)
    most = int(SENDING_S * 1_000 / costs.file.sender_ms) + 1
    return simulate(layout, [0.0] * most).rate_until(SENDING_S)
