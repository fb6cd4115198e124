"""Given recompiles of many documents in a real Valkey, when dispatchers, workers and people come in any order, then
each document has its turn once, a few at a time, and the counts are true."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Literal, cast
from uuid import uuid4

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from redis import Redis

import workers.ledger.recompiles as recompiles_module
from tests.service.saving import empty_queues
from tests.service.waiting import until
from workers.ledger.ledger import Ledger, Timing, new_id
from workers.ledger.recompiles import KEEP_PLAN_S, KEEP_RECOMPILE_MS, MOST_PLANS, Recompile, Recompiles
from workers.ledger.records import ENDED, Lease, LedgerCorrupt, LedgerLost, Message

WINDOW = 4


@pytest.fixture
def recompiles(ledger: Ledger, redis: Redis) -> Recompiles:
    return Recompiles(ledger, redis, ledger._prefix)


def save(ledger: Ledger, document: str, action: Literal["compile", "retire"] = "compile") -> str:
    sequence = ledger.reserve(document, source="test").sequence
    return ledger.accept(document, sequence=sequence, job=new_id(), source="test", action=action).job


def saved(ledger: Ledger, count: int) -> list[str]:
    """Documents that were compiled once."""
    documents = [f"d{number:03}" for number in range(count)]
    for document in documents:
        save(ledger, document)
    finish(ledger, ledger.claim(count))
    return documents


def finish(
    ledger: Ledger, messages: Sequence[Message], outcome: Literal["succeeded", "failed", "superseded"] = "succeeded"
) -> None:
    for message in messages:
        lease = ledger.begin(message.job, message.stage, "w")
        assert isinstance(lease, Lease)
        ledger.complete(lease, outcome, "{}")


def begun(recompiles: Recompiles, documents: Sequence[str], token: str = "") -> str:
    return recompiles.begin(token or uuid4().hex, documents, '{"all":true}', "c" * 64, "somebody")


def found(recompiles: Recompiles, identity: str) -> Recompile:
    recompile = recompiles.recompile(identity)
    assert recompile is not None
    return recompile


def results(recompiles: Recompiles, identity: str) -> dict[str, tuple[str, str]]:
    cursor, all_of_them = recompiles.results(identity, 0, 10)
    while cursor:
        cursor, more = recompiles.results(identity, cursor, 10)
        all_of_them |= more
    return all_of_them


# --------------------------------------------------------------------------------------------------- feeding


def test_a_few_at_a_time(ledger: Ledger, recompiles: Recompiles) -> None:
    """Never more than the window is under way; each document once, in class bulk; at the end it is finished."""
    documents = saved(ledger, 10)
    identity = begun(recompiles, documents)
    assert (found(recompiles, identity).state, found(recompiles, identity).total) == ("running", 10)
    fed: list[str] = []
    while messages := recompiles.feed(WINDOW):
        assert len(messages) <= WINDOW
        assert ledger.bulk_in_flight() == len(messages)
        assert recompiles.feed(WINDOW) == []
        assert {message.queue for message in messages} == {"parse.bulk"}
        jobs = [ledger.job(message.job) for message in messages]
        fed += [job.document for job in jobs if job is not None]
        finish(ledger, messages)
    assert sorted(fed) == documents
    after = found(recompiles, identity)
    assert (after.state, after.done, after.counts["succeeded"]) == ("finished", 10, 10)
    assert results(recompiles, identity).keys() == set(documents)
    assert ledger.bulk_in_flight() == 0


def test_the_window_is_one_for_all(ledger: Ledger, recompiles: Recompiles) -> None:
    """Two recompiles share it; the older one goes first."""
    documents = saved(ledger, 6)
    first = begun(recompiles, documents[:3])
    time.sleep(0.003)  # the order is that of the clock, in ms
    second = begun(recompiles, documents[3:])
    messages = recompiles.feed(WINDOW)
    bulks = [job.bulk for message in messages if (job := ledger.job(message.job)) is not None]
    assert bulks == [first] * 3 + [second]
    finish(ledger, messages)
    finish(ledger, recompiles.feed(WINDOW))
    assert {found(recompiles, identity).state for identity in (first, second)} == {"finished"}


def test_two_dispatchers_at_once(ledger: Ledger, recompiles: Recompiles) -> None:
    """No document twice, no more than the window."""
    documents = saved(ledger, 40)
    identity = begun(recompiles, documents)
    fed: list[str] = []
    with ThreadPoolExecutor(4) as threads:
        while True:
            rounds = list(threads.map(lambda _: recompiles.feed(WINDOW), range(4)))
            messages = [message for messages in rounds for message in messages]
            if not messages:
                break
            assert len(messages) <= WINDOW
            assert ledger.bulk_in_flight() <= WINDOW
            fed += [job.document for message in messages if (job := ledger.job(message.job)) is not None]
            finish(ledger, messages)
    assert sorted(fed) == documents
    assert found(recompiles, identity).counts["succeeded"] == 40


def test_a_document_whose_job_waits_or_runs(
    ledger: Ledger, recompiles: Recompiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comes later, and holds up none of the others; the save's own job is not counted."""
    monkeypatch.setattr(recompiles_module, "BUSY_MS", 1_000)
    documents = saved(ledger, 3)
    save(ledger, documents[0])
    save(ledger, documents[1])
    (running,) = ledger.claim(1)
    identity = begun(recompiles, documents)
    (message,) = recompiles.feed(WINDOW)
    job = ledger.job(message.job)
    assert job is not None
    assert job.document == documents[2]
    finish(ledger, [message, running, *ledger.claim()])
    assert recompiles.feed(WINDOW) == []

    def is_finished() -> bool:
        finish(ledger, recompiles.feed(WINDOW))
        return found(recompiles, identity).state == "finished"

    until(is_finished)
    assert found(recompiles, identity).counts["succeeded"] == 3


