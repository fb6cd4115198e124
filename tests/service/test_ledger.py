"""Given a ledger in a real Valkey, when saves and workers come in any order, then what it says stays true."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from uuid import uuid4

import pytest
from redis import Redis

from tests.service.celery_messages import take_all
from tests.service.saving import empty_queues
from tests.service.waiting import until
from workers.ledger.ledger import Ledger, Timing, new_id
from workers.ledger.records import (
    STAGES,
    Accepted,
    Action,
    Lease,
    LedgerCorrupt,
    LedgerLost,
    LedgerVersion,
    Message,
    Row,
    Stage,
)
from workers.ledger.taking import Taking
from workers.queues import queue_key


def accept(
    ledger: Ledger,
    document: str = "a",
    *,
    source: str = "test",
    revision: str = "",
    rank: str = "",
    action: Action = "compile",
    idempotency_key: str = "",
    trace: str = "",
) -> Accepted:
    """Reserve and accept, as intake does around the store's write."""
    reserved = ledger.reserve(document, source=source, revision=revision, idempotency_key=idempotency_key)
    if reserved.answer == "repeated":
        return Accepted("repeated", reserved.job, reserved.sequence)
    return ledger.accept(
        document,
        sequence=reserved.sequence,
        job=new_id(),
        source=source,
        revision=revision,
        rank=rank,
        action=action,
        idempotency_key=idempotency_key,
        trace=trace,
    )


def save(ledger: Ledger, document: str = "a", *, action: Action = "compile", idempotency_key: str = "") -> str:
    return accept(ledger, document, action=action, idempotency_key=idempotency_key).job


def begun(ledger: Ledger, job: str, stage: Stage) -> Lease:
    lease = ledger.begin(job, stage, "worker")
    assert isinstance(lease, Lease), lease
    return lease


def run(ledger: Ledger, job: str, *, until: Stage | None = None) -> Lease:
    """Take a claimed job through its stages; the last lease, of `until` or the last stage."""
    for stage, following in pairwise(STAGES):
        lease = begun(ledger, job, stage)
        if stage == until:
            return lease
        assert ledger.advance(lease, following, "{}") == Message(job, following, "interactive")
    return begun(ledger, job, STAGES[-1])


def test_a_save_becomes_a_job_that_goes_through_all_stages(ledger: Ledger) -> None:
    """Queued, claimed once, each stage in its turn, and an outcome that the document takes over."""
    accepted = accept(ledger, "月次/締め.md", revision="7", trace="00-1-2-01")
    assert (accepted.answer, accepted.sequence) == ("accepted", 1)
    job = ledger.job(accepted.job)
    assert job is not None
    assert (job.state, job.revision, job.trace, job.claimed_ms) == ("queued", "7", "00-1-2-01", None)
    assert ledger.claim() == [Message(job.id, "parse", "interactive")]
    assert ledger.claim() == []
    states = []
    for stage, following in zip(STAGES, (*STAGES[1:], None), strict=True):
        lease = begun(ledger, job.id, stage)
        states.append(lease.job.state)
        assert lease.job.attempts == 1
        if following is None:
            assert ledger.complete(lease, "succeeded", '{"sha256":"x"}')
        else:
            assert ledger.advance(lease, following, f'"{stage}"') is not None
    assert states == ["parsing", "resolving", "generating", "verifying"]
    ended, document = ledger.job(job.id), ledger.document("月次/締め.md")
    assert ended is not None
    assert document is not None
    assert (ended.state, ended.outcome, ended.total_attempts) == ("succeeded", '{"sha256":"x"}', 4)
    assert lease.job.notes == {"parse": '"parse"', "resolve": '"resolve"', "generate": '"generate"'}
    assert ended.notes == {}
    assert set(ended.took_ms) == set(STAGES)
    assert (document.state, document.published, document.published_job) == ("succeeded", 1, job.id)
    assert (document.running, document.waiting) == ("", "")
    assert set(ledger.depths().values()) == {0}


def test_the_same_save_is_accepted_once(ledger: Ledger) -> None:
    """By its idempotency key, or by its source's revision: it is the first one's answer, and no second job."""
    first = accept(ledger, revision="1", idempotency_key="k")
    again = accept(ledger, revision="2", idempotency_key="k")
    assert (again.answer, again.job, again.sequence) == ("repeated", first.job, 1)
    other_key = accept(ledger, revision="1", idempotency_key="k2")
    assert (other_key.answer, other_key.job) == ("repeated", first.job)
    accept(ledger, revision="3")
    assert accept(ledger, revision="1", idempotency_key="k2").job == first.job
    other_source = accept(ledger, source="s2", revision="1")
    assert (other_source.answer, other_source.sequence) == ("accepted", 3)


