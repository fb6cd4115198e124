"""Given messages on the queues, when a process has run the one that Celery brought, then it takes more by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from workers.busy import Busy
from workers.catalogs import Sources, publish_catalog
from workers.context import Context, open_context
from workers.intake import Intake, open_installation
from workers.ledger.records import CLASSES
from workers.queues import queues_of
from workers.settings import Settings
from workers.tasks import Child

from ..celery_messages import take_all
from .documents import MULTI

DOCUMENTS = 6


@pytest.fixture
def context(service_settings: Settings) -> Iterator[Context]:
    """With documents whose first stages are on the queue of saved documents, and as many on that of bulk work."""
    found = open_context(service_settings.model_copy(update={"soft_time_limit_s": 600.0, "time_limit_s": 700.0}))
    open_installation(found.ledger, found.archive)
    publish_catalog(Sources(None), found.store, found.redis, found.settings.redis_prefix)
    fill(found, 2 * DOCUMENTS)
    yield found
    found.close()


def fill(context: Context, count: int) -> None:
    intake = Intake(context.ledger, context.archive)
    for number in range(count):
        intake.accept(f"{number}.md", data=MULTI.encode(), source="test")
    context.ledger.claim()
    for message in take_all(context.redis, context.settings.redis_prefix)[:DOCUMENTS]:
        lease = context.ledger.begin(message.job, "parse", "test")
        assert not isinstance(lease, str)
        context.ledger.complete(lease, "failed", "{}")
        assert context.ledger.recompile(lease.job.document) is not None
    for job in context.ledger.under_way():
        found = context.ledger.job(job)
        assert found is not None
        if found.job_class == "interactive":
            lease = context.ledger.begin(job, "parse", "test")
            assert not isinstance(lease, str)
            assert context.ledger.hand_back(lease)


def states(context: Context) -> list[tuple[str, str]]:
    jobs = [context.ledger.job(job) for job in context.ledger.under_way()]
    return sorted((job.job_class, job.state) for job in jobs if job is not None)


def run(context: Context, taken: tuple[str, ...]) -> Child:
    """What a child does with one message of Celery's, here one that runs nothing."""
    child = Child(context.settings, Busy(), taken)
    child.run("0" * 27, "parse")
    child.close()
    return child


def test_all_that_is_there(context: Context) -> None:
    """Of both classes, each job once; their next stages are not this process's."""
    run(context, queues_of("parse", "both"))
    assert states(context) == sorted((job_class, "resolving") for job_class in CLASSES for _ in range(DOCUMENTS))


def test_only_the_queues_of_the_worker(context: Context) -> None:
    """A worker for saved documents takes no bulk work."""
    run(context, queues_of("parse", "interactive"))
    assert states(context) == sorted([("bulk", "parsing"), ("interactive", "resolving")] * DOCUMENTS)


def test_the_classes_take_turns(context: Context) -> None:
    """However many of the other wait."""
    before = context.ledger.last_event()
    run(context, queues_of("parse", "both"))
    begun = [event.job for event in context.ledger.all_events(before) if event.event == "begun"]
    classes = [job.job_class for job in map(context.ledger.job, begun) if job is not None]
    assert classes == ["bulk", "interactive"] * DOCUMENTS


def test_no_longer_than_a_moment(context: Context) -> None:
    """After which Celery, with its limits, has its turn: the first stage alone takes longer than this moment."""
    context.settings = context.settings.model_copy(update={"soft_time_limit_s": 1e-6})
    run(context, queues_of("parse", "both"))
    assert states(context) == sorted([("bulk", "parsing"), ("interactive", "parsing")] * DOCUMENTS)


def test_a_process_of_no_worker_takes_nothing(context: Context) -> None:
    """It has no queues."""
    run(context, ())
    assert {state for _, state in states(context)} == {"parsing"}
