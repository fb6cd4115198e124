"""Given a ledger, a store and files that change, when a dispatcher takes a step, then what is due is done, once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from redis.exceptions import ConnectionError as RedisConnectionError
from structlog.testing import capture_logs

from catalog.own import ORGANISATION
from pipeline.compiler import Input
from workers.callers import Callers
from workers.catalogs import Sources, publish_catalog, redis_key
from workers.context import Context, open_context
from workers.dispatcher import (
    AT_ONCE,
    CatalogWatch,
    Claims,
    Duty,
    Line,
    Reconciler,
    Recorder,
    quick_duties,
    slow_duties,
)
from workers.ledger.ledger import new_id
from workers.ledger.records import Lease, LedgerLost, Message
from workers.settings import Settings

from ..celery_messages import take_all
from .documents import MULTI, calling
from .given import begun_job, claimed_job
from .test_catalog_change import ORGANISATION as TEXT


def sent(context: Context) -> list[Message]:
    """What is on the queues; it is taken from them."""
    return take_all(context.redis, context.settings.redis_prefix)


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def context(service_settings: Settings) -> Iterator[Context]:
    found = open_context(service_settings)
    found.ledger.open(fresh=True)
    yield found
    found.close()


def save(context: Context, document: str) -> str:
    ledger = context.ledger
    sequence = ledger.reserve(document, source="test").sequence
    return ledger.accept(document, sequence=sequence, job=new_id(), source="test").job


# ------------------------------------------------------------------------------------------------------- duties


def test_all_that_is_due_is_claimed_in_one_step(context: Context) -> None:
    """However much it is; another dispatcher finds nothing more."""
    jobs = {save(context, f"{number}.md") for number in range(AT_ONCE + 20)}
    assert Claims(context.ledger).step() == len(jobs)
    messages = sent(context)
    assert {message.job for message in messages} == jobs
    assert {message.queue for message in messages} == {"parse.interactive"}
    assert Claims(context.ledger).step() == 0
    assert sent(context) == []


def test_what_was_lost_is_sent_again(context: Context) -> None:
    """A message that nobody began, a lease that ended, an attempt whose time has come; with why it was."""
    context.ledger.timing = replace(context.ledger.timing, message_lost=5, lease=1)
    jobs = [claimed_job(context.ledger, f"{number}.md") for number in range(3)]
    context.ledger.begin(jobs[1], "parse", "test")
    failed = context.ledger.begin(jobs[2], "parse", "test")
    assert isinstance(failed, Lease)
    context.ledger.release(failed, "why", 0)
    threading.Event().wait(0.01)
    sent(context)
    with capture_logs() as lines:
        assert Reconciler(context.ledger).step() == 3
    assert sorted(message.job for message in sent(context)) == sorted(jobs)
    assert sorted(line["reason"] for line in lines) == ["lease", "message"]


def test_jobs_that_end_in_the_ledger_are_told_to_the_store(context: Context) -> None:
    """Superseded by a burst, dead in the reconciler; told once, by whichever dispatcher."""
    context.ledger.timing = replace(context.ledger.timing, lease=1, most_attempts=1)
    waiting = save(context, "burst.md")
    save(context, "burst.md")
    dead = begun_job(context.ledger, "parse", claimed_job_of(context, "dead.md"))
    threading.Event().wait(0.01)
    context.ledger.reconcile()
    with capture_logs() as lines:
        assert Recorder(context).step() == 2
    assert [line["job"] for line in lines if line["log_level"] == "error"] == [dead.job.id]
    superseded = context.archive.outcome("burst.md", 1)
    assert superseded is not None
    assert (superseded.status, superseded.job) == ("superseded", waiting)
    letter = context.archive.dead(dead.job.id)
    assert letter is not None
    assert letter.cause.startswith("lease expired")
    outcome = context.archive.outcome("dead.md", 1)
    assert outcome is not None
    assert outcome.status == "dead"
    assert Recorder(context).step() == 0


def claimed_job_of(context: Context, document: str) -> str:
    job = save(context, document)
    assert job in [message.job for message in context.ledger.claim()]
    return job


def test_a_dead_job_that_is_replayed_meanwhile_leaves_no_letter(context: Context) -> None:
    """Its death is not told any more."""
    context.ledger.timing = replace(context.ledger.timing, most_attempts=1)
    lease = begun_job(context.ledger, "parse")
    assert context.ledger.release(lease, "why", 0)
    assert context.ledger.replay(lease.job.id) is not None
    Recorder(context).step()
    assert context.archive.dead(lease.job.id) is None


def test_the_catalog_is_published_when_its_files_change(context: Context, tmp_path: Path) -> None:
    """At the start, at each change, and when Redis has forgotten it; a wrong file is told of once."""
    sources = Sources(tmp_path)
    watch = CatalogWatch(context, sources)
    assert [watch.step(), watch.step()] == [1, 0]
    first = context.catalogs.current()
    (tmp_path / ORGANISATION).write_text(TEXT.format(name="syanai", title="社内"))
    assert [watch.step(), watch.step()] == [1, 0]
    second = context.catalogs.current()
    assert first != second
    context.redis.delete(redis_key(context.settings.redis_prefix))
    assert [watch.step(), watch.step()] == [1, 0]
    (tmp_path / ORGANISATION).write_text("tools: [{name: 7}]\n")
    with capture_logs() as lines:
        assert [watch.step(), watch.step()] == [0, 0]
    assert len(lines) == 1
    assert context.catalogs.current() == second


def test_a_wrong_catalog_is_shown_until_it_is_mended(context: Context, tmp_path: Path) -> None:
    """Whether it was wrong at the start or became so, and whichever way it is mended."""
    (tmp_path / ORGANISATION).write_text("tools: [{name: 7}]\n")
    watch = CatalogWatch(context, Sources(tmp_path))
    shown = []
    for text in (None, TEXT.format(name="syanai", title="社内"), "version: 1\ntools: [", None):
        if text is not None:
            (tmp_path / ORGANISATION).write_text(text)
        watch.step()
        shown.append(REGISTRY.get_sample_value("aop_catalog_wrong"))
    (tmp_path / ORGANISATION).unlink()
    watch.step()
    shown.append(REGISTRY.get_sample_value("aop_catalog_wrong"))
    assert shown == [1, 0, 1, 1, 0]


# ------------------------------------------------------------------------------------------------------ callers


@dataclass
class Library:
    """Documents compiled as the workers do, without them: compiled, indexed, and their jobs ended."""

    context: Context

    def put(self, document: str, text: str) -> None:
        context = self.context
        job = claimed_job_of(context, document)
        compiler = context.compiler(context.catalogs.current())
        step = compiler.survey(Input(document, text.encode())).document
        sequence = context.ledger.job(job)
        assert sequence is not None
        context.ledger.index(document, sequence.sequence, step.name, step.calls)
        compiler.compile(Input(document, text.encode()), context.projects.current())
        self.end(job)

    def end(self, job: str) -> None:
        ledger = self.context.ledger
        lease = ledger.begin(job, "parse", "test")
        assert isinstance(lease, Lease)
        assert ledger.complete(lease, "succeeded", "{}")


@pytest.fixture
def library(context: Context) -> Library:
    publish_catalog(Sources(None), context.store, context.redis, context.settings.redis_prefix)
    return Library(context)


def test_callers_follow_their_callees(context: Context, library: Library) -> None:
    """Only those whose answers changed, after the quiet time, as bulk work."""
    library.put("callee.md", MULTI)
    library.put("caller.md", calling("頼む人", "月次の締め"))
    library.put("other.md", calling("別の人", "どこにもない"))
    clock = Clock()
    callers = Callers(context, clock)
    assert callers.step() == 0
    clock.now += 3
    assert callers.step() == 0
    library.put("callee.md", MULTI.replace("月次の締め", "年次の締め"))
    assert callers.step() == 0
    clock.now += 1
    assert callers.step() == 0
    clock.now += 3
    assert callers.step() == 1
    (message,) = [message for message in sent(context) if message.job_class == "bulk"]
    job = context.ledger.job(message.job)
    assert job is not None
    assert (job.document, job.job_class, job.round) == ("caller.md", "bulk", 1)
    clock.now += 3
    assert callers.step() == 0


def test_a_caller_that_is_being_compiled_is_asked_again(context: Context, library: Library) -> None:
    """What it reads may be of before the change."""
    library.put("callee.md", MULTI)
    library.put("caller.md", calling("頼む人", "月次の締め"))
    clock = Clock()
    callers = Callers(context, clock, quiet_s=0)
    callers.step()
    library.put("callee.md", MULTI.replace("月次の締め", "年次の締め"))
    running = claimed_job_of(context, "caller.md")
    assert [callers.step(), callers.step()] == [0, 0]
    library.end(running)
    assert callers.step() == 1


def test_a_stream_of_changes_does_not_postpone_for_ever(context: Context, library: Library) -> None:
    """The longest wait counts from the first change."""
    library.put("callee.md", MULTI)
    library.put("caller.md", calling("頼む人", "月次の締め"))
    clock = Clock()
    callers = Callers(context, clock)
    callers.step()
    clock.now += 100
    callers.step()
    library.put("callee.md", MULTI.replace("月次の締め", "年次の締め"))
    for number in range(60):
        library.put("busy.md", f"# 手順 {number}\n\n本文。\n")
        callers.step()
        clock.now += 1
        if any(message.job_class == "bulk" for message in sent(context)):
            break
    assert 25 < number < 40


def test_a_changed_catalog_is_no_reason(context: Context, library: Library, tmp_path: Path) -> None:
    """That is offered as a plan, and is nobody's callee."""
    library.put("callee.md", MULTI)
    library.put("caller.md", calling("頼む人", "月次の締め"))
    (tmp_path / ORGANISATION).write_text(TEXT.format(name="syanai", title="社内"))
    publish_catalog(Sources(tmp_path), context.store, context.redis, context.settings.redis_prefix)
    clock = Clock()
    callers = Callers(context, clock, quiet_s=0)
    assert [callers.step(), callers.step()] == [0, 0]


