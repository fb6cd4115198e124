"""`POST /v1/hooks/s3`: notifications of buckets."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote_plus

import httpx2

from .running import BUCKET, Running, problem

PATH = "/v1/hooks/s3"


def record(
    key: str, event: str = "s3:ObjectCreated:Put", *, bucket: str = BUCKET, version: str = "v1", sequencer: str = "A0"
) -> dict[str, Any]:
    entity = {"key": quote_plus(key), "size": 7, "eTag": "0" * 32, "versionId": version, "sequencer": sequencer}
    return {
        "eventVersion": "2.1",
        "eventName": event,
        "s3": {"configurationId": "c", "bucket": {"name": bucket, "arn": "x"}, "object": entity},
    }


def send(running: Running, *records: dict[str, Any], token: str = "") -> httpx2.Response:
    client = running.as_text(token or running.token("webhooks"))
    return client.post(PATH, json={"EventName": "s3:ObjectCreated:Put", "Key": "ignored", "Records": list(records)})


def test_created_and_removed(running: Running, document: str) -> None:
    """The key is the document's id; the save refers to the object's version."""
    answer = send(running, record(document))
    assert answer.status_code == 202
    (saved,) = answer.json()["saves"]
    assert (saved["document_id"], saved["status"]) == (document, "accepted")
    save = running.service.backend.archive.save(document, saved["sequence"])
    assert (save.reference.key, save.reference.version_id, save.reference.etag) == (document, "v1", "0" * 32)
    gone = send(running, record(document, "ObjectRemoved:DeleteMarkerCreated", version="v2", sequencer="A1")).json()
    assert running.service.backend.archive.save(document, gone["saves"][0]["sequence"]).action == "retire"


def test_several_records(running: Running, document: str) -> None:
    """What can be accepted is; what cannot is told with its place, in the asked language."""
    records = [
        record(f"{document}/1"),
        record(f"{document}/../2"),
        record(f"{document}/3", bucket="secrets"),
        record(f"{document}/4", "s3:ObjectTagging:Put"),
        record(f"{document}/5"),
        record(f"{document}/6", "s3:ObjectRemoved:Delete", version="an earlier one"),
    ]
    answer = send(running, *records)
    assert answer.status_code == 202
    body = answer.json()
    assert [save["document_id"] for save in body["saves"]] == [f"{document}/1", f"{document}/5"]
    assert [(one["path"], one["code"]) for one in body["refused"]] == [
        ("/Records/1", "invalid_input"),
        ("/Records/2", "forbidden"),
    ]
    assert [one["path"] for one in body["ignored"]] == ["/Records/3/eventName", "/Records/5/eventName"]


def test_nothing_is_acceptable(running: Running, document: str) -> None:
    """Then the refusal is the answer."""
    status, code, details = problem(send(running, record(f"{document}//x")))
    assert (status, code, details["path"]) == (400, "invalid_input", "/Records/0/s3/object/key")
    answer = problem(send(running, record(document, bucket="secrets")))
    assert answer == (403, "forbidden", {"path": "/Records/0/s3/bucket/name"})


def test_sequencers_order(running: Running, document: str) -> None:
    """They grow in length: the shorter one is older. The same notification again makes no second job."""
    assert send(running, record(document, version="v2", sequencer="100")).json()["saves"][0]["status"] == "accepted"
    late = send(running, record(document, version="v1", sequencer="FF"))
    assert late.json()["saves"][0]["status"] == "superseded"
    before = running.jobs()
    assert send(running, record(document, version="v1", sequencer="FF")).content == late.content
    assert running.jobs() == before


def test_keys_are_encoded(running: Running, document: str) -> None:
    """A blank is a plus sign, and `%2E%2E` is `..`."""
    assert problem(send(running, record(f"{document} x")))[0] == 400
    spoilt = record(document)
    spoilt["s3"]["object"]["key"] = "%2E%2E%2Fetc"
    assert problem(send(running, spoilt))[2]["path"] == "/Records/0/s3/object/key"


def test_who_may_notify(running: Running, document: str) -> None:
    """A token with the scope `webhooks`, and only about the documents that it is limited to."""
    body = {"Records": [record(document)]}
    assert problem(running.client.post(PATH, json=body))[:2] == (401, "unauthorized")
    reader = running.token("documents:read")
    assert problem(send(running, record(document), token=reader))[2]["missing_scope"] == "webhooks"
    limited = running.token("webhooks", documents=["other/**"])
    assert problem(send(running, record(document), token=limited)) == (403, "forbidden", {"documents": ["other/**"]})


def test_test_events_and_strange_bodies(running: Running) -> None:
    """S3's own test is answered; what is no notification is 400 with the path."""
    client = running.as_token("webhooks")
    assert client.post(PATH, json={"Service": "Amazon S3", "Event": "s3:TestEvent"}).status_code == 202
    assert problem(client.post(PATH, json={"Records": [{"eventName": "x"}]}))[2]["path"] == "/Records/0/s3"
    assert problem(client.post(PATH, json={}))[2]["path"] == "/Records"
    assert problem(client.post(PATH, content=b"{"))[0] == 400
