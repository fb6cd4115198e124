"""The simulated service: nothing is lost, nothing is busier than always, times add up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sizing.arrivals import poisson, with_burst
from bench.sizing.simulation import Layout, Step, one_each, simulate
from workers.ledger.records import STAGES, JobClass, Stage

MILLISECONDS = st.floats(0.0005, 0.01)
STEPS = st.builds(
    Step, before=MILLISECONDS, after=MILLISECONDS, pause=MILLISECONDS, redis=MILLISECONDS, store=MILLISECONDS
)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Any service with all stages, on few cores or many."""
    slots: dict[tuple[Stage, JobClass], int] = {(stage, "interactive"): draw(st.integers(1, 3)) for stage in STAGES}
    if draw(st.booleans()):
        slots |= {(stage, "bulk"): draw(st.integers(1, 3)) for stage in STAGES}
    return Layout(
        cores=draw(st.sampled_from([0.3, 1, 2, 8])),
        steps={stage: draw(STEPS) for stage in STAGES},
        dispatch=draw(MILLISECONDS),
        slots=slots,
        together=draw(st.booleans()),
        sender=draw(st.none() | STEPS),
        senders=draw(st.integers(1, 3)),
        dispatchers=draw(st.integers(1, 2)),
        quiet=draw(st.sampled_from([0.0, 0.5])),
        tick=draw(st.sampled_from([0.01, 0.2])),
        window=draw(st.integers(1, 20)),
    )


SAVES = st.lists(st.floats(0, 3), max_size=20).map(sorted)


@given(layouts(), SAVES, st.integers(0, 20), st.integers(0, 10))
def test_every_job_ends_once(layout: Layout, saves: list[float], recompiles: int, backlog: int) -> None:
    """And none before it was accepted."""
    outcome = simulate(layout, saves, recompiles, backlog)
    classes = [job.job_class for job in outcome.jobs]
    assert classes.count("interactive") == len(saves) + backlog
    assert classes.count("bulk") == recompiles
    assert all(job.took > 0 for job in outcome.jobs)
    assert [job.ended for job in outcome.jobs] == sorted(job.ended for job in outcome.jobs)


@given(layouts(), SAVES, st.integers(0, 20), st.integers(1, 10))
def test_nothing_is_busier_than_always(layout: Layout, saves: list[float], recompiles: int, backlog: int) -> None:
    """Cores, Redis, and every stage's processes."""
    outcome = simulate(layout, saves, recompiles, backlog)
    shares = [outcome.cores, outcome.redis, *outcome.slots.values()]
    assert all(0 <= share <= 1 + 1e-9 for share in shares)


@given(layouts(), SAVES, st.integers(0, 20), st.integers(1, 10))
def test_littles_law(layout: Layout, saves: list[float], recompiles: int, backlog: int) -> None:
    """Jobs that live, on average, are as many as come in a second, times how long each lives."""
    outcome = simulate(layout, saves, recompiles, backlog)
    rate, took = len(outcome.jobs) / outcome.seconds, sum(job.took for job in outcome.jobs) / len(outcome.jobs)
    assert outcome.live == pytest.approx(rate * took)


@given(layouts())
def test_more_cores_never_lower_the_rate(layout: Layout) -> None:
    """But for the chance of who happens to meet whom: processes that wait for one another may meet worse."""
    few = simulate(layout, backlog=60).seconds
    many = simulate(replace(layout, cores=layout.cores * 2), backlog=60).seconds
    assert many <= few * 1.1


@given(layouts(), SAVES, st.integers(0, 20))
def test_the_same_is_simulated_alike(layout: Layout, saves: list[float], recompiles: int) -> None:
    """There is no chance in it but that of the arrivals, which come from a seed."""
    first, second = (simulate(layout, saves, recompiles, 1) for _ in range(2))
    assert first == second
    assert poisson(10, 5) == poisson(10, 5) != poisson(10, 5, seed=2)


@given(layouts(), st.integers(1, 40))
def test_recompiles_stay_in_their_window(layout: Layout, recompiles: int) -> None:
    """So on average no more live than that."""
    assert simulate(layout, recompiles=recompiles).live <= layout.window + 1e-9


def plain(**changes: object) -> Layout:
    """Ten milliseconds a stage, on cores enough."""
    step = Step(before=0.01, after=0.0, pause=0.0, redis=0.0, store=0.0)
    layout = Layout(8, dict.fromkeys(STAGES, step), 0.0, one_each(), together=False, quiet=2.0, tick=0.2)
    return replace(layout, **changes)  # type: ignore[arg-type]  # fields by name


def test_a_single_save_takes_quiet_time_a_tick_and_its_stages() -> None:
    """Saved at 0.1 s, due at 2.1 s, seen at the tick of 2.2 s."""
    assert simulate(plain(), [0.1]).quantile(0.5) == pytest.approx(2.1 + 0.04)


def test_one_process_a_stage_gives_the_rate_of_the_slowest() -> None:
    """Where cores are enough; and two of it give twice that."""
    slow = Step(before=0.02, after=0.0, pause=0.0, redis=0.0, store=0.0)
    layout = plain(steps={**plain().steps, "verify": slow})
    assert simulate(layout, backlog=300).rate() == pytest.approx(50, rel=0.02)
    twice = replace(layout, slots={**layout.slots, ("verify", "interactive"): 2})
    assert simulate(twice, backlog=300).rate() == pytest.approx(100, rel=0.02)


def test_few_cores_give_the_rate_of_all_work() -> None:
    """Forty milliseconds a document on two cores."""
    assert simulate(plain(cores=2, together=True), backlog=300).rate() == pytest.approx(50, rel=0.02)


def test_a_window_bounds_recompiles() -> None:
    """Four at once, each 40 ms, the next ones at the next tick of 200 ms."""
    assert simulate(plain(window=4), recompiles=200).rate() == pytest.approx(20, rel=0.05)


def test_saves_do_not_wait_for_recompiles_that_have_workers_of_their_own() -> None:
    """A thousand are under way."""
    apart = plain(slots={**one_each(), **{(stage, "bulk"): 1 for stage in STAGES}}, window=1_000)
    assert simulate(apart, [1.0], recompiles=1_000).quantile(1.0) < 2.3
    assert simulate(plain(window=1_000), [1.0], recompiles=1_000).quantile(1.0) > 5


def test_as_theory_has_it_for_one_server() -> None:
    """Arrivals by chance at one server of a fixed time: the wait is that of M/D/1."""
    step = Step(before=0.01, after=0.0, pause=0.0, redis=0.0, store=0.0)
    nothing = Step(before=0.0, after=0.0, pause=0.0, redis=0.0, store=0.0)
    layout = plain(steps={**dict.fromkeys(STAGES, nothing), "parse": step}, quiet=0.0, tick=1e-6)
    outcome = simulate(layout, poisson(70, 200))
    mean = sum(job.took for job in outcome.jobs) / len(outcome.jobs)
    assert mean == pytest.approx(0.01 + 0.7 * 0.01 / (2 * 0.3), rel=0.05)


def test_a_burst_is_added_in_order() -> None:
    """All within a second."""
    saves = with_burst(poisson(5, 10), 4, 100)
    assert saves == sorted(saves)
    assert sum(4 <= save < 5 for save in saves) >= 100
