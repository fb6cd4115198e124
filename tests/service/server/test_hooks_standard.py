"""`POST /v1/hooks/document-saved`: who may tell of saves, and what is made of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from workers.records import S3Reference, Save

from .running import BUCKET, OLD_SECRET, WEBHOOK_SECRET, Running, as_body, problem, saved_event, signed

PATH = "/v1/hooks/document-saved"


def send(
    running: Running,
    value: object,
    *,
    secret: str = WEBHOOK_SECRET,
    identity: str | None = None,
    at: float | None = None,
) -> httpx2.Response:
    body = as_body(value)
    return running.client.post(PATH, content=body, headers=signed(body, secret, identity, at))


def save_of(running: Running, answer: httpx2.Response) -> Save:
    """What the store holds of the accepted save."""
    assert answer.status_code == 202, answer.text
    found = answer.json()
    save = running.service.backend.archive.save(found["document_id"], found["sequence"])
    assert save is not None
    return save


def test_a_signed_event_is_a_save(running: Running, document: str) -> None:
    """Its text is in the store before the answer, with the revision of the sender."""
    save = save_of(running, send(running, saved_event(document, "r7", "# 月次\n")))
    assert (save.source, save.revision, save.action) == ("webhook", "r7", "compile")
    assert running.service.backend.archive.text(save.text) == "# 月次\n".encode()


def test_secrets_rotate(running: Running, document: str) -> None:
    """While one secret is replaced by another, both are good; a third is not."""
    assert send(running, saved_event(document, 1), secret=WEBHOOK_SECRET).status_code == 202
    assert send(running, saved_event(document, 2), secret=OLD_SECRET).status_code == 202
    third = "whsec_" + "QUJD" * 8
    assert problem(send(running, saved_event(document, 3), secret=third)) == (
        401,
        "unauthorized",
        {"reason": "signature-wrong"},
    )


def test_one_of_several_signatures_is_enough(running: Running, document: str) -> None:
    """A sender that rotates signs with both secrets; signatures of versions that we do not know are passed over."""
    body = as_body(saved_event(document, 1))
    headers = signed(body)
    wrong = signed(body, secret="whsec_" + "QUJD" * 8, identity=headers["webhook-id"])
    headers["webhook-signature"] = f"v1a,xyz {wrong['webhook-signature']} {headers['webhook-signature']}"
    assert running.client.post(PATH, content=body, headers=headers).status_code == 202


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"webhook-signature": ""}, "signature-missing"),
        ({"webhook-id": ""}, "signature-missing"),
        ({"webhook-timestamp": ""}, "signature-missing"),
        ({"webhook-id": "another"}, "signature-wrong"),
        ({"webhook-signature": "v1"}, "signature-wrong"),
        ({"webhook-signature": "v1,"}, "signature-wrong"),
        ({"webhook-signature": "v1,!!!"}, "signature-wrong"),
        ({"webhook-signature": "v2,AAAA"}, "signature-wrong"),
        ({"webhook-timestamp": "nan"}, "timestamp-stale"),
        ({"webhook-timestamp": "1e400"}, "timestamp-stale"),
        ({"webhook-timestamp": "soon"}, "timestamp-stale"),
    ],
)
def test_forged_headers(running: Running, document: str, change: dict[str, str], reason: str) -> None:
    """Nothing is accepted, and the answer says what is wrong with the signature."""
    body = as_body(saved_event(document, 1))
    before = running.jobs()
    answer = running.client.post(PATH, content=body, headers={**signed(body), **change})
    assert problem(answer) == (401, "unauthorized", {"reason": reason})
    assert running.jobs() == before


def test_a_changed_body_is_forged(running: Running, document: str) -> None:
    """The signature is over every byte."""
    body = as_body(saved_event(document, 1))
    for other in (body + b" ", body[:-1], b"", b"\xff"):
        assert problem(running.client.post(PATH, content=other, headers=signed(body)))[0] == 401


@pytest.mark.parametrize("minutes", [-6, 6])
def test_stale_timestamps(running: Running, document: str, minutes: int) -> None:
    """A rightly signed message that is replayed later, or comes from a wrong clock."""
    answer = send(running, saved_event(document, 1), at=time.time() + minutes * 60)
    assert problem(answer) == (401, "unauthorized", {"reason": "timestamp-stale"})


def test_the_same_message_again(running: Running, document: str) -> None:
    """One job, the same answer: replayed as it was, or signed anew with the same id."""
    identity = uuid4().hex
    first = send(running, saved_event(document, 1), identity=identity)
    before = running.jobs()
    later = send(running, saved_event(document, 1), identity=identity, at=time.time() + 5)
    assert later.status_code == first.status_code == 202
    assert later.content == first.content
    assert running.jobs() == before


def test_an_older_revision(running: Running, document: str) -> None:
    """Numbers sort as numbers; the late one is 202 `superseded`, and so it is when it is sent again."""
    assert send(running, saved_event(document, 10)).json()["status"] == "accepted"
    identity = uuid4().hex
    late = send(running, saved_event(document, 9), identity=identity)
    assert (late.status_code, late.json()["status"]) == (202, "superseded")
    again = send(running, saved_event(document, 9), identity=identity)
    assert again.content == late.content


def test_the_same_revision_is_one_save(running: Running, document: str) -> None:
    """Two messages about one revision of a source make one job."""
    first, second = (send(running, saved_event(document, "abc")) for _ in range(2))
    assert second.json() == first.json()


def test_cloud_events(running: Running, document: str) -> None:
    """The envelope's source is whose revisions these are."""
    event = {
        "specversion": "1.0",
        "id": "1",
        "source": "/wiki/7",
        "type": "document.saved",
        "time": "2026-11-30T00:00:00Z",
        "datacontenttype": "application/json",
        "data": saved_event(document, 3)["data"],
    }
    assert save_of(running, send(running, event)).source == "cloudevents:/wiki/7"
    event["specversion"] = "2.0"
    assert problem(send(running, event))[2]["path"] == "/specversion"