def test_what_is_gone_is_passed_over(ledger: Ledger, recompiles: Recompiles) -> None:
    """Retired since the plan, or never known: `skipped`, which is said of the document as well."""
    documents = saved(ledger, 2)
    save(ledger, documents[0], "retire")
    finish(ledger, ledger.claim())
    identity = begun(recompiles, [*documents, "unknown"])
    finish(ledger, recompiles.feed(WINDOW))
    after = found(recompiles, identity)
    assert (after.state, after.counts["skipped"], after.counts["succeeded"]) == ("finished", 2, 1)
    assert {name: outcome for name, (_, outcome) in results(recompiles, identity).items()} == {
        documents[0]: "skipped",
        documents[1]: "succeeded",
        "unknown": "skipped",
    }


def test_a_save_supersedes_its_turn(ledger: Ledger, recompiles: Recompiles) -> None:
    """Whoever saves while the recompile is at the document: the save wins, and is no part of the counts."""
    (document,) = saved(ledger, 1)
    identity = begun(recompiles, [document])
    (message,) = recompiles.feed(WINDOW)
    lease = ledger.begin(message.job, message.stage, "w")
    assert isinstance(lease, Lease)
    ledger.timing = replace(ledger.timing, patience=-1)
    newer = save(ledger, document)
    claimed = ledger.claim()
    assert [found_message.job for found_message in claimed] == [newer]
    ledger.complete(lease, "superseded", "{}")
    finish(ledger, claimed)
    after = found(recompiles, identity)
    assert (after.state, after.counts["superseded"], after.done) == ("finished", 1, 1)


def test_a_dead_job_that_is_tried_again(ledger: Ledger, recompiles: Recompiles) -> None:
    """Counts as what it becomes; meanwhile the recompile is not over."""
    ledger.timing = replace(ledger.timing, most_attempts=1)
    (document,) = saved(ledger, 1)
    identity = begun(recompiles, [document])
    (message,) = recompiles.feed(WINDOW)
    lease = ledger.begin(message.job, message.stage, "w")
    assert isinstance(lease, Lease)
    ledger.release(lease, "cause", 0)
    assert (found(recompiles, identity).state, found(recompiles, identity).counts["dead"]) == ("finished", 1)
    again = ledger.replay(message.job)
    assert again is not None
    assert (found(recompiles, identity).state, found(recompiles, identity).done) == ("running", 0)
    finish(ledger, [again])
    after = found(recompiles, identity)
    assert (after.state, after.counts["dead"], after.counts["succeeded"]) == ("finished", 0, 1)


def _feed_for_ever(url: str, prefix: str, documents: list[str]) -> None:
    """A dispatcher that takes and takes, and never sends what it took."""
    client = Redis.from_url(url, decode_responses=True)
    recompiles = Recompiles(Ledger(client, prefix, Timing()), client, prefix)
    begun(recompiles, documents)
    while True:
        recompiles.feed(len(documents), 1)


