"""Events, shared cores, queues: what the simulation of the service stands on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sizing.kernel import Cores, Process, Queue, Serial, Simulation

SECONDS = st.floats(0.001, 10)


def finish(counts: float, works: list[tuple[float, float]]) -> tuple[list[float], Cores, Simulation]:
    """When each of `works` (when it begins, how much) is done on so many cores."""
    simulation = Simulation()
    cores = Cores(simulation, counts)
    ends = [0.0] * len(works)

    def process(place: int, begin: float, work: float) -> Process:
        yield simulation.pause(begin)
        yield cores.work(work)
        ends[place] = simulation.now

    for place, (begin, work) in enumerate(works):
        simulation.start(process(place, begin, work))
    simulation.run()
    return ends, cores, simulation


def test_a_process_alone_takes_its_time() -> None:
    """However many cores there are: it runs on one."""
    assert finish(4, [(1, 2)])[0] == [3]


def test_cores_are_shared_alike() -> None:
    """Three on two cores: each gets two thirds, and more when one has ended."""
    ends, _, _ = finish(2, [(0, 2), (0, 2), (0, 4)])
    assert ends == pytest.approx([3, 3, 5])


def test_half_a_core_takes_twice_the_time() -> None:
    """What others leave of a machine may be less than one."""
    assert finish(0.5, [(0, 1)])[0] == [2]


def test_a_machine_has_cores() -> None:
    """None at all would wait for ever."""
    with pytest.raises(ValueError, match="cores"):
        Cores(Simulation(), 0)


@given(st.integers(1, 4), st.lists(st.tuples(SECONDS, SECONDS), min_size=1, max_size=12))
def test_no_work_is_lost_or_made(count: int, works: list[tuple[float, float]]) -> None:
    """Cores are busy for exactly what was asked of them, and nobody is faster than alone."""
    ends, cores, simulation = finish(count, works)
    assert cores.busy == pytest.approx(sum(work for _, work in works))
    assert cores.busy <= count * simulation.now * (1 + 1e-9)
    assert all(end >= begin + work - 1e-9 for end, (begin, work) in zip(ends, works, strict=True))


@given(st.integers(1, 3), st.lists(st.tuples(SECONDS, SECONDS), min_size=1, max_size=12))
def test_another_core_makes_nobody_later(count: int, works: list[tuple[float, float]]) -> None:
    """Where all share alike and nobody waits for another."""
    fewer, more = finish(count, works)[0], finish(count + 1, works)[0]
    assert all(with_more <= with_fewer + 1e-9 for with_more, with_fewer in zip(more, fewer, strict=True))


@given(st.lists(SECONDS, min_size=1, max_size=8))
def test_a_serial_server_takes_one_after_the_other(works: list[float]) -> None:
    """In the order in which they came, on however many cores."""
    simulation = Simulation()
    server = Serial(simulation, Cores(simulation, 8))
    ends: list[float] = []

    def process(work: float) -> Process:
        yield server.work(work)
        ends.append(simulation.now)

    for work in works:
        simulation.start(process(work))
    simulation.run()
    assert ends == pytest.approx([sum(works[: place + 1]) for place in range(len(works))])
    assert server.busy == pytest.approx(sum(works))


@given(st.lists(st.integers(), max_size=10), st.lists(SECONDS, min_size=10, max_size=10))
def test_a_queue_gives_each_item_once_and_in_order(items: list[int], pauses: list[float]) -> None:
    """Whether the taker or the item was there first."""
    simulation = Simulation()
    queue: Queue[int] = Queue(simulation)
    taken: list[int] = []

    def taker() -> Process:
        while True:
            taken.append((yield queue.take()))
            yield simulation.pause(1)

    def giver() -> Process:
        for item, pause in zip(items, pauses, strict=False):
            yield simulation.pause(pause)
            queue.put(item)

    simulation.start(taker())
    simulation.start(giver())
    simulation.run()
    assert taken == items