def test_the_same_save_at_the_same_time_is_accepted_once(ledger: Ledger) -> None:
    """Both have reserved and stored before the first is accepted: the second learns then that it is the same."""
    places = [ledger.reserve("a", source="s", revision="1", idempotency_key="k").sequence for _ in range(2)]
    jobs = [new_id(), new_id()]
    answers = [
        ledger.accept("a", sequence=place, job=job, source="s", revision="1", idempotency_key="k")
        for place, job in zip(places, jobs, strict=True)
    ]
    assert answers == [Accepted("accepted", jobs[0], 1), Accepted("repeated", jobs[0], 1)]
    assert [message.job for message in ledger.claim()] == jobs[:1]


def test_accepting_again_after_a_lost_answer_answers_the_same(ledger: Ledger) -> None:
    """And makes no second job."""
    place, job = ledger.reserve("a", source="s").sequence, new_id()
    answers = {ledger.accept("a", sequence=place, job=job, source="s", idempotency_key="k") for _ in range(3)}
    assert answers == {Accepted("accepted", job, 1)}
    assert len(ledger.claim()) == 1


def test_an_older_revision_of_a_source_does_not_win(ledger: Ledger) -> None:
    """It has an outcome, but is not the newest."""
    newest = accept(ledger, revision="10", rank="00010")
    late = accept(ledger, revision="9", rank="00009")
    assert (late.answer, late.sequence) == ("superseded", 2)
    assert [message.job for message in ledger.claim()] == [newest.job]
    job, document = ledger.job(late.job), ledger.document("a")
    assert job is not None
    assert document is not None
    assert (job.state, document.sequence) == ("superseded", 1)


def test_a_save_that_is_accepted_after_a_newer_one_is_superseded(ledger: Ledger) -> None:
    """The order is that of the reserved sequences, whichever write to the store was slower."""
    first, second = (ledger.reserve("a", source=source).sequence for source in ("s", "t"))
    newest = ledger.accept("a", sequence=second, job=new_id(), source="t")
    late = ledger.accept("a", sequence=first, job=new_id(), source="s", revision="5", rank="5")
    assert (newest.answer, late.answer) == ("accepted", "superseded")
    older = accept(ledger, source="s", revision="3", rank="3")
    assert older.answer == "superseded"  # its source has sent revision 5
    assert [message.job for message in ledger.claim()] == [newest.job]


def test_a_newer_revision_with_a_smaller_sequence_asks_for_a_greater_one(ledger: Ledger) -> None:
    """The older revision overtook it on the way: its source's order counts."""
    first, second = (ledger.reserve("a", source="s", revision=revision).sequence for revision in ("5", "3"))
    ledger.accept("a", sequence=second, job=new_id(), source="s", revision="3", rank="3")
    job = new_id()
    outrun = ledger.accept("a", sequence=first, job=job, source="s", revision="5", rank="5", idempotency_key="k")
    assert (outrun.answer, ledger.job(job)) == ("outrun", None)
    again = accept(ledger, source="s", revision="5", rank="5", idempotency_key="k")
    assert (again.answer, again.sequence) == ("accepted", 3)


def test_a_sequence_that_redis_forgot_is_never_given_twice(ledger: Ledger) -> None:
    """A failover may lose the newest reservations; a save that is accepted brings the counter along."""
    assert ledger.accept("a", sequence=41, job=new_id(), source="s").answer == "accepted"
    assert ledger.reserve("a", source="s").sequence == 42


def test_a_burst_of_saves_compiles_the_newest(ledger: Ledger) -> None:
    """Within the quiet time each save supersedes the one that waits."""
    ledger.timing = replace(ledger.timing, quiet=10_000, longest_wait=20_000)
    jobs = [save(ledger) for _ in range(19)]
    assert ledger.claim() == []
    ledger.timing = replace(ledger.timing, quiet=20)
    jobs.append(save(ledger))
    assert [message.job for message in until(ledger.claim)] == [jobs[-1]]
    states = [found.state for job in jobs[:-1] if (found := ledger.job(job)) is not None]
    assert states == ["superseded"] * 19


