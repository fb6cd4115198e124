"""Given a ledger in a real Valkey, when saves and workers come in any order, then what it says stays true."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from uuid import uuid4

import pytest
from redis import Redis

from workers.ledger.ledger import Ledger, LedgerVersion, Timing
from workers.ledger.records import STAGES, Lease, LedgerCorrupt, Message, Stage


def save(ledger: Ledger, document: str = "a", **fields: str) -> str:
    given = {"text": f"saves/{uuid4().hex}", "source": "test", **fields}
    return ledger.accept(document, **given).job  # type: ignore[arg-type]  # only texts are given here


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
    accepted = ledger.accept("月次/締め.md", text="saves/1", source="test", revision="7", trace="00-1-2-01")
    assert (accepted.answer, accepted.sequence) == ("accepted", 1)
    job = ledger.job(accepted.job)
    assert job is not None
    assert (job.state, job.text, job.revision, job.trace, job.claimed_ms) == (
        "queued",
        "saves/1",
        "7",
        "00-1-2-01",
        None,
    )
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
    assert ended.notes == {"parse": '"parse"', "resolve": '"resolve"', "generate": '"generate"'}
    assert set(ended.took_ms) == set(STAGES)
    assert (document.state, document.published, document.published_job) == ("succeeded", 1, job.id)
    assert (document.running, document.waiting) == ("", "")
    assert set(ledger.depths().values()) == {0}


def test_the_same_save_is_accepted_once(ledger: Ledger) -> None:
    """By its idempotency key, or by its source's revision: it is the first one's answer, and no second job."""
    first = ledger.accept("a", text="t", source="s", revision="1", idempotency_key="k")
    again = ledger.accept("a", text="u", source="s", revision="2", idempotency_key="k")
    assert (again.answer, again.job, again.sequence) == ("repeated", first.job, 1)
    other_key = ledger.accept("a", text="v", source="s", revision="1", idempotency_key="k2")
    assert (other_key.answer, other_key.job) == ("repeated", first.job)
    other_source = ledger.accept("a", text="v", source="s2", revision="1")
    assert (other_source.answer, other_source.sequence) == ("accepted", 2)


def test_an_older_revision_of_a_source_does_not_win(ledger: Ledger) -> None:
    """It has an outcome, but no place in the order."""
    newest = ledger.accept("a", text="t", source="s", revision="10", rank="00010")
    late = ledger.accept("a", text="u", source="s", revision="9", rank="00009")
    assert (late.answer, late.sequence) == ("superseded", 0)
    assert [message.job for message in ledger.claim()] == [newest.job]
    job, document = ledger.job(late.job), ledger.document("a")
    assert job is not None
    assert document is not None
    assert (job.state, document.sequence) == ("superseded", 1)


def test_a_burst_of_saves_compiles_the_newest(ledger: Ledger) -> None:
    """Within the quiet time each save supersedes the one that waits."""
    ledger.timing = replace(ledger.timing, quiet=150, longest_wait=10_000)
    jobs = [save(ledger) for _ in range(20)]
    assert ledger.claim() == []
    time.sleep(0.2)
    assert [message.job for message in ledger.claim()] == [jobs[-1]]
    states = [found.state for job in jobs[:-1] if (found := ledger.job(job)) is not None]
    assert states == ["superseded"] * 19


def test_a_stream_of_saves_does_not_postpone_for_ever(ledger: Ledger) -> None:
    """The longest wait counts from the first save that nobody has claimed."""
    ledger.timing = replace(ledger.timing, quiet=10_000, longest_wait=150)
    end = time.monotonic() + 5
    claimed: list[Message] = []
    while not claimed and time.monotonic() < end:
        save(ledger)
        claimed = ledger.claim()
        time.sleep(0.02)
    assert len(claimed) == 1


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
    ledger.timing = replace(ledger.timing, lease=40)
    job = save(ledger)
    ledger.claim()
    silent = begun(ledger, job, "parse")
    assert ledger.reconcile() == []
    time.sleep(0.06)
    assert ledger.reconcile() == [(Message(job, "parse", "interactive"), "lease")]
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
    ledger.timing = replace(ledger.timing, message_lost=30)
    job = save(ledger)
    ledger.claim()
    assert ledger.reconcile() == []
    for _ in range(2):
        time.sleep(0.05)
        assert ledger.reconcile() == [(Message(job, "parse", "interactive"), "message")]
    assert ledger.begin(job, "parse", "w") not in ("gone", "ended", "elsewhere", "leased", "superseded", "dead")


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
        time.sleep(0.01)
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
    job = save(ledger, action="retire", text="")
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
    time.sleep(0.06)
    assert ledger.job(job) is None
    assert ledger.events(job) == []
    keys = {key.split(":")[1] for key in redis.scan_iter(f"{ledger._prefix}:*")}
    assert keys == {"meta", "doc", "docs", "events", "totals"}


def test_a_ledger_of_another_version_is_refused(redis: Redis, ledger: Ledger) -> None:
    """Before anything is read or written in it."""
    redis.hset(f"{ledger._prefix}:meta", "schema", "99")
    with pytest.raises(LedgerVersion, match="layout 99"):
        ledger.open()


def test_a_record_that_nobody_wrote_so_is_named(redis: Redis, ledger: Ledger) -> None:
    """Key and field."""
    job = save(ledger)
    redis.hset(f"{ledger._prefix}:job:{job}", "state", "sleeping")
    with pytest.raises(LedgerCorrupt, match=f"job:{job}: state is 'sleeping'"):
        ledger.job(job)


def test_two_installations_share_a_redis(redis: Redis, ledger: Ledger) -> None:
    """By their prefixes."""
    other = Ledger(redis, f"test-{uuid4().hex}", Timing(quiet=0))
    save(ledger)
    assert other.claim() == []
    assert len(ledger.claim()) == 1
