"""What the ledger has, told without a change to it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from redis import Redis

from workers.ledger.records import Document, Event, Job, LedgerLost, LedgerVersion, document_of, job_of

SCHEMA_VERSION: Final = 2
"""Of the keys and fields that `lua/keys.lua` describes. Raised when a process of the earlier version would misread."""


class LedgerReader:
    """`client` decodes responses. `prefix`: of all keys of one installation.

    Every method may raise redis.RedisError. Where nothing is found, that there is a ledger is checked: LedgerLost,
    LedgerVersion.
    """

    def __init__(self, client: Redis, prefix: str = "aop") -> None:
        self._client = client
        self._prefix = prefix

    def check(self) -> None:
        """The layout. Raises LedgerLost, LedgerVersion."""
        found = cast("str | None", self._client.hget(f"{self._prefix}:meta", "schema"))
        if found is None:
            raise LedgerLost(self._prefix)
        if found != str(SCHEMA_VERSION):
            raise self._other_version(found)

    def unrecorded(self, most: int = 100) -> list[tuple[str, int]]:
        """Jobs that ended here without a worker, and of which the store has not been told; each with its end, ms."""
        found = self._client.zrange(f"{self._prefix}:unrecorded", 0, most - 1, withscores=True)
        if not found:
            self.check()
        return [(job, int(ended)) for job, ended in cast("list[tuple[str, float]]", found)]

    def job(self, identity: str) -> Job | None:
        """Raises LedgerCorrupt."""
        fields = cast("dict[str, str]", self._client.hgetall(f"{self._prefix}:job:{identity}"))
        if not fields:
            self.check()  # nothing was found: because there is no ledger?
        return job_of(identity, fields) if fields else None

    def document(self, identity: str) -> Document | None:
        """None: no save of it was accepted. Raises LedgerCorrupt."""
        fields = cast("dict[str, str]", self._client.hgetall(f"{self._prefix}:doc:{identity}"))
        if not fields:
            self.check()
        return document_of(identity, fields) if "accepted" in fields else None

    def bulk_in_flight(self) -> int:
        """How many jobs of class bulk have not ended."""
        return self._client.scard(f"{self._prefix}:bulk-inflight")

    def documents(self) -> Iterator[str]:
        """The ids of all, in no order; what is saved meanwhile may be missing."""
        self.check()
        for identity, _ in cast("Iterable[tuple[str, float]]", self._client.zscan_iter(f"{self._prefix}:docs")):
            yield identity

    def dead(self, most: int = 100) -> list[str]:
        """The dead jobs' ids, the newest first."""
        found = cast("list[str]", self._client.zrevrange(f"{self._prefix}:dead", 0, most - 1))
        if not found:
            self.check()
        return found

    def under_way(self) -> list[str]:
        """The ids of all jobs that have been claimed and have not ended, and of the dead ones."""
        pipe = self._client.pipeline()
        for name in ("messages", "leases", "retries", "dead"):
            pipe.zrange(f"{self._prefix}:{name}", 0, -1)
        found = list(itertools.chain.from_iterable(cast("list[list[str]]", pipe.execute())))
        if not found:
            self.check()
        return found

    def events(self, job: str, after: str = "0-0", wait_ms: int = 0) -> list[Event]:
        """What happened to the job after the event `after`; waits up to `wait_ms` for something to happen."""
        return self._read(f"{self._prefix}:events:{job}", after, wait_ms)

    def all_events(self, after: str = "$", wait_ms: int = 0) -> list[Event]:
        """The same of all jobs. `$`: only what happens from now on."""
        return self._read(f"{self._prefix}:events", after, wait_ms)

    def last_event(self) -> str:
        """The id of the newest event of all jobs: what comes after it is new."""
        found = cast("list[tuple[str, object]]", self._client.xrevrange(f"{self._prefix}:events", count=1))
        return found[0][0] if found else "0-0"

    def depths(self) -> Mapping[str, int]:
        """How many documents are due or waiting, and how many jobs are in each place."""
        pipe = self._client.pipeline(transaction=False)
        names = ("due", "messages", "leases", "retries", "dead")
        for name in names:
            pipe.zcard(f"{self._prefix}:{name}")
        return dict(zip(names, cast("list[int]", pipe.execute()), strict=True))

    def totals(self) -> Mapping[str, int]:
        found = cast("dict[str, str]", self._client.hgetall(f"{self._prefix}:totals"))
        return {name: int(value) for name, value in found.items()}

    def _read(self, key: str, after: str, wait_ms: int) -> list[Event]:
        answer = self._client.xread({key: after}, count=100, block=wait_ms or None)
        if not answer:
            self.check()
        streams = cast("Sequence[tuple[str, list[tuple[str, dict[str, str]]]]]", answer or ())
        return [
            Event(entry, fields["job"], fields["document"], fields["event"], fields["detail"])
            for _, entries in streams
            for entry, fields in entries
        ]

    def _other_version(self, found: str) -> LedgerVersion:
        return LedgerVersion(
            f"the ledger under {self._prefix!r} has layout {found}, this version of aop uses {SCHEMA_VERSION}: "
            "stop the processes of the other version, or rebuild the ledger (aop admin reindex)"
        )