def test_a_stream_of_saves_does_not_postpone_for_ever(ledger: Ledger) -> None:
    """The longest wait counts from the first save that nobody has claimed."""
    ledger.timing = replace(ledger.timing, quiet=10_000, longest_wait=150)

    def claimed_beside_a_save() -> list[Message]:
        save(ledger)
        return ledger.claim()

    assert len(until(claimed_beside_a_save)) == 1


def test_a_newer_save_supersedes_the_running_job_at_its_next_stage(ledger: Ledger) -> None:
    """The heartbeat tells it, and its next step ends it."""
    first = save(ledger)
    ledger.claim()
    lease = begun(ledger, first, "parse")
    second = save(ledger)
    assert ledger.heartbeat(lease) == "held"
    assert [message.job for message in ledger.claim()] == [second]
    assert ledger.heartbeat(lease) == "superseded"
    assert ledger.advance(lease, "resolve", "{}") is None
    job = ledger.job(first)
    assert job is not None
    assert (job.state, job.superseded) == ("superseded", 2)
    assert ledger.complete(run(ledger, second), "succeeded", "{}")


def test_a_document_that_was_never_published_is_not_starved(ledger: Ledger) -> None:
    """Beyond the patience a running job is left to finish, and the newer one runs beside it."""
    ledger.timing = replace(ledger.timing, patience=50)
    first = save(ledger)
    ledger.claim()
    lease = begun(ledger, first, "parse")
    time.sleep(0.08)
    second = save(ledger)
    assert [message.job for message in ledger.claim()] == [second]
    assert ledger.heartbeat(lease) == "held"
    assert ledger.advance(lease, "resolve", "{}") is not None


def test_what_ends_late_never_replaces_what_is_newer(ledger: Ledger) -> None:
    """The document's published sequence only grows."""
    ledger.timing = replace(ledger.timing, patience=-1)
    first = save(ledger)
    ledger.claim()
    late = run(ledger, first)
    second = save(ledger)
    ledger.claim()
    assert ledger.complete(run(ledger, second), "succeeded", "{}")
    assert ledger.complete(late, "succeeded", "{}")
    document = ledger.document("a")
    assert document is not None
    assert (document.published, document.published_job, document.state) == (2, second, "succeeded")


def test_a_second_message_for_a_stage_runs_nothing(ledger: Ledger) -> None:
    """While it is leased, after it, before it, and for jobs that are unknown or have ended."""
    job = save(ledger)
    assert ledger.begin(job, "parse", "w") == "elsewhere"
    ledger.claim()
    assert ledger.begin(job, "resolve", "w") == "elsewhere"
    lease = begun(ledger, job, "parse")
    assert ledger.begin(job, "parse", "w") == "leased"
    ledger.advance(lease, "resolve", "{}")
    assert ledger.begin(job, "parse", "w") == "elsewhere"
    assert ledger.advance(lease, "resolve", "{}") is None
    last = begun(ledger, job, "resolve")
    assert ledger.complete(last, "failed", "{}")
    assert ledger.begin(job, "resolve", "w") == "ended"
    assert ledger.begin("nobody", "parse", "w") == "gone"


def test_a_worker_that_falls_silent_loses_its_lease(ledger: Ledger) -> None:
    """Another one gets the stage, and the first can change nothing any more."""
    job = save(ledger)
    ledger.claim()
    silent = begun(ledger, job, "parse")
    assert ledger.reconcile() == []
    ledger.timing = replace(ledger.timing, lease=20)
    assert ledger.heartbeat(silent) == "held"
    assert until(ledger.reconcile) == [(Message(job, "parse", "interactive"), "lease")]
    ledger.timing = replace(ledger.timing, lease=10_000)
    other = begun(ledger, job, "parse")
    assert ledger.heartbeat(silent) == "lost"
    assert ledger.advance(silent, "resolve", "{}") is None
    assert not ledger.complete(silent, "succeeded", "{}")
    assert not ledger.release(silent, "late", 0)
    assert ledger.advance(other, "resolve", "{}") is not None
    assert ledger.totals()["expired:parse"] == 1


