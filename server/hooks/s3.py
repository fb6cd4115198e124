"""`POST /v1/hooks/s3`: notifications of a bucket (S3's form, which MinIO and others send as well)."""

from __future__ import annotations

import re
from typing import Annotated, Final
from urllib.parse import unquote_plus

from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from server.auth import authorized, require_document
from server.errors import ApiError
from server.hooks.several import Notification, accept_all
from server.hooks.standard import require_bucket
from server.language import language_of
from server.limits import read_body
from server.reading import Open, read_document_id, read_json, read_model
from server.saving import Wanted, once, trace_of
from server.service import Service
from workers.records import S3Reference
from workers.settings import Settings
from workers.tokens import Token

MAX_RECORDS: Final = 1_000
_SEQUENCER: Final = re.compile(r"[0-9A-Fa-f]{1,64}")
_TEST_EVENT: Final = "s3:TestEvent"


class Bucket(Open):
    name: Annotated[str, StringConstraints(min_length=1, max_length=255)]


class Entity(Open):
    """`key`: URL-encoded, a blank as `+`. `sequencer`: hexadecimal, of growing length; absent in some servers."""

    key: Annotated[str, StringConstraints(min_length=1, max_length=4_096)]
    versionId: Annotated[str, StringConstraints(max_length=1_024)] = ""
    eTag: Annotated[str, StringConstraints(max_length=256)] = ""
    sequencer: Annotated[str, StringConstraints(max_length=64)] = ""


class Where(Open):
    bucket: Bucket
    object: Entity


class Record(Open):
    eventName: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    s3: Where


class Records(Open):
    Records: Annotated[list[Record], Field(max_length=MAX_RECORDS)]


async def s3_notification(service: Service, request: Request) -> Response:
    """202 with the jobs. Raises ApiError."""
    token = await authorized(service, request, "webhooks")
    body = await read_body(request, service.settings.max_body_bytes)
    notification = read_notification(read_json(body), token, service.settings)
    return await accept_all(service, notification, trace_of(request), language_of(request))


def read_notification(value: object, token: Token, settings: Settings) -> Notification:
    """Raises ApiError 400 where it is none at all."""
    found = Notification()
    if isinstance(value, dict) and value.get("Event") == _TEST_EVENT:
        found.ignore("/Event", "test-event")
        return found
    for index, record in enumerate(read_model(Records, value).Records):
        try:
            wanted = _wanted(record, f"/Records/{index}", token, settings)
        except ApiError as error:
            found.refuse(f"/Records/{index}", error)
            continue
        if wanted is None:
            found.ignore(f"/Records/{index}/eventName", "other-change")
        else:
            found.wanted.append(wanted)
    return found


def _wanted(record: Record, path: str, token: Token, settings: Settings) -> Wanted | None:
    """None: the object is what it was before. Raises ApiError."""
    kind, _, how = record.eventName.removeprefix("s3:").partition(":")
    if kind not in ("ObjectCreated", "ObjectRemoved"):
        return None
    bucket, entity = record.s3.bucket.name, record.s3.object
    require_bucket(bucket, f"{path}/s3/bucket/name", settings)
    key = unquote_plus(entity.key)
    document = read_document_id(key, f"{path}/s3/object/key")
    require_document(token, document)
    rank = _rank(entity.sequencer)
    version = "" if entity.versionId == "null" else entity.versionId
    revision = version or entity.sequencer
    created = kind == "ObjectCreated"
    if not created and version and how != "DeleteMarkerCreated":
        return None  # an earlier version was removed for good; the object is what it was
    return Wanted(
        document=document,
        action="compile" if created else "retire",
        reference=S3Reference(bucket=bucket, key=key, version_id=version, etag=entity.eTag.strip('"'))
        if created
        else None,
        source=f"s3:{bucket}",
        revision=f"{kind}:{revision}" if revision else "",
        rank=rank,
        key=once("s3", bucket, key, kind, version, entity.sequencer, entity.eTag) if revision else "",
    )


def _rank(sequencer: str) -> str:
    """As S3 wants sequencers compared: padded with zeros on the left."""
    return sequencer.lower().zfill(64) if _SEQUENCER.fullmatch(sequencer) else ""
