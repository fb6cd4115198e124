"""The ledger: every transition of jobs and documents, each one atomic step of a Lua file beside this module."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, cast

from redis import Redis

from workers.ledger.records import (
    Acceptance,
    Accepted,
    Action,
    Beat,
    Begun,
    Document,
    Event,
    Job,
    JobClass,
    Lease,
    LedgerCorrupt,
    Message,
    Outcome,
    Refusal,
    Stage,
    document_of,
    job_of,
)

SCHEMA_VERSION: Final = 1
"""Of the keys and fields that `lua/keys.lua` describes. Raised when a process of the earlier version would misread."""

_LUA: Final = Path(__file__).parent / "lua"


class LedgerVersion(Exception):
    """The ledger in this Redis belongs to another version of aop. The message says which, and what to do."""


@dataclass(frozen=True, slots=True)
class Timing:
    """All in ms. `quiet` after a save, at most `longest_wait` after the first one. `lease`: how long a worker may be
    silent. `message_lost`: after which a message that nobody began is sent again; longer than a queue is ever full is
    no matter, since a second message runs nothing. `patience`: a document that has gone unpublished for longer keeps
    its running job when a newer save comes. `keep_once`, `keep_job`: of idempotency keys and ended jobs."""

    quiet: int = 2_000
    longest_wait: int = 10_000
    lease: int = 30_000
    message_lost: int = 60_000
    patience: int = 60_000
    keep_once: int = 86_400_000
    keep_job: int = 86_400_000
    most_attempts: int = 5


@cache
def _source(name: str) -> str:
    parts = (_LUA / "keys.lua", _LUA / f"{name}.lua")
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)


class Ledger:
    """`client` decodes responses. `prefix`: of all keys of one installation.

    Every method is one round trip and may raise redis.RedisError; what it changed then is unknown, and asking again is
    safe: a transition that happened already answers so.
    """

    def __init__(self, client: Redis, prefix: str = "aop", timing: Timing | None = None) -> None:
        self._client = client
        self._prefix = prefix
        self.timing = timing or Timing()
        self._scripts = {path.stem: client.register_script(_source(path.stem)) for path in _transitions()}

    def open(self) -> None:
        """Check the layout, and write its version where there is none. Raises LedgerVersion."""
        key = f"{self._prefix}:meta"
        self._client.hsetnx(key, "schema", str(SCHEMA_VERSION))
        found = cast("str", self._client.hget(key, "schema"))
        if found != str(SCHEMA_VERSION):
            raise LedgerVersion(
                f"the ledger under {self._prefix!r} has layout {found}, this version of aop uses {SCHEMA_VERSION}: "
                "stop the processes of the other version, or rebuild the ledger (aop admin reindex)"
            )

    # ---------------------------------------------------------------------------------------------- saves

    def accept(
        self,
        document: str,
        *,
        text: str,
        source: str,
        revision: str = "",
        rank: str = "",
        action: Action = "compile",
        idempotency_key: str = "",
        trace: str = "",
    ) -> Accepted:
        """Give a stored save its place in the document's order. `rank`: by which revisions of `source` sort, "" where
        they have no order: then only equal ones are told apart."""
        timing = self.timing
        job = new_id()
        answer, job, sequence = self._run(
            "accept",
            (document, source, revision, rank, job, action, text, trace, idempotency_key),
            (timing.quiet, timing.longest_wait, timing.keep_once, timing.keep_job),
        )
        return Accepted(cast("Acceptance", answer), job, int(sequence or 0))

    def claim(self, most: int = 100) -> list[Message]:
        """Begin the jobs of documents whose quiet time is over. The caller sends the messages."""
        found = self._run("claim", (), (most, self.timing.patience))
        return [
            Message(job, cast("Stage", stage), cast("JobClass", job_class))
            for job, stage, job_class, _ in _in_fours(found)
        ]

    # --------------------------------------------------------------------------------------------- stages

    def begin(self, job: str, stage: Stage, worker: str) -> Begun:
        """Raises LedgerCorrupt."""
        token = secrets.token_hex(16)
        timing = self.timing
        numbers = (timing.lease, timing.most_attempts, timing.keep_job)
        answer, *fields = self._run("begin", (job, stage, token, worker), numbers)
        if answer != "run":
            return cast("Refusal", answer)
        return Lease(job_of(job, dict(zip(fields[::2], fields[1::2], strict=True))), stage, token)

    def heartbeat(self, lease: Lease) -> Beat:
        answer = self._run("heartbeat", (lease.job.id, lease.token), (self.timing.lease,))
        return cast("Beat", answer[0])

    def advance(self, lease: Lease, stage: Stage, note: str) -> Message | None:
        """The stage is done and `stage` is next. None: the lease is lost, or the job no longer wanted."""
        answer = self._run("advance", (lease.job.id, lease.token, stage, note), (self.timing.keep_job,))
        return Message(lease.job.id, stage, cast("JobClass", answer[1])) if answer[0] == "sent" else None

    def complete(self, lease: Lease, outcome: Outcome, detail: str) -> bool:
        """The job has ended; `detail` is JSON. False: the lease is lost, and whoever has it now will end the job."""
        answer = self._run("complete", (lease.job.id, lease.token, outcome, detail), (self.timing.keep_job,))
        return answer[0] == "ended"

    def release(self, lease: Lease, cause: str, delay_ms: int) -> bool:
        """The attempt failed for a reason of ours. True: it was the last one, and the job is dead."""
        timing = self.timing
        numbers = (delay_ms, timing.most_attempts, timing.keep_job)
        return self._run("release", (lease.job.id, lease.token, cause), numbers)[0] == "dead"

    # ------------------------------------------------------------------------------------------ what was lost

    def reconcile(self, most: int = 100) -> list[tuple[Message, str]]:
        """The messages to send again, each with its reason: `lease`, `message` or `retry`."""
        timing = self.timing
        found = self._run("reconcile", (), (most, timing.message_lost, timing.most_attempts, timing.keep_job))
        return [
            (Message(job, cast("Stage", stage), cast("JobClass", job_class)), reason)
            for job, stage, job_class, reason in _in_fours(found)
        ]

    def replay(self, job: str) -> Message | None:
        """A dead job again, from the stage where it died. None: it is not among the dead."""
        found = self._run("replay", (job,), ())
        return Message(found[0], cast("Stage", found[1]), cast("JobClass", found[2])) if found else None

    def drop(self, job: str) -> bool:
        """Give a dead job up. False: it is not among the dead."""
        return bool(self._run_number("drop", (job,), (self.timing.keep_job,)))

    # ---------------------------------------------------------------------------------------------- reading

    def job(self, identity: str) -> Job | None:
        """Raises LedgerCorrupt."""
        fields = cast("dict[str, str]", self._client.hgetall(f"{self._prefix}:job:{identity}"))
        return job_of(identity, fields) if fields else None

    def document(self, identity: str) -> Document | None:
        """Raises LedgerCorrupt."""
        fields = cast("dict[str, str]", self._client.hgetall(f"{self._prefix}:doc:{identity}"))
        return document_of(identity, fields) if fields else None

    def documents(self) -> Iterator[str]:
        """The ids of all, in no order; what is saved meanwhile may be missing."""
        for identity, _ in cast("Iterable[tuple[str, float]]", self._client.zscan_iter(f"{self._prefix}:docs")):
            yield identity

    def dead(self, most: int = 100) -> list[str]:
        """The dead jobs' ids, the newest first."""
        return cast("list[str]", self._client.zrevrange(f"{self._prefix}:dead", 0, most - 1))

    def events(self, job: str, after: str = "0-0", wait_ms: int = 0) -> list[Event]:
        """What happened to the job after the event `after`; waits up to `wait_ms` for something to happen."""
        return self._read(f"{self._prefix}:events:{job}", after, wait_ms)

    def all_events(self, after: str = "$", wait_ms: int = 0) -> list[Event]:
        """The same of all jobs. `$`: only what happens from now on."""
        return self._read(f"{self._prefix}:events", after, wait_ms)

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

    # -------------------------------------------------------------------------------------------- plumbing

    def _read(self, key: str, after: str, wait_ms: int) -> list[Event]:
        answer = self._client.xread({key: after}, count=100, block=wait_ms or None)
        streams = cast("Sequence[tuple[str, list[tuple[str, dict[str, str]]]]]", answer or ())
        return [
            Event(entry, fields["job"], fields["document"], fields["event"], fields["detail"])
            for _, entries in streams
            for entry, fields in entries
        ]

    def _run(self, name: str, texts: Sequence[str], numbers: Sequence[int]) -> list[str]:
        return cast("list[str]", self._scripts[name](keys=[self._prefix], args=[*texts, *numbers]))

    def _run_number(self, name: str, texts: Sequence[str], numbers: Sequence[int]) -> int:
        return cast("int", self._scripts[name](keys=[self._prefix], args=[*texts, *numbers]))


def new_id() -> str:
    """A job's id: sorts by the time when it was made (to the ms), and cannot be guessed."""
    return f"{time.time_ns() // 1_000_000:011x}{secrets.token_hex(8)}"


def _transitions() -> list[Path]:
    return sorted(path for path in _LUA.glob("*.lua") if path.stem != "keys")


def _in_fours(parts: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    if len(parts) % 4:
        raise LedgerCorrupt(f"a transition answered {len(parts)} values, not fours")
    for index in range(0, len(parts), 4):
        yield parts[index], parts[index + 1], parts[index + 2], parts[index + 3]