# --------------------------------------------------------------------------------------------------------- rounds


def test_duties_take_turns(context: Context) -> None:
    """Each so often; at once again where a step did all that it may."""
    clock = Clock()
    calls: list[str] = []

    def step(name: str, count: int) -> int:
        calls.append(name)
        return count

    line = Line(
        [
            Duty("often", 100, lambda: step("often", 0)),
            Duty("seldom", 1_000, lambda: step("seldom", 0)),
            Duty("full", 500, lambda: step("full", 5), most=5),
        ],
        clock,
    )
    assert line.turn() == 0.0
    assert calls == ["often", "seldom", "full"]
    clock.now += 0.1
    line.turn()
    assert calls == ["often", "seldom", "full", "often", "full"]


@pytest.mark.parametrize("error", [RedisConnectionError("away"), LedgerLost("aop"), ZeroDivisionError("a bug")])
def test_a_duty_that_fails_is_tried_again_and_the_others_go_on(error: Exception) -> None:
    """Later and later, told once; a bug each time, with its traceback."""
    clock = Clock()
    state = {"fails": True, "calls": 0, "others": 0}

    def failing() -> int:
        state["calls"] += 1
        if state["fails"]:
            raise error
        return 0

    def other() -> int:
        state["others"] += 1
        return 0

    line = Line([Duty("failing", 10, failing), Duty("other", 1_000, other)], clock)
    with capture_logs() as lines:
        for _ in range(100):
            line.turn()
            clock.now += 0.5
    assert 8 < state["calls"] < 30
    assert state["others"] > 40
    bug = isinstance(error, ZeroDivisionError)
    assert len(lines) == (state["calls"] if bug else 1)
    state["fails"] = False
    clock.now += 10
    with capture_logs() as lines:
        line.turn()
    assert [entry["event"] for entry in lines] == ["duty goes on"]


def test_the_duties_of_a_dispatcher_run_on_a_new_installation(context: Context) -> None:
    """All of them, on real parts."""
    job = save(context, "a.md")
    for duty in (*quick_duties(context), *slow_duties(context, Sources(None))):
        duty.step()
    assert [message.job for message in sent(context)] == [job]
    assert context.catalogs.is_known()