def test_a_lost_message_is_sent_again(ledger: Ledger) -> None:
    """After a while in which nobody began it, and again after another while."""
    job = save(ledger)
    ledger.claim()
    assert ledger.reconcile() == []
    ledger.timing = replace(ledger.timing, message_lost=20)
    for _ in range(2):
        empty_queues(ledger)
        assert until(ledger.reconcile) == [(Message(job, "parse", "interactive"), "message")]
    assert ledger.begin(job, "parse", "w") not in ("gone", "ended", "elsewhere", "leased", "superseded", "dead")


def test_a_message_that_waits_is_not_lost(ledger: Ledger, redis: Redis) -> None:
    """However long nobody takes it, its queue does not grow; one that has left it and that nobody began is sent again,
    while those behind it wait, Celery's own among them."""
    ledger.timing = replace(ledger.timing, message_lost=-1)
    queue = queue_key(ledger._prefix, "parse.interactive")
    jobs = []
    for document in ("a", "b", "c"):
        jobs.append(save(ledger, document=document))
        ledger.claim()
        time.sleep(0.002)  # so that each is of another millisecond
    for _ in range(3):
        assert ledger.reconcile() == []
    assert redis.llen(queue) == 3
    redis.rpop(queue)
    assert ledger.reconcile() == [(Message(jobs[0], "parse", "interactive"), "message")]
    assert ledger.reconcile() == []
    assert redis.llen(queue) == 3
    redis.rpush(queue, '{"properties": {"delivery_tag": "0b8f7c1e-2e57-4d0c-9e0d-6f1f5c6f3a52"}}')
    assert ledger.reconcile() == []
    redis.delete(queue)
    assert sorted(message.job for message, _ in ledger.reconcile()) == sorted(jobs)


def test_attempts_are_counted_and_end_in_dead_letters(ledger: Ledger) -> None:
    """A stage that fails for a reason of ours is tried three times; then the job waits for a person."""
    job = save(ledger)
    ledger.claim()
    for attempt in range(3):
        lease = begun(ledger, job, "parse")
        assert lease.job.attempts == attempt + 1
        dead = ledger.release(lease, f"cause {attempt}", 0)
        assert dead is (attempt == 2)
        if not dead:
            assert [reason for _, reason in ledger.reconcile()] == ["retry"]
    found, document = ledger.job(job), ledger.document("a")
    assert found is not None
    assert document is not None
    assert (found.state, found.stage, found.cause, document.state) == ("dead", "parse", "cause 2", "dead")
    assert ledger.dead() == [job]
    assert ledger.reconcile() == []


def test_a_stage_that_kills_its_worker_ends_in_dead_letters(ledger: Ledger) -> None:
    """Nobody is left to report it: expired leases count as attempts."""
    ledger.timing = replace(ledger.timing, lease=1)
    job = save(ledger)
    ledger.claim()
    for _ in range(3):
        begun(ledger, job, "parse")
        time.sleep(0.01)  # longer than the lease
        ledger.reconcile()
    found = ledger.job(job)
    assert found is not None
    assert found.state == "dead"
    assert "fell silent" in found.cause


def test_a_dead_job_is_replayed_or_dropped(ledger: Ledger) -> None:
    """Replaying begins at the stage where it died; each works once, and only on the dead."""
    ledger.timing = replace(ledger.timing, most_attempts=1)
    job = save(ledger)
    assert ledger.replay(job) is None
    assert not ledger.drop(job)
    ledger.claim()
    ledger.release(run(ledger, job, until="generate"), "x", 0)
    assert ledger.replay(job) == Message(job, "generate", "interactive")
    assert ledger.replay(job) is None
    ledger.release(begun(ledger, job, "generate"), "x", 0)
    assert ledger.drop(job)
    assert not ledger.drop(job)
    assert ledger.dead() == []


def test_retiring_takes_its_turn_and_compiles_nothing(ledger: Ledger) -> None:
    """It is publishing, in the document's order."""
    job = save(ledger, action="retire")
    assert ledger.claim() == [Message(job, "verify", "interactive")]
    assert ledger.complete(begun(ledger, job, "verify"), "succeeded", "{}")
    document = ledger.document("a")
    assert document is not None
    assert document.state == "retired"


