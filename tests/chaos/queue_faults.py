"""Messages that are lost, and messages that come twice: taken from the broker's lists, or put there once more."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import Final, cast

from redis import Redis
from redis.exceptions import RedisError

from workers.queues import QUEUES, queue_key

_PAUSE_S: Final = 0.001
_WAIT_S: Final = 1


class QueueFaults:
    """`wanted`: how many are to be dropped and doubled, spread over `over_s`."""

    def __init__(self, redis: Redis, prefix: str, wanted: dict[str, int], over_s: float, seed: int) -> None:
        self._redis = redis
        self._prefix = prefix
        self._wanted = wanted
        self._pause_s = max(_PAUSE_S, 0.9 * over_s / max(1, sum(wanted.values())))
        self._random = random.Random(f"{seed} queues")
        self.done: Counter[str] = Counter()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="queue-faults", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join(20)

    def is_done(self) -> bool:
        return all(self.done[what] >= count for what, count in self._wanted.items())

    def _run(self) -> None:
        pause = self._pause_s
        while not self._end.wait(pause) and not self.is_done():
            left = [what for what, count in self._wanted.items() if self.done[what] < count]
            pause = self._pause_s if self._one(self._random.choice(left)) else _PAUSE_S

    def _one(self, what: str) -> bool:
        """Takes a message as a worker does, in its turn: the lists are empty nearly all the time."""
        keys = [queue_key(self._prefix, name) for name in QUEUES]
        self._random.shuffle(keys)
        try:
            found = cast("tuple[str, str] | None", self._redis.brpop(keys, timeout=_WAIT_S))
            if found is not None and what == "doubled":
                key, message = found
                self._redis.lpush(key, message, message)
        except RedisError:
            return False
        self.done[what] += found is not None
        return found is not None
