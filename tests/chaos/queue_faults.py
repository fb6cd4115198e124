"""Messages that are lost, and messages that come twice: taken from the broker's lists, or put there once more."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from workers.queues import QUEUES, queue_key

_PAUSE_S: Final = 0.01
_DROP: Final = "return redis.call('LPOP', KEYS[1]) and 1 or 0"
_DOUBLE: Final = """
local found = redis.call('LINDEX', KEYS[1], 0)
if not found then return 0 end
redis.call('LPUSH', KEYS[1], found)
return 1
"""


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
            # What found nothing in the lists is tried again at once: they are empty nearly all the time.
            pause = self._pause_s if self._one(self._random.choice(left)) else _PAUSE_S

    def _one(self, what: str) -> bool:
        script = _DROP if what == "dropped" else _DOUBLE
        names = list(QUEUES)
        self._random.shuffle(names)
        try:
            for name in names:
                if self._redis.eval(script, 1, queue_key(self._prefix, name)):
                    self.done[what] += 1
                    return True
        except RedisError:
            return False
        return False
