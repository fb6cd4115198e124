"""What the tests of intake, reindex and retention share: processes that die at a step, and workers in one breath."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from redis import Redis

from pipeline.stores.memory import MemoryStore
from workers import clock, publishing
from workers.archive import Archive
from workers.ledger.ledger import Ledger
from workers.ledger.records import Job, Lease, Message
from workers.queues import QUEUES, queue_key
from workers.records import Outcome, Published

T = TypeVar("T")


class Died(BaseException):
    """The process was killed."""


class MortalStore(MemoryStore):
    """A store whose process dies before or after the write with a number: `left` writes are still done.

    `after`: the write takes place, and nobody hears of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.left = -1
        self.after = False

    def put_blob(self, data: bytes) -> str:
        return self._mortal(lambda: super(MortalStore, self).put_blob(data))

    def set_pointer(self, name: str, value: bytes, expected: bytes | None, *, lasting: bool = True) -> bool:
        return self._mortal(lambda: super(MortalStore, self).set_pointer(name, value, expected, lasting=lasting))

    def _mortal(self, write: Callable[[], T]) -> T:
        if self.left == 0:
            if self.after:
                write()
            raise Died
        self.left -= 1
        return write()


def wipe(redis: Redis, ledger: Ledger) -> None:
    """At one moment, as FLUSHALL is; only what belongs to this ledger."""
    script = "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end"
    redis.eval(script, 0, f"{ledger._prefix}:*")


def publish(archive: Archive, job: Job, status: str = "succeeded") -> Outcome:
    """What the verify worker does in the store for a job that compiled, or failed to."""
    retired = job.action == "retire"
    outcome = Outcome(
        document=job.document,
        sequence=job.sequence,
        round=job.round,
        job=job.id,
        status="retired" if retired else "succeeded" if status == "succeeded" else "failed",
        at_ms=1,
        name="" if retired else f"name of {job.document}",
    )
    if outcome.status != "failed":
        archive.publish(Published(**outcome.model_dump(by_alias=False), retired=retired))
    archive.put_outcome(outcome)
    return outcome


def work(ledger: Ledger, archive: Archive, messages: Iterable[Message]) -> None:
    """Every stage of each job, to its end."""
    following = {"parse": "resolve", "resolve": "generate", "generate": "verify"}
    waiting = list(messages)
    while waiting:
        message = waiting.pop()
        lease = ledger.begin(message.job, message.stage, "w")
        if not isinstance(lease, Lease):
            continue
        if lease.stage == "verify":
            publish(archive, lease.job)
            ledger.complete(lease, "succeeded", "{}")
            continue
        sent = ledger.advance(lease, following[lease.stage], "{}")  # type: ignore[arg-type]  # a stage
        if sent is not None:
            waiting.append(sent)


def in_order(ledger: Ledger, messages: Iterable[Message]) -> list[Message]:
    """By what they are about: of the same millisecond, the ledger's own order is that of random ids."""

    def place(message: Message) -> tuple[str, int, int]:
        job = ledger.job(message.job)
        assert job is not None
        return (job.document, job.sequence, job.round)

    return sorted(messages, key=place)


def record(ledger: Ledger, archive: Archive) -> None:
    """What the dispatcher does with what ended in the ledger alone."""
    for identity, ended in ledger.unrecorded():
        job = ledger.job(identity)
        if job is not None:
            publishing.record_end(archive, job)
        ledger.recorded(identity, ended)


def empty_queues(ledger: Ledger) -> None:
    """What was on them has been taken, or is lost. What is sent from now on is sent in a later millisecond: by those
    the ledger tells what has left its queue, and else a history would depend on how fast it runs."""
    client = ledger._client
    client.delete(*(queue_key(ledger._prefix, queue) for queue in QUEUES))
    moment = clock.shared_now_ms(client)
    while clock.shared_now_ms(client) == moment:
        pass


def settle(ledger: Ledger, archive: Archive) -> None:
    """Until nothing is left to do."""
    for _ in range(100):
        empty_queues(ledger)
        messages = ledger.claim() + [message for message, _ in ledger.reconcile()]
        work(ledger, archive, messages)
        record(ledger, archive)
        if not messages and not ledger.unrecorded():
            return
    raise AssertionError("there is always something to do")
