"""`POST /v1/hooks/document-saved`: Standard Webhooks, the event itself or in a CloudEvents envelope."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator
from starlette.requests import Request
from starlette.responses import Response

from server.errors import ApiError
from server.hooks.signatures import require_secrets, signed_by_standard
from server.limits import address_of, read_body, take
from server.reading import Closed, Open, Revision, read_document_id, read_json, read_model
from server.saving import Wanted, accept, accepted_response, numbered, once, trace_of
from server.service import Service
from workers.choices import exactly_one
from workers.records import S3Reference
from workers.settings import Settings

Type = Literal["document.saved", "document.deleted"]
Short = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]


class Event(Closed):
    """`timestamp`: when it happened, for people; the signature's is what is checked."""

    type: Type
    timestamp: Annotated[str, StringConstraints(max_length=64)] = ""
    data: dict[str, object]


class CloudEvent(Open):
    specversion: Literal["1.0"]
    id: Short
    source: Short
    type: Type
    data: dict[str, object]


class ObjectPlace(Closed):
    bucket: Annotated[str, StringConstraints(min_length=1, max_length=255)]
    key: Short
    version_id: Short


class SavedData(Closed):
    model_config = ConfigDict(populate_by_name=False)

    document_id: str
    revision: Revision
    content: str | None = None
    place: Annotated[ObjectPlace | None, Field(alias="object")] = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.content is None) == (self.place is None):
            raise exactly_one(("content", "object"))
        return self


class DeletedData(Closed):
    document_id: str
    revision: Revision


async def document_event(service: Service, request: Request) -> Response:
    """202 with the job. Raises ApiError."""
    settings = service.settings
    require_secrets(settings.webhook_secrets, "WEBHOOK_SECRETS")
    await service.run(lambda backend: take(service, backend, f"hook:document-saved:{address_of(request)}"))
    body = await read_body(request, settings.max_body_bytes)
    identity = signed_by_standard(settings.webhook_secrets, request.headers, body)
    wanted = read_event(read_json(body), identity, settings)
    return accepted_response(await service.run(accept, service, wanted, trace_of(request)))


def read_event(value: object, identity: str, settings: Settings) -> Wanted:
    """`identity`: the message's. Raises ApiError 400, 403."""
    if isinstance(value, dict) and "specversion" in value:
        envelope = read_model(CloudEvent, value)
        return _wanted(envelope.type, envelope.data, f"cloudevents:{envelope.source}", identity, settings)
    event = read_model(Event, value)
    return _wanted(event.type, event.data, "webhook", identity, settings)


def _wanted(kind: Type, data: dict[str, object], source: str, identity: str, settings: Settings) -> Wanted:
    key = once("webhook", identity)
    if kind == "document.deleted":
        gone = read_model(DeletedData, data, "/data")
        document = read_document_id(gone.document_id, "/data/document_id")
        return Wanted(
            document=document,
            action="retire",
            source=source,
            revision=gone.revision,
            rank=numbered(gone.revision),
            key=key,
        )
    saved = read_model(SavedData, data, "/data")
    return Wanted(
        document=read_document_id(saved.document_id, "/data/document_id"),
        data=None if saved.content is None else saved.content.encode(),
        reference=None if saved.place is None else _reference(saved.place, settings),
        source=source,
        revision=saved.revision,
        rank=numbered(saved.revision),
        key=key,
    )


def _reference(place: ObjectPlace, settings: Settings) -> S3Reference:
    require_bucket(place.bucket, "/data/object/bucket", settings)
    return S3Reference(bucket=place.bucket, key=place.key, version_id=place.version_id)


def require_bucket(bucket: str, path: str, settings: Settings) -> None:
    """Raises ApiError 403."""
    if bucket not in settings.s3_buckets:
        raise ApiError("forbidden", "bucket", details={"path": path}, path=path)
