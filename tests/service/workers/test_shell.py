"""Given a message for a stage, when the stage succeeds, fails or never ends, then the ledger knows, nothing is lost.

The ledger and the store are real; the stages are the tests' own, because real ones do not fail to order.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from structlog.testing import capture_logs

from pipeline.stores.protocol import StoreError
from workers.catalogs import CatalogMissing
from workers.context import Context, open_context
from workers.faults import PAUSES, SaveMissing, cause_of, kind_of
from workers.fetching.faults import FetchError
from workers.handoff import Note
from workers.heartbeat import Heart, Held
from workers.ledger.records import Job, Lease, LedgerLost, Message
from workers.publishing import Ending
from workers.queues import queue_key
from workers.records import Outcome
from workers.settings import Settings
from workers.shell import Shell
from workers.stages.step import Next, Run, Step

from ..celery_messages import take_all
from ..waiting import until
from .given import claimed_job

NOTE = Note(catalog="c" * 64, text="e" * 64)


@dataclass
class Stage:
    """A parse stage that does as it is told."""

    context: Context

    def sent(self) -> list[Message]:
        """What is on the queues; it is taken from them."""
        return take_all(self.context.redis, self.context.settings.redis_prefix)

    def run(self, job: str, act: Callable[[Context, Lease], Step], heart: Heart | None = None) -> str:
        stages: dict[str, Run] = {"parse": act}
        heart = Heart(self.context.ledger) if heart is None else heart
        self.sent()  # the worker has taken the message
        return Shell(self.context, heart, "test", stages).run(job, "parse")  # type: ignore[arg-type]  # one of four


@pytest.fixture
def stage(service_settings: Settings) -> Iterator[Stage]:
    settings = service_settings.model_copy(update={"lease_ms": 1_000})
    context = open_context(settings)
    context.ledger.open(fresh=True)
    yield Stage(context)
    context.close()


def go_on(_context: Context, _lease: Lease) -> Step:
    return Next("resolve", NOTE)


def fail(error: BaseException) -> Callable[[Context, Lease], Step]:
    def act(_context: Context, _lease: Lease) -> Step:
        raise error

    return act


def end(_context: Context, lease: Lease) -> Step:
    job = lease.job
    record = Outcome(document=job.document, sequence=job.sequence, job=job.id, status="failed", at_ms=1)
    return Ending("failed", record)


def job_of(stage: Stage, identity: str) -> Job:
    found = stage.context.ledger.job(identity)
    assert found is not None
    return found


def test_a_stage_that_is_done_hands_on(stage: Stage) -> None:
    """The next stage's message is on its queue, and the note is in the ledger."""
    job = claimed_job(stage.context.ledger)
    assert stage.run(job, go_on) == "sent"
    assert stage.sent() == [Message(job, "resolve", "interactive")]
    found = job_of(stage, job)
    assert (found.state, found.attempts) == ("resolving", 0)
    assert found.notes == {"parse": NOTE.model_dump_json()}


def test_an_ending_ends_the_job(stage: Stage) -> None:
    """With its outcome as JSON; no message follows."""
    job = claimed_job(stage.context.ledger)
    assert stage.run(job, end) == "ended"
    assert stage.sent() == []
    assert job_of(stage, job).state == "failed"
    assert '"status": "failed"' in job_of(stage, job).outcome


def test_a_second_message_runs_nothing(stage: Stage) -> None:
    """Late, twice, for another stage, for a job that is forgotten: refusals are normal ends."""
    job = claimed_job(stage.context.ledger)
    runs: list[str] = []

    def act(_context: Context, lease: Lease) -> Step:
        runs.append(lease.job.id)
        return Next("resolve", NOTE)

    assert stage.run(job, act) == "sent"
    assert stage.run(job, act) == "elsewhere"
    assert stage.run("0" * 27, act) == "gone"
    assert runs == [job]


def test_a_message_during_the_stage_runs_nothing(stage: Stage) -> None:
    """The lease is held."""
    job = claimed_job(stage.context.ledger)
    inner: list[str] = []

    def act(_context: Context, _lease: Lease) -> Step:
        inner.append(stage.run(job, go_on))
        return Next("resolve", NOTE)

    assert stage.run(job, act) == "sent"
    assert inner == ["leased"]


