"""Given a document in a real ledger, when somebody asks for it to be compiled again, then one job does it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from redis import Redis

from workers.ledger.ledger import Ledger
from workers.ledger.records import Again, Message

from .saving import empty_queues
from .test_recompiles import finish, save, saved


def test_once_more(ledger: Ledger) -> None:
    """A round of the newest save, in the interactive class, with the trace of who asked."""
    (document,) = saved(ledger, 1)
    again = ledger.again(document, trace="00-trace")
    assert (again.answer, again.sequence) == ("sent", 1)
    job = ledger.job(again.job)
    assert job is not None
    assert (job.job_class, job.round, job.trace, job.bulk) == ("interactive", 1, "00-trace", "")
    finish(ledger, [Message(again.job, "parse", "interactive")])
    assert ledger.bulk_in_flight() == 0


def test_what_goes_on_already(ledger: Ledger) -> None:
    """The job that waits is the newer one; else the one that runs."""
    (document,) = saved(ledger, 1)
    running = ledger.again(document)
    assert ledger.again(document) == Again("running", running.job, 1)
    waiting = save(ledger, document)
    assert ledger.again(document) == Again("running", waiting, 2)


def test_nothing_to_compile(ledger: Ledger) -> None:
    """Never saved, or retired: nothing is made, and no key is remembered."""
    assert ledger.again("nobody", idempotency_key="k") == Again("unknown")
    (document,) = saved(ledger, 1)
    save(ledger, document, "retire")
    assert ledger.again(document, idempotency_key="k") == Again("unknown")
    finish(ledger, ledger.claim())
    save(ledger, document)
    assert ledger.again(document, idempotency_key="k").answer == "running"


def test_the_same_key(ledger: Ledger, redis: Redis) -> None:
    """The same job, at the same time as well as later; also where it was the job of a save that waited."""
    (document,) = saved(ledger, 1)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: ledger.again(document, idempotency_key="k"), range(8)))
    assert len({answer.job for answer in answers}) == 1
    assert sorted(answer.answer for answer in answers) == ["repeated"] * 7 + ["sent"]
    finish(ledger, [Message(answers[0].job, "parse", "interactive")])
    assert ledger.again(document, idempotency_key="k") == Again("repeated", answers[0].job, 1)
    waiting = save(ledger, document)
    assert ledger.again(document, idempotency_key="w") == Again("running", waiting, 2)
    finish(ledger, ledger.claim())
    assert ledger.again(document, idempotency_key="w") == Again("repeated", waiting, 2)
    assert 0 < redis.pttl(f"{ledger._prefix}:once:k") <= ledger.timing.keep_once


def test_a_message_that_is_lost(ledger: Ledger) -> None:
    """Is found by the reconciler, as any other."""
    (document,) = saved(ledger, 1)
    again = ledger.again(document)
    ledger.timing = replace(ledger.timing, message_lost=-1)
    empty_queues(ledger)
    ((message, reason),) = ledger.reconcile()
    assert (message.job, reason) == (again.job, "message")
