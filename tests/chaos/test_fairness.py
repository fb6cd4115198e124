"""Given 5,000 documents that are to be compiled again, when one is saved, then it is published nearly as fast as if
there were none."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.service.saving import publish
from workers.bulk.duties import recompiles_of
from workers.catalogs import redis_key
from workers.context import open_context
from workers.intake import Intake
from workers.ledger.records import STAGES, Lease

from .installation import PREFIX, Installation
from .processes import until
from .waiting import TEXT, Client, p95

pytestmark = pytest.mark.chaos

BULK: Final = 5_000
SAVES: Final = 100

SETTINGS: Final = {
    "AOP_QUIET_MS": "0",
    "AOP_LONGEST_WAIT_MS": "0",
    "AOP_TICK_MS": "20",
    "AOP_CONCURRENCY": "1",
}


def test_bulk_work_does_not_delay_a_saved_document(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Both without the quiet time, at p95: at most twice as long."""
    with Installation(tmp_path, settings=SETTINGS) as found:
        documents = _library(found)
        found.start(*STAGES, "dispatcher", "server")
        client = Client(found)
        for number in range(10):
            client.latency_s(f"warm/{number}.md")
        idle = [client.latency_s(f"idle/{number}.md") for number in range(SAVES)]

        context = open_context(found.settings)
        catalog = until(lambda: found.redis.get(redis_key(PREFIX)), 30, "a catalog is published")
        recompiles = recompiles_of(context)
        identity = recompiles.begin("chaos", documents, "{}", str(catalog), "chaos")
        until(lambda: found.ledger.bulk_in_flight() > 0, 30, "bulk jobs run")
        busy = [client.latency_s(f"busy/{number}.md") for number in range(SAVES)]
        recompile = recompiles.recompile(identity)
        recompiles.change(identity, "cancelled")
        until(lambda: not found.ledger.bulk_in_flight(), 30, "bulk jobs have ended")
        # Before and after: a machine is not equally fast all the time.
        idle += [client.latency_s(f"idle/{number}.md") for number in range(SAVES, 2 * SAVES)]
        context.close()
        client.close()

        assert recompile is not None
        ratio = p95(busy) / p95(idle)
        with capfd.disabled():
            print(  # noqa: T201
                f"\nfairness: p95 {p95(busy) * 1_000:.0f} ms with {recompile.total - recompile.done} of "
                f"{recompile.total} bulk jobs left, idle {p95(idle) * 1_000:.0f} ms: {ratio:.2f} times"
            )
        assert 0 < recompile.done < recompile.total, "bulk work was under way all the time"
        assert ratio <= 2


def _library(found: Installation) -> list[str]:
    """Documents that were saved and ended, without a worker: what is to be compiled is the text of their saves."""
    intake = Intake(found.ledger, found.archive)
    documents = [f"library/{number}.md" for number in range(BULK)]
    for document in documents:
        intake.accept(document, data=TEXT.format(name=document, number=0).encode(), source="library")
    while messages := found.ledger.claim():
        for message in messages:
            lease = found.ledger.begin(message.job, "parse", "library")
            assert isinstance(lease, Lease)
            publish(found.archive, lease.job)
            found.ledger.complete(lease, "succeeded", "{}")
    return documents