@pytest.mark.parametrize(
    "error",
    [
        StoreError("full", "/store"),
        RedisConnectionError("gone"),
        LedgerLost("aop"),
        FetchError("unreachable", "s3://a/b", "timeout"),
        SaveMissing("a.md", 7),
        CatalogMissing("no catalog"),
        OSError(28, "No space left on device"),
        MemoryError(),
        RecursionError("too deep"),
        ZeroDivisionError("a bug"),
    ],
)
def test_a_fault_is_recorded_and_tried_again(stage: Stage, error: Exception) -> None:
    """Whatever it is: the cause stands in the ledger, the next attempt is due later, and nothing is raised."""
    job = claimed_job(stage.context.ledger)
    assert stage.run(job, fail(error)) == "retry"
    found = job_of(stage, job)
    assert (found.state, found.attempts, found.cause) == ("parsing", 1, cause_of(error))
    assert found.cause
    assert stage.context.ledger.depths()["retries"] == 1
    assert stage.sent() == []
    assert stage.context.spoiled == isinstance(error, MemoryError | RecursionError)


def test_attempts_are_capped(stage: Stage) -> None:
    """Then the job is dead, with the last cause; a later message runs nothing."""
    job = claimed_job(stage.context.ledger)
    outcomes = [stage.run(job, fail(ValueError("always"))) for _ in range(4)]
    assert outcomes == ["retry", "retry", "dead", "ended"]
    found = job_of(stage, job)
    assert (found.state, found.attempts, found.cause) == ("dead", 3, "ValueError: always")
    assert stage.context.ledger.dead() == [job]


def test_the_other_side_says_when_to_come_again(stage: Stage) -> None:
    """A limit of an interface is waited for."""
    job = claimed_job(stage.context.ledger)
    assert stage.run(job, fail(FetchError("limited", "x", "429", retry_after_s=900))) == "retry"
    redis: Redis = stage.context.redis
    due = redis.zscore(f"{stage.context.settings.redis_prefix}:retries", job)
    assert isinstance(due, float)
    assert 890 < due / 1_000 - time.time() < 905


def test_a_worker_that_ends_hands_its_job_back(stage: Stage) -> None:
    """At once, and the attempt does not count; the process ends as it was asked to."""
    job = claimed_job(stage.context.ledger)
    with pytest.raises(SystemExit):
        stage.run(job, fail(SystemExit(1)))
    found = job_of(stage, job)
    assert (found.state, found.attempts, found.total_attempts) == ("parsing", 0, 0)
    assert stage.sent() == [Message(job, "parse", "interactive")]
    assert stage.run(job, go_on) == "sent"


def test_a_stage_that_the_hard_limit_ends_has_failed(stage: Stage) -> None:
    """The same signal as of a worker that ends, but after more time than a stage may take: the attempt counts."""
    stage.context.settings = stage.context.settings.model_copy(update={"soft_time_limit_s": 0.01})

    def act(_context: Context, _lease: Lease) -> Step:
        time.sleep(0.02)
        raise SystemExit(1)

    job = claimed_job(stage.context.ledger)
    for attempts in (1, 2, 3):
        with pytest.raises(SystemExit):
            stage.run(job, act)
        assert job_of(stage, job).attempts == attempts
    assert (job_of(stage, job).state, "AOP_SOFT_TIME_LIMIT_S" in job_of(stage, job).cause) == ("dead", True)


def test_a_superseded_job_goes_no_further(stage: Stage) -> None:
    """A newer save was claimed while the stage ran."""
    ledger = stage.context.ledger
    job = claimed_job(ledger)

    def act(_context: Context, _lease: Lease) -> Step:
        claimed_job(ledger)
        return Next("resolve", NOTE)

    assert stage.run(job, act) == "superseded"
    assert job not in [message.job for message in stage.sent()]
    assert job_of(stage, job).state == "superseded"
    assert [identity for identity, _ in ledger.unrecorded()] == [job]


def test_a_lost_lease_changes_nothing(stage: Stage) -> None:
    """Somebody else has the job by then: what this worker made is not recorded."""
    ledger = stage.context.ledger
    ledger.timing = replace(ledger.timing, lease=50)
    job = claimed_job(ledger)

    def act(_context: Context, _lease: Lease) -> Step:
        time.sleep(0.1)
        ledger.timing = replace(ledger.timing, lease=5_000)
        assert stage.run(job, go_on) == "sent"
        return Next("resolve", NOTE)

    assert stage.run(job, act, Still(ledger)) == "lost"
    assert job_of(stage, job).state == "resolving"


class Still(Heart):
    """As of a worker that is frozen."""

    @contextmanager
    def keeping(self, lease: Lease) -> Iterator[Held]:
        yield Held(lease)


