"""Discrete events: processes that are generators, cores that all who run share alike, queues.

A process yields what it waits for, and goes on with what that gives. Times in seconds. The usual libraries know no
processor sharing, which is what a machine with fewer cores than processes does.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")

Resume: TypeAlias = Callable[[Any], None]
"""Called once, with what was waited for: another type for each kind of waiting."""
Wait: TypeAlias = Callable[[Resume], None]
Process: TypeAlias = Generator[Wait, Any, None]


class Simulation:
    """`now`: seconds since the start. Events of one moment happen in the order in which they were asked for."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0

    def at(self, time: float, do: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._events, (max(time, self.now), self._count, do))

    def start(self, process: Process) -> None:
        def resume(value: object) -> None:
            try:
                wait = process.send(value)
            except StopIteration:
                return
            wait(resume)

        self.at(self.now, lambda: resume(None))

    def pause(self, seconds: float) -> Wait:
        return lambda resume: self.at(self.now + seconds, lambda: resume(None))

    def run(self, until: float = float("inf")) -> None:
        """Until nothing is left to happen, or that time."""
        events = self._events
        while events and events[0][0] <= until:
            self.now, _, do = heapq.heappop(events)
            do()


class Cores:
    """Processors that all running processes share alike, none getting more than one. `count` may be a fraction: what
    others leave of them."""

    def __init__(self, simulation: Simulation, count: float) -> None:
        if count <= 0:
            raise ValueError("a machine has cores")
        self.count = count
        self.busy = 0.0
        """Seconds of processors that were used."""
        self._simulation = simulation
        self._running: list[tuple[float, int, Resume]] = []
        self._attained = 0.0  # by each who ran all the time
        self._since = 0.0
        self._turn = 0
        self._asked = 0

    def work(self, seconds: float) -> Wait:
        """So much time of one processor."""

        def wait(resume: Resume) -> None:
            self._advance()
            self._asked += 1
            heapq.heappush(self._running, (self._attained + seconds, self._asked, resume))
            self._plan()

        return wait

    def _speed(self) -> float:
        return min(1.0, self.count / len(self._running)) if self._running else 0.0

    def _advance(self) -> None:
        passed = self._simulation.now - self._since
        speed = self._speed()
        self._attained += passed * speed
        self.busy += passed * speed * len(self._running)
        self._since = self._simulation.now

    def _plan(self) -> None:
        self._turn += 1
        if self._running:
            turn = self._turn
            left = max(0.0, self._running[0][0] - self._attained)
            self._simulation.at(self._simulation.now + left / self._speed(), lambda: self._done(turn))

    def _done(self, turn: int) -> None:
        if turn != self._turn:
            return  # others came or went meanwhile: it was planned anew
        self._advance()
        _, _, resume = heapq.heappop(self._running)
        self._plan()
        resume(None)


class Queue(Generic[T]):
    """First in, first out; whoever has waited longest gets the next one."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._items: deque[T] = deque()
        self._waiting: deque[Resume] = deque()

    def put(self, item: T) -> None:
        if self._waiting:
            resume = self._waiting.popleft()
            self._simulation.at(self._simulation.now, lambda: resume(item))
        else:
            self._items.append(item)

    def take(self) -> Wait:
        def wait(resume: Resume) -> None:
            if self._items:
                item = self._items.popleft()
                self._simulation.at(self._simulation.now, lambda: resume(item))
            else:
                self._waiting.append(resume)

        return wait

    def __len__(self) -> int:
        return len(self._items)


class Serial:
    """A process that serves one request after the other, on some cores: Redis."""

    def __init__(self, simulation: Simulation, cores: Cores) -> None:
        self.busy = 0.0
        """Seconds of processors that it used."""
        self._requests: Queue[tuple[float, Resume]] = Queue(simulation)
        self._cores = cores
        simulation.start(self._serve())

    def work(self, seconds: float) -> Wait:
        return lambda resume: self._requests.put((seconds, resume))

    def _serve(self) -> Process:
        while True:
            seconds, resume = yield self._requests.take()
            yield self._cores.work(seconds)
            self.busy += seconds
            resume(None)
