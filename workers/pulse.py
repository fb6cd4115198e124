"""A process's sign of life: its probe files, and its name among the consumers of its queues.

Both come from the loop that does the work, so a loop that hangs gives none.
"""

from __future__ import annotations

import json
import os
import socket
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from redis import Redis
from redis.exceptions import RedisError

from workers.clock import shared_now_ms
from workers.probes import ALIVE, READY, Probe

BEAT_S: Final = 5.0
FORGOTTEN_S: Final = 20.0
"""After so long without a beat nobody counts a consumer any more."""


@dataclass(frozen=True, slots=True)
class Consumers:
    """Who takes messages from which queues: hash P:consumers, name -> JSON [time of the last beat in ms, queues]."""

    redis: Redis
    prefix: str

    @property
    def _key(self) -> str:
        return f"{self.prefix}:consumers"

    def beat(self, name: str, queues: Sequence[str]) -> None:
        """Raises RedisError."""
        self.redis.hset(self._key, name, json.dumps([shared_now_ms(self.redis), *queues]))

    def leave(self, name: str) -> None:
        """Raises RedisError."""
        self.redis.hdel(self._key, name)

    def count(self, queues: Iterable[str]) -> dict[str, int]:
        """How many there are of each queue; the forgotten ones are dropped. Raises RedisError."""
        found: Counter[str] = Counter(dict.fromkeys(queues, 0))
        now = shared_now_ms(self.redis)
        for name, value in cast("dict[str, str]", self.redis.hgetall(self._key)).items():
            last, *taken = json.loads(value)
            if now - last > FORGOTTEN_S * 1_000:
                self.redis.hdel(self._key, name)
            else:
                found.update(taken)
        return dict(found)


class Pulse:
    """One process's. `queues`: those that it takes messages from, none for one that takes none."""

    def __init__(self, consumers: Consumers, probes: Path | None, role: str, queues: Sequence[str] = ()) -> None:
        self._consumers = consumers
        self._queues = queues
        self._alive = Probe(probes, ALIVE)
        self._ready = Probe(probes, READY)
        self.name = f"{role}@{socket.gethostname()}:{os.getpid()}"

    def beat(self) -> None:
        """Alive in any case, ready where Redis answers. Raises OSError where a probe's file cannot be written."""
        self._alive.touch()
        try:
            if self._queues:
                self._consumers.beat(self.name, self._queues)
            else:
                self._consumers.redis.ping()
        except RedisError:
            self._ready.clear()
        else:
            self._ready.touch()

    def end(self) -> None:
        self._ready.clear()
        self._alive.clear()
        try:
            self._consumers.leave(self.name)
        except RedisError:
            return  # it is forgotten by itself