def test_a_long_stage_keeps_its_lease(stage: Stage) -> None:
    """The heartbeat runs beside it; afterwards it beats no more."""
    ledger = stage.context.ledger
    ledger.timing = replace(ledger.timing, lease=1_500)
    heart = Heart(ledger)
    first, second = claimed_job(ledger), claimed_job(ledger, "b.md")

    def act(context: Context, lease: Lease) -> Step:
        def ends_at() -> float:
            return float(context.redis.zscore(f"{context.settings.redis_prefix}:leases", lease.job.id) or 0)

        for _ in range(2):
            before = ends_at()
            until(lambda: ends_at() > before)  # noqa: B023 - asked in this turn alone
        assert ledger.reconcile() == []
        return Next("resolve", NOTE)

    assert stage.run(first, act, heart) == "sent"
    threads = threading.active_count()
    assert stage.run(second, act, heart) == "sent"
    assert threading.active_count() == threads


def test_a_step_that_happened_is_not_repeated_when_the_answer_was_lost(stage: Stage) -> None:
    """Asking twice is safe: the job is at the next stage, with its one message."""
    ledger = stage.context.ledger
    job = claimed_job(ledger)

    def act(_context: Context, lease: Lease) -> Step:
        assert ledger.advance(lease, "resolve", NOTE.model_dump_json()) is not None
        return Next("resolve", NOTE)

    assert stage.run(job, act) == "lost"
    assert stage.sent() == [Message(job, "resolve", "interactive")]


def test_a_bug_is_logged_with_its_traceback(stage: Stage) -> None:
    """And a fault of the surroundings is not: it is expected."""
    job = claimed_job(stage.context.ledger)
    with capture_logs() as lines:
        stage.run(job, fail(ZeroDivisionError("here")))
        stage.run(job, fail(StoreError("busy", "/store")))
    assert [(line["log_level"], "exc_info" in line) for line in lines] == [("error", True), ("warning", False)]


def test_pauses_grow_and_end_somewhere() -> None:
    """An outage of minutes uses up no job's attempts; a poison document is dead within a minute or so."""
    for pause in PAUSES.values():
        waits = [pause.after(attempt) for attempt in range(1, 40)]
        assert waits == sorted(waits)
        assert waits[-1] == pause.longest_ms
    assert sum(PAUSES["elsewhere"].after(attempt) for attempt in range(1, 5)) > 120_000
    assert sum(PAUSES["limit"].after(attempt) for attempt in range(1, 5)) < 20_000
    assert [kind_of(error) for error in (StoreError("full", "x"), MemoryError(), KeyError("x"))] == [
        "elsewhere",
        "limit",
        "bug",
    ]


def test_causes_are_one_bounded_line() -> None:
    """They stand in Redis, in dead letters and on pages."""
    cause = cause_of(ValueError("a\nb" + "x" * sys.maxunicode))
    assert "\n" not in cause
    assert len(cause) <= 1_000


def test_it_goes_on_with_what_is_next(stage: Stage) -> None:
    """From the queues that are named when a stage is done, whatever came of it, until none are named."""
    jobs = [claimed_job(stage.context.ledger, document) for document in ("a.md", "b.md", "c.md", "d.md")]
    took: list[str] = []

    def act(_context: Context, lease: Lease) -> Step:
        took.append(lease.job.id)
        if lease.job.id == jobs[1]:
            raise StoreError("full", "store")
        return Next("resolve", NOTE)

    def more() -> tuple[str, ...]:
        return ("parse.interactive",) if len(took) < 3 else ()

    queue = queue_key(stage.context.settings.redis_prefix, "parse.interactive")
    stage.context.redis.rpop(queue)  # Celery has taken the first message
    shell = Shell(stage.context, Heart(stage.context.ledger), "test", {"parse": act})
    assert shell.run(jobs[0], "parse", more) == "sent"
    assert took == jobs[:3]
    assert [job_of(stage, job).state for job in jobs] == ["resolving", "parsing", "resolving", "parsing"]
    assert job_of(stage, jobs[1]).cause


def test_a_taken_job_that_cannot_be_read_ends_the_turn(stage: Stage) -> None:
    """What was done before it is recorded; its own lease ends, as that of any worker that is gone."""
    jobs = [claimed_job(stage.context.ledger, document) for document in ("a.md", "b.md")]
    prefix = stage.context.settings.redis_prefix
    stage.context.redis.hset(f"{prefix}:job:{jobs[1]}", "round", "many")
    stage.context.redis.rpop(queue_key(prefix, "parse.interactive"))
    shell = Shell(stage.context, Heart(stage.context.ledger), "test", {"parse": go_on})
    with capture_logs() as lines:
        assert shell.run(jobs[0], "parse", lambda: ("parse.interactive",)) == "sent"
    assert [line["event"] for line in lines] == ["ledger does not answer"]
    assert job_of(stage, jobs[0]).state == "resolving"
