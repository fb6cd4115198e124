"""Given a ledger, queues and tokens, when Prometheus asks, then it is told how they are now."""

from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from prometheus_client import CollectorRegistry
from redis import Redis

from workers.ledger.ledger import Ledger, Timing, new_id
from workers.ledger.records import Lease, LedgerLost
from workers.metrics.ledger_figures import LedgerFigures
from workers.pulse import Consumers
from workers.queues import QUEUES, queue_key, sent_ms

from ..saving import wipe
from ..waiting import until


def nothing() -> Iterable[tuple[str, float]]:
    return ()


@pytest.fixture
def figures(redis: Redis, ledger: Ledger) -> LedgerFigures:
    return LedgerFigures(redis, ledger, ledger._prefix, nothing, nothing)


def registry_of(figures: LedgerFigures) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(figures)
    return registry


def values(figures: LedgerFigures, name: str) -> dict[str, float]:
    """Of one scrape: by the value of the one label, "" without any."""
    return {
        next(iter(sample.labels.values()), ""): sample.value
        for family in registry_of(figures).collect()
        for sample in family.samples
        if sample.name == name
    }


def save(ledger: Ledger, document: str) -> str:
    job = new_id()
    reserved = ledger.reserve(document, source="test", revision="", idempotency_key="")
    ledger.accept(
        document, sequence=reserved.sequence, job=job, source="test", revision="", rank="", action="compile",
        idempotency_key="", trace="",
    )  # fmt: skip
    return job


def end(ledger: Ledger, outcome: str) -> None:
    """The one job that is due, in one breath."""
    (message,) = ledger.claim()
    for stage, following in (("parse", "resolve"), ("resolve", "generate"), ("generate", "verify")):
        lease = ledger.begin(message.job, stage, "w")  # type: ignore[arg-type]  # a stage
        assert isinstance(lease, Lease)
        ledger.advance(lease, following, "{}")  # type: ignore[arg-type]  # a stage
    lease = ledger.begin(message.job, "verify", "w")
    assert isinstance(lease, Lease)
    ledger.complete(lease, outcome, "{}")  # type: ignore[arg-type]  # an outcome


def test_an_idle_installation_shows_zeros(figures: LedgerFigures) -> None:
    """Every label that there can be: what is missing could not be alerted on."""
    for name in ("aop_queue_depth", "aop_queue_oldest_seconds", "aop_consumers"):
        assert values(figures, name) == dict.fromkeys(QUEUES, 0)
    assert values(figures, "aop_jobs_total") == dict.fromkeys(("succeeded", "failed", "superseded", "dead"), 0)
    assert values(figures, "aop_lease_expired_total") == dict.fromkeys(("parse", "resolve", "generate", "verify"), 0)
    assert set(values(figures, "aop_documents")) == {"accepted", "succeeded", "failed", "dead", "retired"}
    for name in ("aop_dead_letters", "aop_due_documents", "aop_due_oldest_seconds", "aop_redis_memory_limit_bytes"):
        assert values(figures, name) == {"": 0}
    assert values(figures, "aop_redis_memory_bytes")[""] > 100_000


def test_queues_show_their_length_age_and_consumers(redis: Redis, ledger: Ledger, figures: LedgerFigures) -> None:
    """The age is that of the message that is taken next; one that Celery sent again has none."""
    save(ledger, "a.md")
    save(ledger, "b.md")
    assert values(figures, "aop_due_documents") == {"": 2}
    ledger.claim()
    queue = queue_key(ledger._prefix, "parse.interactive")
    first = str(redis.rpop(queue))
    sent = sent_ms(first)
    assert sent is not None
    redis.rpush(queue, first.replace(f'"{sent}-', f'"{sent - 60_000}-'))
    Consumers(redis, ledger._prefix).beat("w", ("parse.interactive", "parse.bulk"))
    assert values(figures, "aop_queue_depth") == {**dict.fromkeys(QUEUES, 0), "parse.interactive": 2}
    oldest = values(figures, "aop_queue_oldest_seconds")
    assert 59 < oldest.pop("parse.interactive") < 600
    assert set(oldest.values()) == {0}
    assert values(figures, "aop_consumers")["parse.bulk"] == 1
    redis.rpop(queue)
    assert values(figures, "aop_queue_oldest_seconds")["parse.interactive"] < 30
    redis.delete(queue)
    again = '{"properties": {"delivery_tag": "0b8f7c1e-2e57-4d0c-9e0d-6f1f5c6f3a52"}}'
    redis.rpush(queue, again)
    assert values(figures, "aop_queue_oldest_seconds")["parse.interactive"] == 0