def test_a_dispatcher_that_is_killed(ledger: Ledger, recompiles: Recompiles, redis: Redis) -> None:
    """What it took and had not sent is found by the reconciler; every document still has its turn, once."""
    documents = saved(ledger, 300)
    place = redis.connection_pool.connection_kwargs
    url = f"redis://{place['host']}:{place['port']}/0"
    process = multiprocessing.get_context("spawn").Process(
        target=_feed_for_ever, args=(url, ledger._prefix, documents), daemon=True
    )
    process.start()
    until(lambda: ledger.bulk_in_flight() >= 20)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(10)
    lost = ledger.bulk_in_flight()
    assert lost >= 20
    (recompile,) = recompiles.newest(10)
    impatient = Ledger(redis, ledger._prefix, replace(ledger.timing, message_lost=-1))
    empty_queues(ledger)
    finish(ledger, [message for message, _ in impatient.reconcile(1_000)])
    while messages := recompiles.feed(100):
        finish(ledger, messages)
    after = found(recompiles, recompile.id)
    assert (after.state, after.total, after.counts["succeeded"]) == ("finished", 300, 300)


# ------------------------------------------------------------------------------------------ pausing, cancelling


def test_pausing(ledger: Ledger, recompiles: Recompiles) -> None:
    """Nothing begins until it goes on; what is under way ends and counts; another recompile goes on."""
    documents = saved(ledger, 6)
    identity = begun(recompiles, documents[:5])
    messages = recompiles.feed(2)
    assert recompiles.change(identity, "paused") == ("running", "paused")
    finish(ledger, messages)
    other = begun(recompiles, documents[5:])
    finish(ledger, recompiles.feed(WINDOW))
    assert found(recompiles, other).state == "finished"
    assert (found(recompiles, identity).state, found(recompiles, identity).done) == ("paused", 2)
    assert recompiles.change(identity, "paused") == ("paused", "paused")
    assert recompiles.change(identity, "running") == ("paused", "running")
    finish(ledger, recompiles.feed(WINDOW))
    assert found(recompiles, identity).state == "finished"


def test_cancelling(ledger: Ledger, recompiles: Recompiles, redis: Redis) -> None:
    """What has not begun never does; what is under way ends and counts; nothing brings it back."""
    documents = saved(ledger, 5)
    identity = begun(recompiles, documents)
    messages = recompiles.feed(2)
    assert recompiles.change(identity, "cancelled") == ("running", "cancelled")
    assert recompiles.feed(WINDOW) == []
    finish(ledger, messages)
    after = found(recompiles, identity)
    assert (after.state, after.done, after.total) == ("cancelled", 2, 5)
    for state in ("running", "paused", "cancelled"):
        assert recompiles.change(identity, state) == ("cancelled", "cancelled")
    assert recompiles.feed(WINDOW) == []
    assert recompiles.change("f" * 27, "paused") is None
    assert ledger.bulk_in_flight() == 0
    assert lives(redis, ledger, identity) == {"": True, ":results": True}


def lives(redis: Redis, ledger: Ledger, identity: str) -> dict[str, bool]:
    """Which keys of it there are, and whether each will expire in time."""
    key = f"{ledger._prefix}:bulk:{identity}"
    left = {name.removeprefix(key): redis.pttl(name) for name in redis.scan_iter(f"{key}*")}
    return {name: 0 < ms <= KEEP_RECOMPILE_MS for name, ms in left.items()}


# ----------------------------------------------------------------------------------------- tokens, plans, expiry


def test_a_token_begins_one_only_once(ledger: Ledger, recompiles: Recompiles, redis: Redis) -> None:
    """Also when it comes twice at the same time: nothing is left of the other."""
    documents = saved(ledger, 5)
    with ThreadPoolExecutor(8) as threads:
        ids = set(threads.map(lambda _: begun(recompiles, documents, "token"), range(8)))
    (identity,) = ids
    assert recompiles.begun_with("token") == identity
    assert [entry.id for entry in recompiles.newest(10)] == [identity]
    assert len(list(redis.scan_iter(f"{ledger._prefix}:bulk:*:todo"))) == 1


def test_one_that_never_began(ledger: Ledger, recompiles: Recompiles, redis: Redis) -> None:
    """Whoever dies on the way leaves nothing that stays, and the token can be used again."""
    documents = saved(ledger, 2)
    redis.delete(f"{ledger._prefix}:meta")  # the last step fails
    with pytest.raises(LedgerLost):
        begun(recompiles, documents, "token")
    (todo,) = redis.scan_iter(f"{ledger._prefix}:bulk:*")
    assert 0 < redis.ttl(todo) <= KEEP_PLAN_S
    assert recompiles.begun_with("token") is None