def test_a_deleted_document_is_retired(running: Running, document: str) -> None:
    """`document.deleted` is a save that takes the document away."""
    send(running, saved_event(document, 1))
    gone = {"type": "document.deleted", "timestamp": "", "data": {"document_id": document, "revision": 2}}
    assert save_of(running, send(running, gone)).action == "retire"


def test_objects(running: Running, document: str) -> None:
    """A reference is kept, of allowed buckets only."""
    event = saved_event(document, 1)
    del event["data"]["content"]
    event["data"]["object"] = {"bucket": BUCKET, "key": "a b.md", "version_id": "v1"}
    reference = save_of(running, send(running, event)).reference
    assert reference == S3Reference(bucket=BUCKET, key="a b.md", version_id="v1")
    event["data"]["object"]["bucket"] = "secrets"
    assert problem(send(running, event)) == (403, "forbidden", {"path": "/data/object/bucket"})


@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        (lambda event: event.pop("data"), "/data"),
        (lambda event: event.update(type="document.moved"), "/type"),
        (lambda event: event.update(extra=1), "/extra"),
        (lambda event: event["data"].pop("document_id"), "/data/document_id"),
        (lambda event: event["data"].update(document_id=7), "/data/document_id"),
        (lambda event: event["data"].update(document_id="a/../b"), "/data/document_id"),
        (lambda event: event["data"].pop("revision"), "/data/revision"),
        (lambda event: event["data"].update(revision=""), "/data/revision"),
        (lambda event: event["data"].update(revision=-1), "/data/revision"),
        (lambda event: event["data"].update(revision=True), "/data/revision"),
        (lambda event: event["data"].update(revision="x" * 201), "/data/revision"),
        (lambda event: event["data"].pop("content"), "/data"),
        (lambda event: event["data"].update(object={"bucket": BUCKET, "key": "k", "version_id": "v"}), "/data"),
        (lambda event: event["data"].update(object={"bucket": BUCKET, "key": "k"}), "/data/object/version_id"),
        (lambda event: event["data"].update(conten="x"), "/data/conten"),
    ],
)
def test_malformed_events(running: Running, document: str, spoil: Callable[[Any], object], path: str) -> None:
    """400 with the field's path; nothing is saved."""
    event = saved_event(document, 1)
    spoil(event)
    before = running.jobs()
    status, code, details = problem(send(running, event))
    assert (status, code, details["path"]) == (400, "invalid_input", path)
    assert running.jobs() == before


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"7", b"[" * 10_000, b'{"a":NaN}', b'"\\ud800"'])
def test_bodies_that_are_no_event(running: Running, body: bytes) -> None:
    """Rightly signed, and still nothing that could be read."""
    answer = running.client.post(PATH, content=body, headers=signed(body))
    assert problem(answer)[:2] == (400, "invalid_input")


def test_a_lone_surrogate_is_no_text(running: Running, document: str) -> None:
    """JSON can write what UTF-8 cannot."""
    body = as_body(saved_event(document, 1, "X")).replace(b'"X"', b'"\\ud800x"')
    assert problem(running.client.post(PATH, content=body, headers=signed(body)))[:2] == (400, "invalid_input")


def test_without_secrets_the_entrance_is_closed(run: Callable[..., Running]) -> None:
    """Nobody can be believed then."""
    closed = run(webhook_secrets=())
    body = as_body(saved_event("a", 1))
    answer = closed.client.post(PATH, content=body, headers=signed(body))
    assert problem(answer) == (403, "forbidden", {"setting": "AOP_WEBHOOK_SECRETS"})
