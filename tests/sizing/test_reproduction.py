"""Before the simulation is believed about what nobody measured, it gives what was measured."""

from __future__ import annotations

from functools import cache

from bench.sizing import costs
from bench.sizing.arrivals import poisson
from bench.sizing.costs import Costs
from bench.sizing.reproduction import BACKLOG, BUSY_RATE, LATENCY, RATE, TAIL, Check, alone, checks, machine
from bench.sizing.simulation import simulate

FOUND = costs.load()


@cache
def compared() -> list[Check]:
    """Not where this is imported, which every process does that runs any test."""
    return list(checks(FOUND))


def test_the_simulation_gives_what_was_measured() -> None:
    """From costs of single steps to figures of the whole, each within the tolerance that the table shows."""
    wrong = {
        check.name: f"measured {check.measured:.3g} {check.unit}, simulated {check.simulated:.3g}"
        for check in compared()
        if not check.holds
    }
    assert wrong == {}
    assert len(compared()) >= 6


def test_tolerances_are_those_of_a_measurement() -> None:
    """A rate within a fifth, that of a few seconds and a median within about a third, a tail within a half."""
    assert (RATE, BUSY_RATE, LATENCY, TAIL) == (0.2, 0.5, 0.35, 0.5)
    assert {check.tolerance for check in compared()} == {RATE, BUSY_RATE, LATENCY, TAIL}


def changed(stage_ms: float) -> Costs:
    """The committed costs, each child of a worker slower by so much."""
    file = FOUND.file
    stages = {
        stage: cost.model_copy(update={"child_ms": cost.child_ms + stage_ms}) for stage, cost in file.stages.items()
    }
    return FOUND.model_copy(update={"file": file.model_copy(update={"stages": stages})})


def test_costs_that_are_wrong_are_noticed() -> None:
    """With stages that take fifteen milliseconds more, rate and times are no longer those that were measured."""
    failed = {check.name for check in checks(changed(15)) if not check.holds}
    assert {"four stages", "idle, median"} <= failed


def test_the_rate_is_bounded_by_processors_and_by_the_slowest_stage() -> None:
    """Never more than either gives, and most of what the lesser one does."""
    file = FOUND.file
    left = FOUND.machine.cores - file.rest_ms / 1_000
    slowest = max(
        cost.parent_ms + cost.child_ms + cost.pause_ms + file.redis_ms / len(file.stages)
        for cost in file.stages.values()
    )
    most = min(left * 1_000 / file.document_ms, 1_000 / slowest)
    assert 0.7 * most <= alone(FOUND, file) <= most


def test_times_grow_with_the_load() -> None:
    """Half a machine more than doubles what a tenth of it takes at most in the tail; a full one has no bound."""
    layout = machine(FOUND.file, FOUND.machine.cores)
    full = simulate(layout, backlog=BACKLOG).rate()
    tails = [simulate(layout, poisson(full * share, 30)).quantile(0.95) for share in (0.1, 0.5, 0.9, 1.5)]
    assert tails == sorted(tails)
    assert tails[3] > 10 * tails[0]