def test_nothing_to_do(ledger: Ledger, recompiles: Recompiles) -> None:
    """Is over at once."""
    identity = begun(recompiles, [])
    assert found(recompiles, identity).state == "finished"
    assert recompiles.feed(WINDOW) == []


def test_what_has_ended_expires(ledger: Ledger, recompiles: Recompiles, redis: Redis) -> None:
    """Its life does not begin anew with each look of a dispatcher; nothing of it is left, and it is listed no more."""
    documents = saved(ledger, 3)
    identity = begun(recompiles, documents)
    assert lives(redis, ledger, identity) == {"": False, ":todo": False}
    finish(ledger, recompiles.feed(WINDOW))
    assert lives(redis, ledger, identity) == {"": True, ":results": True}
    key = f"{ledger._prefix}:bulk:{identity}"
    redis.pexpire(key, 40)
    redis.pexpire(f"{key}:results", 40)
    recompiles.feed(WINDOW)
    time.sleep(0.05)
    assert recompiles.recompile(identity) is None
    assert recompiles.newest(10) == []
    begun(recompiles, [])
    assert redis.zscore(f"{ledger._prefix}:bulks", identity) is None


def test_a_job_outlives_its_recompile(ledger: Ledger, recompiles: Recompiles, redis: Redis) -> None:
    """It ends as any other, and makes no key of what has expired."""
    documents = saved(ledger, 1)
    identity = begun(recompiles, documents)
    messages = recompiles.feed(WINDOW)
    recompiles.change(identity, "cancelled")
    redis.delete(f"{ledger._prefix}:bulk:{identity}")
    finish(ledger, messages)
    assert list(redis.scan_iter(f"{ledger._prefix}:bulk:*")) == []


def test_plans_are_bounded(recompiles: Recompiles, redis: Redis, ledger: Ledger) -> None:
    """Of each person the newest few are kept, and each for an hour only."""
    for number in range(MOST_PLANS + 5):
        recompiles.keep_plan(f"t{number}", f"plan {number}", "a")
    recompiles.keep_plan("other", "plan", "b")
    kept = [number for number in range(MOST_PLANS + 5) if recompiles.plan(f"t{number}") is not None]
    assert kept == list(range(5, MOST_PLANS + 5))
    assert recompiles.plan("other") == "plan"
    assert 0 < redis.ttl(f"{ledger._prefix}:plan:other") <= KEEP_PLAN_S


def test_a_damaged_one_is_said(recompiles: Recompiles, redis: Redis, ledger: Ledger) -> None:
    """Not guessed at."""
    redis.hset(f"{ledger._prefix}:bulk:{'a' * 27}", mapping={"state": "running", "total": "x"})
    with pytest.raises(LedgerCorrupt):
        recompiles.recompile("a" * 27)


def test_stale_marks(ledger: Ledger, recompiles: Recompiles) -> None:
    """Exactly those of the newest offer; whoever is compiled, to whatever end, is stale no more."""
    documents = saved(ledger, 3)
    recompiles.mark_stale({documents[0]: ["catalog-changed"], "old": ["x"]})
    marks = {name: ["catalog-changed", "callee-changed"] for name in documents}
    recompiles.mark_stale(marks)
    assert recompiles.stale([*documents, "old"]) == marks
    begun(recompiles, documents[:2])
    first, second = recompiles.feed(WINDOW)
    finish(ledger, [first])
    finish(ledger, [second], "failed")
    assert recompiles.stale(documents).keys() == {documents[2]}
    assert recompiles.stale([]) == {}


# ------------------------------------------------------------------------------------------------- any history


