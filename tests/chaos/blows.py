"""Deals the blows of a plan, one after the other, and starts again what a supervisor would start again."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Final, cast

from redis.exceptions import RedisError

from .installation import Installation
from .plan import Blow
from .s3_proxy import Kind

_LOOK_S: Final = 0.1
_RESTART_S: Final = 0.5


class Blows:
    """`done`: how many, by what and whom; `restarted`: what ended by itself and was started again."""

    def __init__(self, installation: Installation, blows: Sequence[Blow], seed: int) -> None:
        self._installation = installation
        self._blows = list(blows)
        self._random = random.Random(f"{seed} victims")
        self.done: Counter[str] = Counter()
        self.restarted: Counter[str] = Counter()
        self.troubles: list[str] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="blows", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join(150)

    def left(self) -> int:
        return len(self._blows)

    def _run(self) -> None:
        begun = time.monotonic()
        while not self._end.wait(_LOOK_S):
            self._supervise()
            if self._blows and time.monotonic() - begun >= self._blows[0].at:
                try:
                    if self._deal(self._blows[0]):
                        self._blows.pop(0)
                except (AssertionError, OSError, RedisError) as error:
                    self.troubles.append(f"{self._blows.pop(0)}: {error}")

    def _supervise(self) -> None:
        processes = self._installation.processes
        for name in processes.ended():
            self.restarted[name] += 1
            processes.kill(name)
            if not self._end.wait(_RESTART_S):
                processes.start(name)

    def _deal(self, blow: Blow) -> bool:
        """False: not possible right now."""
        installation, processes = self._installation, self._installation.processes
        match blow.what:
            case "worker":
                processes.kill(blow.whom)
                processes.start(blow.whom)
            case "child":
                if not processes.kill_child(blow.whom, self._random.choice):
                    return False
            case "dispatcher" | "server":
                processes.kill(blow.what)
                processes.start(blow.what)
            case "redis":
                installation.valkey.kill()
                installation.valkey.start()
            case "wipe":
                installation.redis.flushall()
                processes.run("admin", "reindex")
            case "s3":
                assert installation.proxy is not None
                installation.proxy.inject(cast("Kind", blow.whom))
        self.done[f"{blow.what} {blow.whom}".strip()] += 1
        return True
