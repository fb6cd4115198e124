"""`GET /v1/jobs/{id}/events`: progress as it happens, resumed where it broke off."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

import server.rest.events
from workers.ledger.records import Lease

from ..waiting import until
from .running import Running, problem


def read(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The events of a stream, each with its id; comments are passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            data = json.loads(fields["data"])
            assert data["event"] == fields["event"]
            yield {"id": fields["id"], **data}
            fields = {}
        else:
            fields = {}


def saved(running: Running, client: httpx2.Client, document: str) -> str:
    found: str = client.put(f"/v1/documents/{document}", content="# x\n").json()["job_id"]
    return found


def begin(running: Running, job: str) -> Lease:
    running.service.ledger.claim()
    lease = running.service.ledger.begin(job, "parse", "test")
    assert isinstance(lease, Lease)
    return lease


def test_progress_until_the_end(running: Running, document: str) -> None:
    """What was comes first, then each event once it has happened, before the next; the end closes the stream."""
    client = running.as_token()
    job = saved(running, client, document)
    seen: list[str] = []
    with client.stream("GET", f"/v1/jobs/{job}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        events = read(stream.iter_lines())
        seen.append(next(events)["event"])
        lease = begin(running, job)
        seen += [next(events)["event"] for _ in range(2)]
        assert running.service.ledger.complete(lease, "failed", "{}")
        seen += [event["event"] for event in events]
    assert seen == ["accepted", "claimed", "begun", "failed"]


def test_resuming(running: Running, document: str) -> None:
    """With the last id nothing comes twice and nothing is missed; after the end there is no more: 204."""
    client = running.as_token()
    job = saved(running, client, document)
    lease = begin(running, job)
    with client.stream("GET", f"/v1/jobs/{job}/events") as stream:
        first = next(read(stream.iter_lines()))
    running.service.ledger.complete(lease, "failed", "{}")
    for how in ({"headers": {"last-event-id": first["id"]}}, {"params": {"after": first["id"]}}):
        with client.stream("GET", f"/v1/jobs/{job}/events", **how) as stream:  # type: ignore[arg-type]  # either
            rest = list(read(stream.iter_lines()))
        assert [event["event"] for event in rest] == ["claimed", "begun", "failed"]
    again = client.get(f"/v1/jobs/{job}/events", headers={"last-event-id": rest[-1]["id"]})
    assert (again.status_code, again.content) == (204, b"")
    wrong = client.get(f"/v1/jobs/{job}/events", headers={"last-event-id": "$"})
    assert problem(wrong)[2]["path"] == "header.Last-Event-ID"


def test_head(running: Running, document: str) -> None:
    """Asks what there would be, and waits for nothing."""
    client = running.as_token()
    answer = client.head(f"/v1/jobs/{saved(running, client, document)}/events")
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, "text/event-stream")


def test_keep_alives(running: Running, document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing happens the connection is kept; a token that was revoked meanwhile ends it."""
    monkeypatch.setattr(server.rest.events, "KEEP_ALIVE_S", 0.1)
    token = running.token()
    client = running.as_text(token)
    job = saved(running, client, document)
    with client.stream("GET", f"/v1/jobs/{job}/events") as stream:
        comments = 0
        for line in stream.iter_lines():
            comments += line.startswith(":")
            if comments == 3:
                running.tokens.revoke(token.split("_")[1])
                comments += 1
    assert comments > 3


def test_streams_of_a_token_are_bounded(running: Running, document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many at a time: 429. One that is closed makes room again."""
    monkeypatch.setattr(server.rest.events, "MOST_OF_A_TOKEN", 2)
    client = running.as_token()
    job = saved(running, client, document)
    path = f"/v1/jobs/{job}/events"
    with client.stream("GET", path) as one, client.stream("GET", path) as two:
        lines = one.iter_lines(), two.iter_lines()  # kept: an iterator that is dropped closes its stream
        assert [next(each) for each in lines] == ["retry: 2000", "retry: 2000"]
        assert problem(client.get(path))[:2] == (429, "rate_limited")
        assert running.as_token().get("/v1/documents").status_code == 200

    def makes_room() -> bool:
        with client.stream("GET", path) as again:
            return bool(again.status_code == 200)

    until(makes_room)


def test_many_watch_one_job(running: Running, document: str) -> None:
    """Each is told, and none of them holds a thread of the server."""
    clients = [running.as_token() for _ in range(100)]
    job = saved(running, clients[0], document)
    ends: list[str] = []
    ready = threading.Barrier(101)

    def watch(client: httpx2.Client) -> None:
        with client.stream("GET", f"/v1/jobs/{job}/events") as stream:
            events = read(stream.iter_lines())
            next(events)
            ready.wait(120)
            ends.extend([event["event"] for event in events][-1:])

    threads = [threading.Thread(target=watch, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    ready.wait(120)
    assert clients[0].get(f"/v1/jobs/{job}").status_code == 200
    running.service.ledger.complete(begin(running, job), "failed", "{}")
    for thread in threads:
        thread.join(120)
    assert ends == ["failed"] * 100