class Histories(RuleBasedStateMachine):
    """Saves, recompiles, dispatchers and people in any order; a model of sets is the judge."""

    client: Redis

    @initialize()
    def start(self) -> None:
        self.ledger = Ledger(
            self.client, f"test-{uuid4().hex}", Timing(quiet=0, longest_wait=0, patience=-1, most_attempts=1)
        )
        self.ledger.open(fresh=True)
        self.recompiles = Recompiles(self.ledger, self.client, self.ledger._prefix)
        self.bulks: dict[str, set[str]] = {}
        self.sent: list[Message] = []
        self.dead: list[str] = []
        self.cancelled: set[str] = set()

    @rule(document=st.sampled_from("abcde"), retire=st.booleans())
    def save(self, document: str, retire: bool) -> None:
        save(self.ledger, document, "retire" if retire else "compile")

    @rule()
    def claim(self) -> None:
        self.sent += self.ledger.claim()

    @rule(documents=st.sets(st.sampled_from("abcdef")), again=st.booleans())
    def begin(self, documents: set[str], again: bool) -> None:
        token = uuid4().hex
        identity = begun(self.recompiles, sorted(documents), token)
        if again:
            assert begun(self.recompiles, ["a"], token) == identity
        self.bulks[identity] = documents

    @rule(window=st.integers(1, 3))
    def feed(self, window: int) -> None:
        before = self.ledger.bulk_in_flight()
        messages = self.recompiles.feed(window)
        assert len(messages) <= max(0, window - before)
        self.sent += messages

    @rule(data=st.data(), outcome=st.sampled_from(["succeeded", "failed", "dead"]))
    def work(self, data: st.DataObject, outcome: Literal["succeeded", "failed", "dead"]) -> None:
        if not self.sent:
            return
        message = self.sent.pop(data.draw(st.integers(0, len(self.sent) - 1)))
        lease = self.ledger.begin(message.job, message.stage, "w")
        if not isinstance(lease, Lease):
            return
        if outcome == "dead":
            self.ledger.release(lease, "cause", 0)
            job = self.ledger.job(message.job)
            if job is not None and job.state == "dead":
                self.dead.append(message.job)
        else:
            self.ledger.complete(lease, outcome, "{}")

    @rule()
    def replay(self) -> None:
        if self.dead:
            message = self.ledger.replay(self.dead.pop())
            if message is not None:
                self.sent.append(message)

    @rule(data=st.data(), state=st.sampled_from(["running", "paused", "cancelled"]))
    def change(self, data: st.DataObject, state: Literal["running", "paused", "cancelled"]) -> None:
        if not self.bulks:
            return
        identity = data.draw(st.sampled_from(sorted(self.bulks)))
        states = self.recompiles.change(identity, state)
        assert states is not None
        before, after = states
        assert after == (before if before in ("cancelled", "finished") else state)
        if after == "cancelled":
            self.cancelled.add(identity)

    @invariant()
    def counts_are_true(self) -> None:
        for identity, documents in getattr(self, "bulks", {}).items():
            recompile = found(self.recompiles, identity)
            told = results(self.recompiles, identity)
            assert recompile.total == len(documents)
            assert recompile.done <= recompile.total
            assert (recompile.state == "cancelled") is (identity in self.cancelled)
            assert recompile.state == "cancelled" or (recompile.state == "finished") is (
                recompile.done == recompile.total
            )
            # A job that died and is tried again is told of as dead until it has ended.
            under_way = {name for name, (job, _) in told.items() if job and not self._ended(job)}
            counted = Counter(outcome for name, (_, outcome) in told.items() if name not in under_way)
            assert {name: count for name, count in recompile.counts.items() if count} == counted

    def _ended(self, job: str) -> bool:
        known = self.ledger.job(job)
        assert known is not None
        return known.state in ENDED

    def teardown(self) -> None:
        """What is left comes to its end."""
        if not hasattr(self, "bulks"):
            return
        for identity in self.bulks:
            self.recompiles.change(identity, "running")
        impatient = Ledger(self.client, self.ledger._prefix, replace(self.ledger.timing, message_lost=-1, lease=0))
        for _ in range(200):
            self.sent += self.ledger.claim() + self.recompiles.feed(3)
            empty_queues(impatient)
            self.sent += [message for message, _ in impatient.reconcile()]
            for message in self.sent:
                lease = self.ledger.begin(message.job, message.stage, "w")
                if isinstance(lease, Lease):
                    self.ledger.complete(lease, "succeeded", "{}")
            self.sent = []
            # A document whose job waited is not kept waiting here.
            for identity in self.bulks:
                todo = f"{self.ledger._prefix}:bulk:{identity}:todo"
                for name in cast("list[str]", self.client.zrange(todo, 0, -1)):
                    self.client.zadd(todo, {name: 0})
            states = {found(self.recompiles, identity).state for identity in self.bulks}
            if states <= {"finished", "cancelled"}:
                break
        assert states <= {"finished", "cancelled"}
        assert self.client.zcard(f"{self.ledger._prefix}:bulks-open") == 0


def test_any_history(redis: Redis) -> None:
    """Counts add up after every step, and every recompile ends."""
    machine = type("Histories", (Histories,), {"client": redis})
    run_state_machine_as_test(machine, settings=hypothesis_settings(deadline=None, stateful_step_count=40))