def test_events_tell_what_happened_and_can_be_resumed(ledger: Ledger) -> None:
    """Of one job from its acceptance to its end, after any of them, and of all jobs."""
    job = save(ledger)
    ledger.claim()
    ledger.complete(run(ledger, job), "failed", '{"errors":1}')
    events = ledger.events(job)
    assert [(event.event, event.detail) for event in events] == [
        ("accepted", "1"),
        ("claimed", "parse"),
        *[(word, stage) for stage in STAGES[:-1] for word in ("begun", "done")],
        ("begun", "verify"),
        ("failed", '{"errors":1}'),
    ]
    assert ledger.events(job, after=events[2].id) == events[3:]
    assert ledger.events(job, after=events[-1].id, wait_ms=20) == []
    assert ledger.all_events(after="0-0") == events


def test_ended_jobs_and_their_events_are_forgotten(ledger: Ledger, redis: Redis) -> None:
    """So that memory stays bounded; dead ones are kept until somebody decides."""
    ledger.timing = replace(ledger.timing, keep_job=30, keep_once=30)
    job = save(ledger, idempotency_key="k")
    ledger.claim()
    ledger.complete(run(ledger, job), "succeeded", "{}")
    assert {message.job for message in take_all(redis, ledger._prefix)} == {job}
    until(lambda: ledger.job(job) is None and ledger.events(job) == [])
    keys = {key.split(":")[1] for key in redis.scan_iter(f"{ledger._prefix}:*")}
    assert keys == {"meta", "doc", "docs", "events", "totals"}


def test_an_ended_job_takes_little(ledger: Ledger, redis: Redis) -> None:
    """Its events are no longer than they are, and can be read and waited for all the same."""
    job = save(ledger)
    ledger.claim()
    lease = run(ledger, job)
    events = f"{ledger._prefix}:events:{job}"
    before = redis.memory_usage(events)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ledger.events, job, ledger.events(job)[-1].id, 5_000)
        while redis.info("clients")["blocked_clients"] == 0:
            time.sleep(0.001)
        ledger.complete(lease, "succeeded", "{}")
        assert [event.event for event in waiting.result()] == ["succeeded"]
    after = redis.memory_usage(events)
    assert before is not None
    assert after is not None
    assert after < before / 2
    assert [event.event for event in ledger.events(job)][0::9] == ["accepted", "succeeded"]
    assert not list(redis.scan_iter(f"{ledger._prefix}:events:*:copy"))


def test_a_ledger_of_another_version_is_refused(redis: Redis, ledger: Ledger) -> None:
    """Before anything is read or written in it."""
    redis.hset(f"{ledger._prefix}:meta", "schema", "99")
    for ask in (ledger.open, ledger.claim, lambda: ledger.reserve("a", source="s"), ledger.project):
        with pytest.raises(LedgerVersion, match="layout 99"):
            ask()


def test_a_wiped_redis_is_no_empty_ledger(redis: Redis, ledger: Ledger) -> None:
    """Every transition and every look says so, until somebody rebuilds it."""
    job = save(ledger)
    ledger.claim()
    lease = begun(ledger, job, "parse")
    redis.delete(*redis.scan_iter(f"{ledger._prefix}:*"))
    asks: list[Callable[[], object]] = [
        ledger.open,
        lambda: save(ledger),
        lambda: ledger.accept("a", sequence=2, job=new_id(), source="s"),
        lambda: ledger.recompile("a"),
        lambda: ledger.again("a"),
        ledger.claim,
        lambda: ledger.begin(job, "parse", "w"),
        lambda: ledger.heartbeat(lease),
        lambda: ledger.advance(lease, "resolve", "{}"),
        lambda: ledger.complete(lease, "failed", "{}"),
        lambda: ledger.release(lease, "", 0),
        ledger.reconcile,
        lambda: ledger.recorded(job, 0),
        lambda: ledger.replay(job),
        lambda: ledger.drop(job),
        lambda: ledger.index("a", 1, "a", ()),
        lambda: ledger.forget("a", 1),
        ledger.project,
        lambda: ledger.rate("k", 60, 1),
        lambda: ledger.job(job),
        lambda: ledger.document("a"),
        ledger.dead,
        ledger.unrecorded,
        lambda: list(ledger.documents()),
        lambda: ledger.events(job),
    ]
    for ask in asks:
        with pytest.raises(LedgerLost):
            ask()
    assert list(redis.scan_iter(f"{ledger._prefix}:*")) == []


