"""What the tests of the workers begin with."""

from __future__ import annotations

from uuid import uuid4

from workers.ledger.ledger import Ledger, new_id
from workers.ledger.records import Lease, Stage


def claimed_job(ledger: Ledger, document: str = "a.md") -> str:
    """Of a save that nobody stored, in its first stage."""
    sequence = ledger.reserve(document, source="test", revision=uuid4().hex).sequence
    job = ledger.accept(document, sequence=sequence, job=new_id(), source="test").job
    assert [message.job for message in ledger.claim()] == [job]
    return job


def begun_job(ledger: Ledger, stage: Stage, job: str | None = None) -> Lease:
    lease = ledger.begin(claimed_job(ledger) if job is None else job, stage, "test")
    assert isinstance(lease, Lease), lease
    return lease
