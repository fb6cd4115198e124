"""Given a save that was accepted, when it is sent again after Redis was lost, then the answer is the same."""

from __future__ import annotations

from collections.abc import Callable

import httpx2

from tests.service.saving import wipe
from workers.reindex import reindex

from .running import Running, as_body, saved_event, signed


def send(running: Running, document: str, revision: int) -> httpx2.Response:
    body = as_body(saved_event(document, revision, f"# 文書\n\n{revision} 版\n"))
    headers = signed(body, identity=f"msg_{revision}")
    return running.client.post("/v1/hooks/document-saved", content=body, headers=headers)


def test_what_was_answered_before_redis_was_lost_is_answered_after(run: Callable[..., Running], document: str) -> None:
    """The same job, and that the late one is superseded, which the ledger no longer knows."""
    running = run()
    first = [send(running, document, revision) for revision in (5, 3)]
    assert [(answer.status_code, answer.json()["status"]) for answer in first] == [
        (202, "accepted"),
        (202, "superseded"),
    ]
    backend = running.service.backend
    wipe(running.service.redis, backend.ledger)
    assert send(running, document, 5).status_code == 503
    reindex(backend.ledger, backend.archive)
    again = [send(running, document, revision) for revision in (5, 3)]
    assert [answer.json() for answer in again] == [answer.json() for answer in first]
    assert [answer.status_code for answer in again] == [202, 202]