def test_a_record_that_nobody_wrote_so_is_named(redis: Redis, ledger: Ledger) -> None:
    """Key and field."""
    job = save(ledger)
    redis.hset(f"{ledger._prefix}:job:{job}", "state", "sleeping")
    with pytest.raises(LedgerCorrupt, match=f"job:{job}: state is 'sleeping'"):
        ledger.job(job)


def test_two_installations_share_a_redis(redis: Redis, ledger: Ledger) -> None:
    """By their prefixes."""
    other = Ledger(redis, f"test-{uuid4().hex}", Timing(quiet=0))
    other.open(fresh=True)
    save(ledger)
    assert other.claim() == []
    assert len(ledger.claim()) == 1


def test_a_document_is_compiled_again_as_its_next_round(ledger: Ledger) -> None:
    """At once, in its class and bulk; not beside another job of the document, and not what was retired."""
    assert ledger.recompile("a") == "unknown"
    job = save(ledger)
    assert ledger.recompile("a") == "busy"
    ledger.claim()
    assert ledger.recompile("a") == "busy"
    ledger.complete(run(ledger, job), "succeeded", "{}")
    message = ledger.recompile("a", bulk="b1")
    assert isinstance(message, Message)
    assert (message.queue, ledger.recompile("a"), ledger.bulk_in_flight()) == ("parse.bulk", "busy", 1)
    lease = begun(ledger, message.job, "parse")
    assert (lease.job.sequence, lease.job.round, lease.job.job_class, lease.job.bulk) == (1, 1, "bulk", "b1")
    assert ledger.complete(lease, "succeeded", "{}")
    document = ledger.document("a")
    assert document is not None
    assert (document.published, document.published_round, document.published_job) == (1, 1, message.job)
    assert ledger.bulk_in_flight() == 0
    retiring = save(ledger, action="retire")
    ledger.claim()
    ledger.complete(begun(ledger, retiring, "verify"), "succeeded", "{}")
    assert ledger.recompile("a") == "unknown"


def test_a_save_outranks_a_recompile(ledger: Ledger) -> None:
    """Whichever ends last."""
    first = save(ledger)
    ledger.claim()
    ledger.complete(run(ledger, first), "succeeded", "{}")
    ledger.timing = replace(ledger.timing, patience=-1)
    again = ledger.recompile("a")
    assert isinstance(again, Message)
    lease = begun(ledger, again.job, "parse")
    second = save(ledger)
    ledger.claim()
    ledger.complete(run(ledger, second), "succeeded", "{}")
    ledger.complete(lease, "succeeded", "{}")
    document = ledger.document("a")
    assert document is not None
    assert (document.published, document.published_round, document.published_job) == (2, 0, second)


def test_a_recompile_counts_what_became_of_its_jobs(ledger: Ledger, redis: Redis) -> None:
    """Each once, a replayed one as what it becomes; nothing of a recompile that was removed."""
    ledger.timing = replace(ledger.timing, most_attempts=1)
    jobs = {}
    for document in ("a", "b", "c"):
        ledger.complete(run_claimed(ledger, save(ledger, document)), "succeeded", "{}")
        message = ledger.recompile(document, bulk="x")
        assert isinstance(message, Message)
        jobs[document] = message.job
    ledger.complete(begun(ledger, jobs["a"], "parse"), "failed", "{}")
    ledger.release(begun(ledger, jobs["b"], "parse"), "cause", 0)
    key = f"{ledger._prefix}:bulk:x"
    assert redis.hgetall(key) == {"started": "3", "failed": "1", "dead": "1"}
    ledger.replay(jobs["b"])
    assert ledger.bulk_in_flight() == 2
    ledger.complete(begun(ledger, jobs["b"], "parse"), "succeeded", "{}")
    assert redis.hgetall(key) == {"started": "3", "failed": "1", "dead": "0", "succeeded": "1"}
    redis.delete(key)
    ledger.complete(begun(ledger, jobs["c"], "parse"), "succeeded", "{}")
    assert not redis.exists(key)
    assert ledger.bulk_in_flight() == 0


def run_claimed(ledger: Ledger, job: str) -> Lease:
    ledger.claim()
    return run(ledger, job)


