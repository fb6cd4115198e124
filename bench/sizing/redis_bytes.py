"""What Redis keeps for a document, a save that waits, a job that has ended; and what reading the index takes."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Final, cast

from bench.ledger_memory import DIGEST, NOTE
from bench.sizing.costs import Index, RedisBytes
from bench.sizing.processes import processor_ms
from workers.ledger.ledger import Ledger, Timing, new_id
from workers.ledger.records import STAGES, Lease, Stage
from workers.local.valkey import Valkey
from workers.memory import resident_bytes
from workers.project import LedgerProject
from workers.queues import QUEUES, queue_key

JOBS: Final = 1_500
FULL_STREAM: Final = 1_800
"""So many jobs fill the stream of all jobs' events, which keeps a fixed number."""
INDEXED: Final = 100_000
_LONG_MS: Final = 86_400_000
_SHORT_MS: Final = 1
_DETAIL: Final = (
    f'{{"status":"succeeded","text":"{DIGEST}","catalog":"{DIGEST}","output":"{DIGEST}","errors":0,"warnings":3}}'
)


def measure_bytes(folder: Path) -> RedisBytes:
    """In a Valkey of its own."""
    with Valkey(folder / "bytes", persistent=False, bound=True) as server:
        mill = _Mill(server)
        mill.run("warm", FULL_STREAM, _SHORT_MS)
        empty = mill.used()
        mill.run("document", JOBS, _SHORT_MS)
        once = mill.used()
        mill.run("document", JOBS, _LONG_MS)
        kept = mill.used()
        mill.save("document", JOBS, _LONG_MS)
        mill.ledger.claim(JOBS)
        waiting = mill.used()
        return RedisBytes(
            empty=empty - FULL_STREAM * (once - empty) / JOBS,
            document=(once - empty) / JOBS,
            ended_job=(kept - once) / JOBS,
            waiting_job=(waiting - kept) / JOBS,
        )


class _Mill:
    """Takes saves through the ledger."""

    def __init__(self, server: Valkey) -> None:
        self._redis = server.client()
        self.ledger = Ledger(self._redis, "sizing", Timing(quiet=0, longest_wait=0))
        self.ledger.open(fresh=True)
        self._saves = 0

    def save(self, kind: str, count: int, keep_ms: int) -> None:
        self.ledger.timing = Timing(quiet=0, longest_wait=0, keep_job=keep_ms, keep_once=keep_ms)
        for number in range(count):
            document, key = f"documents/{kind}/{number:05}.md", f"key-{self._saves}"
            self._saves += 1
            found = self.ledger.reserve(document, source="bench", idempotency_key=key)
            self.ledger.accept(
                document,
                sequence=found.sequence,
                job=new_id(),
                source="bench",
                revision=f"r{found.sequence}",
                idempotency_key=key,
            )
            self.ledger.index(document, found.sequence, f"{kind} {number}", ())

    def run(self, kind: str, count: int, keep_ms: int) -> None:
        """To their end."""
        self.save(kind, count, keep_ms)
        while claimed := self.ledger.claim(500):
            for message in claimed:
                for stage, following in pairwise(STAGES):
                    self.ledger.advance(self._begin(message.job, stage), following, NOTE)
                self.ledger.complete(self._begin(message.job, STAGES[-1]), "succeeded", _DETAIL)
        # Messages that nobody takes here.
        self._redis.delete(*(queue_key("sizing", queue) for queue in QUEUES))

    def _begin(self, job: str, stage: Stage) -> Lease:
        lease = self.ledger.begin(job, stage, "bench")
        if not isinstance(lease, Lease):
            raise RuntimeError(f"{stage} of {job} may not begin: {lease}")
        return lease

    def used(self) -> int:
        """Bytes, after all that has expired was met."""
        time.sleep(0.01)
        for key in self._redis.scan_iter("sizing:*", count=5_000):
            self._redis.exists(key)
        return cast("dict[str, int]", self._redis.info("memory"))["used_memory"]


def measure_index(folder: Path) -> Index:
    """As a dispatcher reads it, which looks for callers whose answers have changed."""
    with Valkey(folder / "index", persistent=False, bound=True) as server:
        redis = server.client()
        ledger = Ledger(redis, "sizing")
        ledger.open(fresh=True)
        rows = {f"部門/{n % 97}/手順書-{n:06}.md": json.dumps([1, f"手順書 {n}", []]) for n in range(INDEXED)}
        pipe = redis.pipeline(transaction=False)
        for document, row in rows.items():
            pipe.hset("sizing:index", document, row)
        pipe.execute()
        del rows, pipe
        before, memory = processor_ms(server.pid or 0), resident_bytes()
        begun = time.process_time()
        project = LedgerProject(ledger)
        if len(project.documents) != INDEXED:
            raise RuntimeError("the index is not what was written")
        took = (time.process_time() - begun) * 1_000
        return Index(
            redis_ms=(processor_ms(server.pid or 0) - before) / INDEXED,
            reader_ms=took / INDEXED,
            reader_kib=max(0, resident_bytes() - memory) / 1_024 / INDEXED,
        )