def test_a_document_that_no_dispatcher_claims_grows_old(ledger: Ledger, redis: Redis, figures: LedgerFigures) -> None:
    """The figure by which a dispatcher that is gone is seen; one that is not due yet has no age."""
    save(ledger, "a.md")
    redis.zadd(f"{ledger._prefix}:due", {"a.md": (time.time() + 60) * 1_000})
    assert values(figures, "aop_due_oldest_seconds") == {"": 0}
    redis.zadd(f"{ledger._prefix}:due", {"a.md": (time.time() - 60) * 1_000})
    assert 59 < values(figures, "aop_due_oldest_seconds")[""] < 600


def test_jobs_and_documents_are_counted_by_what_became_of_them(redis: Redis, ledger: Ledger) -> None:
    """Documents by their newest save, jobs by their end; a document without one is `accepted`."""
    for document, outcome in (("a.md", "succeeded"), ("b.md", "failed"), ("c.md", "failed")):
        save(ledger, document)
        end(ledger, outcome)
    save(ledger, "d.md")
    figures = LedgerFigures(redis, ledger, ledger._prefix, nothing, nothing)
    jobs = values(figures, "aop_jobs_total")
    assert (jobs["succeeded"], jobs["failed"], jobs["superseded"], jobs["dead"]) == (1, 2, 0, 0)
    documents = values(figures, "aop_documents")
    assert (documents["succeeded"], documents["failed"], documents["accepted"]) == (1, 2, 1)


def test_dead_letters_and_expired_leases_are_counted(redis: Redis, ledger: Ledger) -> None:
    """What an operator must look at."""
    short = Ledger(redis, ledger._prefix, Timing(quiet=0, longest_wait=0, lease=1, most_attempts=1))
    save(short, "a.md")
    (message,) = short.claim()
    assert isinstance(short.begin(message.job, "parse", "w"), Lease)
    until(lambda: short.reconcile() or short.dead())
    figures = LedgerFigures(redis, ledger, ledger._prefix, nothing, nothing)
    assert values(figures, "aop_lease_expired_total")["parse"] == 1
    assert values(figures, "aop_dead_letters") == {"": 1}
    assert values(figures, "aop_jobs_total")["dead"] == 1


def test_expiries_are_the_seconds_that_are_left(redis: Redis, ledger: Ledger) -> None:
    """Below zero for what has expired."""
    now = time.time()
    tokens_at, certificates_at = [("ci", now + 1_000), ("old", now - 1_000)], [("redis", now + 500)]
    figures = LedgerFigures(redis, ledger, ledger._prefix, lambda: tokens_at, lambda: certificates_at)
    tokens = values(figures, "aop_token_expiry_seconds")
    assert 500 < tokens["ci"] <= 1_000
    assert -1_500 < tokens["old"] <= -1_000
    assert 250 < values(figures, "aop_certificate_expiry_seconds")["redis"] <= 500


def test_a_lost_ledger_is_no_figure(redis: Redis, ledger: Ledger, figures: LedgerFigures) -> None:
    """Zeros would say that all is well."""
    save(ledger, "a.md")
    wipe(redis, ledger)
    figures.describe()
    with pytest.raises(LedgerLost):
        list(figures.collect())