def test_a_stage_that_is_done_may_say_what_the_project_is_to_know(ledger: Ledger) -> None:
    """In the same step; by the same rule: a newer save's row stays. Whoever has lost the lease says nothing."""
    first = save(ledger)
    ledger.claim()
    lease = begun(ledger, first, "parse")
    assert ledger.advance(replace(lease, token="another"), "resolve", "{}", Row(1, "偽", ())) is None
    before = ledger.project()
    assert before is not None
    assert before.rows == {}
    assert ledger.advance(lease, "resolve", "{}", Row(1, "週次", ("集計",))) is not None
    project = ledger.project()
    assert project is not None
    assert project.rows == {"a": Row(1, "週次", ("集計",))}
    ledger.index("a", 2, "新", ())
    again = begun(ledger, first, "resolve")
    ledger.advance(again, "generate", "{}", Row(1, "旧", ()))
    newest = ledger.project(project.version)
    assert newest is not None
    assert newest.rows == {"a": Row(2, "新", ())}


def test_a_worker_takes_the_next_message_by_itself(ledger: Ledger) -> None:
    """The oldest of the first queue that has one; taken in the step in which its stage begins."""
    jobs = [save(ledger, document) for document in "abc"]
    ledger.claim()
    queues = ("parse.bulk", "parse.interactive")
    taken = [ledger.take("parse", Taking("worker", queues)) for _ in jobs]
    assert [lease.job.id for lease in taken if isinstance(lease, Lease)] == jobs
    assert ledger.take("parse", Taking("worker", queues)) is None
    first = taken[0]
    assert isinstance(first, Lease)
    assert ledger.advance(first, "resolve", "{}") is not None
    assert ledger.take("parse", Taking("worker", queues)) is None
    other = ledger.take("resolve", Taking("worker", ("resolve.interactive",)))
    assert isinstance(other, Lease)
    assert (other.job.id, other.job.notes) == (first.job.id, {"parse": "{}"})


def test_a_step_and_the_next_message_are_one(ledger: Ledger) -> None:
    """Whoever hands a job on or ends it may begin the next one of its queues in the same step."""
    jobs = [save(ledger, document) for document in "abc"]
    ledger.claim()
    queues = ("parse.bulk", "parse.interactive")
    lease = ledger.take("parse", Taking("worker", queues))
    begun_jobs: list[str] = []
    while isinstance(lease, Lease):
        begun_jobs.append(lease.job.id)
        taking = Taking("worker", queues)
        if lease.job.document == "b":
            assert ledger.complete(lease, "failed", "{}", taking)
        else:
            assert ledger.advance(lease, "resolve", "{}", taking=taking) is not None
        lease = taking.begun("parse")
    assert (begun_jobs, lease) == (jobs, None)
    states = [found.state for found in map(ledger.job, jobs) if found is not None]
    assert states == ["resolving", "failed", "resolving"]


def test_a_step_of_no_longer_wanted_work_takes_the_next_message_too(ledger: Ledger) -> None:
    """The worker is free all the same; one that has lost its lease takes nothing."""
    old = save(ledger, "a")
    ledger.claim()
    lease = ledger.take("parse", Taking("worker", ("parse.interactive",)))
    assert isinstance(lease, Lease)
    newer = save(ledger, "a")
    ledger.claim()
    taking = Taking("worker", ("parse.interactive",))
    assert ledger.advance(lease, "resolve", "{}", taking=taking) is None
    following = taking.begun("parse")
    assert isinstance(following, Lease)
    assert (lease.job.id, following.job.id) == (old, newer)
    assert ledger.hand_back(following)
    nothing = Taking("worker", ("parse.interactive",))
    assert ledger.advance(lease, "resolve", "{}", taking=nothing) is None
    assert not ledger.complete(lease, "failed", "{}", nothing)
    assert nothing.begun("parse") is None
    assert isinstance(ledger.take("parse", Taking("worker", ("parse.interactive",))), Lease)


