"""`/v1/documents`: saving, listing, showing and retiring documents."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator, Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from server.auth import authorized, require_document
from server.describing import Json, document_dict, save_dict
from server.endpoints import endpoint
from server.errors import ApiError
from server.faults import Fault, Malformed
from server.limits import read_body, too_large
from server.reading import Closed, Revision, read_query
from server.rest.history import diff, history
from server.rest.places import place_of
from server.rest.published import published_file, source
from server.saving import Wanted, accept, accepted_response, numbered, once, trace_of
from server.service import Backend, Service
from workers.audit import Audit
from workers.ledger.listing import Listing
from workers.ledger.records import DocumentState
from workers.tokens import Token

MAX_KEY: Final = 256
_LOOKED_AT: Final = 2_000
"""So many documents are looked at for one page: it may be shorter than asked for, and still not be the last."""


def routes(service: Service) -> list[BaseRoute]:
    return [
        Route("/v1/documents", endpoint(service, list_documents), methods=["GET"]),
        Route("/v1/documents/{id:path}", endpoint(service, get), methods=["GET"]),
        Route("/v1/documents/{id:path}", endpoint(service, save, counted="put"), methods=["PUT"]),
        Route("/v1/documents/{id:path}", endpoint(service, retire), methods=["DELETE"]),
    ]


# ------------------------------------------------------------------------------------------------ saving


class SaveQuery(Closed):
    """`revision`: the sender's own, with `source`, whose revisions these are (the token, where it is not given)."""

    revision: Revision | None = None
    source: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~/-]{1,100}$")] | None = None


async def save(service: Service, request: Request) -> Response:
    """202 with the job. Raises ApiError."""
    place = place_of(request, views=False)
    token = await authorized(service, request, "documents:compile")
    require_document(token, place.document)
    query = read_query(SaveQuery, request)
    most = service.settings.max_document_bytes
    data = await read_body(request, most)
    if len(data) > most:
        raise too_large(most)
    wanted = Wanted(
        document=place.document,
        data=data,
        source=_source(query.source, token),
        revision=query.revision or "",
        rank=numbered(query.revision or ""),
        key=_key(request, token, place.document),
    )
    return accepted_response(await service.run(accept, service, wanted, trace_of(request)))


def _source(named: str | None, token: Token) -> str:
    return f"api:{named}" if named else f"token:{token.id}"


def _key(request: Request, token: Token, document: str) -> str:
    """Of this token and document: nobody learns another's job by guessing a key. Raises Malformed."""
    given = request.headers.get("idempotency-key", "")
    if len(given) > MAX_KEY:
        raise Malformed(Fault("header.Idempotency-Key", "too long", {"limit": MAX_KEY}))
    return once("api", request.method, token.id, document, given) if given else ""


async def retire(service: Service, request: Request) -> Response:
    """202 with the job. What was published is gone when it has ended. Raises ApiError."""
    place = place_of(request, views=False)
    token = await authorized(service, request, "documents:delete")
    require_document(token, place.document)
    key = _key(request, token, place.document)
    answer = await service.run(retire_document, service, token, place.document, key, trace_of(request))
    return accepted_response(answer)


def retire_document(backend: Backend, service: Service, token: Token, document: str, key: str, trace: str) -> Json:
    """Raises ApiError 404, StoreError, RedisError, LedgerLost."""
    found = backend.ledger.document(document)
    if found is None:
        raise ApiError("not_found", "no-document")
    published = backend.archive.published(document)
    wanted = Wanted(document=document, action="retire", source=f"token:{token.id}", key=key)
    answer = accept(backend, service, wanted, trace)
    before: Json = {
        "sequence": found.sequence,
        "published": found.published,
        "name": "" if published is None else published.name,
    }
    Audit(backend.store).record(
        token.actor, "document.retire", document, before=before, after={"job_id": answer["job_id"]}
    )
    return answer


# ----------------------------------------------------------------------------------------------- listing


def _whole(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16 else value


Whole = Annotated[int, BeforeValidator(_whole)]


class ListQuery(Closed):
    """`after`: the last id of the page before. `state`: of the newest compile that has ended."""

    after: Annotated[str, StringConstraints(max_length=512)] = ""
    prefix: Annotated[str, StringConstraints(max_length=512)] = ""
    state: DocumentState | None = None
    limit: Annotated[Whole, Field(ge=1, le=500)] = 100


async def list_documents(service: Service, request: Request) -> Response:
    """A page, by id. Raises ApiError."""
    token = await authorized(service, request, "documents:read")
    query = read_query(ListQuery, request)
    return JSONResponse(await service.run(page, service, token, query))


def page(backend: Backend, service: Service, token: Token, query: ListQuery) -> Json:
    """`next`: what `after` is for the next page, null after the last. Raises StoreError, RedisError, LedgerLost."""
    listing = Listing(service.redis, service.settings.redis_prefix)
    names = [
        name
        for name in listing.identities()
        if name > query.after and name.startswith(query.prefix) and token.may_touch(name)
    ]
    if not names:
        backend.ledger.open()  # nothing was found: because there is no ledger?
    looked_at = names[:_LOOKED_AT] if query.state is not None else names[: query.limit]
    found = [entry for entry in listing.documents(looked_at) if query.state in (None, entry.state)]
    shown = found[: query.limit]
    published = backend.archive.published_many([entry.id for entry in shown])
    stale = service.recompiles.stale(entry.id for entry in shown)
    last = shown[-1].id if len(found) > query.limit else looked_at[-1] if looked_at else ""
    return {
        "documents": [document_dict(entry, published.get(entry.id), stale.get(entry.id, ())) for entry in shown],
        "next": last if names and last != names[-1] else None,
    }


# ----------------------------------------------------------------------------------------------- showing


async def get(service: Service, request: Request) -> Response:
    """The document, or one of its views. Raises ApiError."""
    place = place_of(request, views=True)
    token = await authorized(service, request, "documents:read")
    require_document(token, place.document)
    match place.view:
        case "":
            read_query(Closed, request)
            return JSONResponse(await service.run(shown_document, service, place.document))
        case "history":
            return await history(service, request, place.document)
        case "diff":
            return await diff(service, request, token, place.document)
        case "source.md":
            return await source(service, request, place.document)
        case view:
            return await published_file(service, request, token, place.document, view)


def shown_document(backend: Backend, service: Service, document: str) -> Json:
    """With its newest save. Raises ApiError 404, StoreError, RedisError, LedgerLost."""
    found = backend.ledger.document(document)
    if found is None:
        raise ApiError("not_found", "no-document")
    newest = backend.archive.history(document, found.sequence, 1)
    latest: Json | None = save_dict(*newest[0]) if newest else None
    stale = service.recompiles.stale([document]).get(document, ())
    return {**document_dict(found, backend.archive.published(document), stale), "latest": latest}