def test_what_is_taken_is_refused_as_what_celery_brings(ledger: Ledger) -> None:
    """A message that came late or twice runs nothing, and is gone."""
    job = save(ledger)
    ledger.claim()
    begun(ledger, job, "parse")
    assert ledger.take("parse", Taking("other", ("parse.interactive",))) == "leased"
    assert ledger.take("parse", Taking("other", ("parse.interactive",))) is None


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "nonsense",
        "null",
        "[" * 5_000,
        '{"headers":[]}',
        '{"headers":{"task":"aop.parse","retries":0,"root_id":7}}',
        '{"headers":{"task":"aop.parse","retries":0,"root_id":"../x"}}',
        '{"headers":{"task":"aop.verify","retries":0,"root_id":"00"}}',
        '{"headers":{"task":"aop.parse","retries":1,"root_id":"00"}}',
        '{"headers":{"task":"aop.parse","retries":0,"root_id":"00","eta":"2030-01-01T00:00:00+00:00"}}',
        '{"headers":{"task":"aop.parse","retries":0,"root_id":"00"}}' + " " * 5_000,
    ],
)
def test_what_is_no_message_of_the_ledger_is_left_to_celery(ledger: Ledger, redis: Redis, raw: str) -> None:
    """It stays where it is, and what is behind it waits its turn."""
    save(ledger)
    ledger.claim()
    key = f"{ledger._prefix}:queue:parse.interactive"
    redis.rpush(key, raw)
    assert ledger.take("parse", Taking("worker", ("parse.interactive",))) is None
    assert redis.lindex(key, -1) == raw
    redis.rpop(key)
    assert isinstance(ledger.take("parse", Taking("worker", ("parse.interactive",))), Lease)


def test_a_stage_begins_with_the_catalog_of_that_moment(ledger: Ledger, redis: Redis) -> None:
    """As Redis says it; "" where it does not."""
    job = save(ledger)
    ledger.claim()
    redis.set(f"{ledger._prefix}:catalog", "c" * 64)
    assert begun(ledger, job, "parse").catalog == "c" * 64
    other = save(ledger, document="b")
    ledger.claim()
    redis.delete(f"{ledger._prefix}:catalog")
    assert begun(ledger, other, "parse").catalog == ""


def test_the_project_is_what_the_newest_saves_say(ledger: Ledger) -> None:
    """A slower worker of an older save changes nothing, neither after a newer one nor after the retirement."""
    empty = ledger.project()
    assert empty is not None
    assert ledger.index("a", 2, "週次", ["集計"])
    assert not ledger.index("a", 1, "旧", [])
    assert not ledger.index("a", 3, "週次", ["集計"])
    project = ledger.project(empty.version)
    assert project is not None
    assert project.rows == {"a": Row(3, "週次", ("集計",))}
    assert ledger.project(project.version) is None
    assert not ledger.forget("a", 2)
    assert ledger.forget("a", 4)
    assert not ledger.index("a", 3, "週次", ["集計"])
    assert not ledger.forget("a", 4)
    assert ledger.index("a", 5, "again", [])
    again = ledger.project(project.version)
    assert again is not None
    assert again.rows == {"a": Row(5, "again", ())}


def test_a_large_project_is_read_whole(ledger: Ledger) -> None:
    """Lua hands out no more than some thousand values at once as arguments."""
    for number in range(9_000):
        ledger.index(f"d{number}", 1, f"n{number}", [])
    project = ledger.project()
    assert project is not None
    assert len(project.rows) == 9_000


def test_a_rate_is_kept(ledger: Ledger) -> None:
    """A burst at first, then one a turn; each key by itself."""
    assert [ledger.rate("k", 1, 3) for _ in range(3)] == [0, 0, 0]
    assert 0 < ledger.rate("k", 1, 3) <= 60_000
    assert ledger.rate("other", 1, 3) == 0
    assert [ledger.rate("quick", 6_000, 1), ledger.rate("quick", 6_000, 1) <= 10] == [0, True]
    until(lambda: ledger.rate("quick", 6_000, 1) == 0)


def test_what_ended_without_a_worker_waits_to_be_recorded(ledger: Ledger) -> None:
    """Superseded saves and dead jobs, until the store has been told of just that end."""
    ledger.timing = replace(ledger.timing, most_attempts=1)
    superseded, job = save(ledger), save(ledger)
    assert [found for found, _ in ledger.unrecorded()] == [superseded]
    ((_, ended),) = ledger.unrecorded()
    assert ledger.recorded(superseded, ended)
    ledger.claim()
    ledger.release(begun(ledger, job, "parse"), "x", 0)
    ((found, first),) = ledger.unrecorded()
    assert found == job
    ledger.replay(job)
    assert ledger.unrecorded() == []
    time.sleep(0.002)
    ledger.release(begun(ledger, job, "parse"), "x", 0)
    assert not ledger.recorded(job, first)
    assert [found for found, _ in ledger.unrecorded()] == [job]
    ledger.replay(job)
    ledger.complete(begun(ledger, job, "parse"), "failed", "{}")
    assert ledger.unrecorded() == []
