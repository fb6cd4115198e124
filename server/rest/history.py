"""A document's saves, and what changed between two of them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, NamedTuple, cast

from pydantic import BeforeValidator, Field
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pipeline.diagnostics.lang import Lang
from pipeline.review.to_json import Json as Comparison
from server.computed import Written, compared
from server.computing import Computing, with_catalog
from server.describing import Json, dumps, save_dict
from server.errors import ApiError
from server.language import language_of
from server.masking import masked_diagnostics
from server.reading import Closed, read_query
from server.rest.published import digest_of, text_of
from server.service import Backend, Service
from workers.catalogs import CatalogMissing
from workers.tokens import Token


def _number(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 13 else value


Number = Annotated[int, BeforeValidator(_number), Field(ge=1, lt=10**12)]


class HistoryQuery(Closed):
    """`before`: only older saves than this sequence."""

    before: Number | None = None
    limit: Annotated[int, BeforeValidator(_number), Field(ge=1, le=200)] = 50


async def history(service: Service, request: Request, document: str) -> Response:
    """A page of saves with what became of them, the newest first. Raises ApiError."""
    query = read_query(HistoryQuery, request)
    return JSONResponse(await service.run(history_page, document, query))


def history_page(backend: Backend, document: str, query: HistoryQuery) -> Json:
    """`next`: what `before` is for the next page, null after the last. Raises ApiError 404, StoreError, RedisError."""
    found = backend.ledger.document(document)
    if found is None:
        raise ApiError("not_found", "no-document")
    newest = found.sequence if query.before is None else min(found.sequence, query.before - 1)
    saves = backend.archive.history(document, newest, query.limit)
    oldest = newest - query.limit + 1
    return {
        "document_id": document,
        "saves": [save_dict(save, outcome) for save, outcome in saves],
        "next": oldest if oldest > 1 else None,
    }


# ------------------------------------------------------------------------------------------------- diff


class DiffQuery(Closed):
    """Sequences. `to` absent: the newest save; `from` absent: what was published before that."""

    older: Annotated[Number | None, Field(alias="from")] = None
    newer: Annotated[Number | None, Field(alias="to")] = None


async def diff(service: Service, request: Request, token: Token, document: str) -> Response:
    """What changed: text, tools granted and withdrawn, warnings; the shape of `aop diff --format json`."""
    query, lang = read_query(DiffQuery, request), language_of(request)
    older, newer = await service.run(_versions, service, document, query)
    computing: Computing = request.app.state.computing
    sequences = (older.sequence, newer.sequence)
    data = await computing.run(token.id, partial(compared, document, older.text, newer.text, sequences, lang))
    if token.limited:
        data = await service.run(_masked, service, token, document, data, lang)
    return Response(data, media_type="application/json")


class _Version(NamedTuple):
    sequence: int
    text: Written


def _versions(backend: Backend, service: Service, document: str, query: DiffQuery) -> tuple[_Version, _Version]:
    """Each version is read with the catalog that it was compiled with. Raises ApiError 404."""
    found = backend.ledger.document(document)
    if found is None:
        raise ApiError("not_found", "no-document")
    newer = query.newer or found.sequence
    older = query.older or _published_before(backend, document, newer)
    return _version(backend, service, document, older), _version(backend, service, document, newer)


def _masked(_backend: Backend, service: Service, token: Token, document: str, data: bytes, lang: Lang) -> bytes:
    comparison = cast("Comparison", from_json(data))
    for kind, shown in comparison["diagnostics"].items():
        comparison["diagnostics"][kind] = masked_diagnostics(shown, token, document, service.project, lang)
    return dumps(comparison).encode()


def _published_before(backend: Backend, document: str, sequence: int) -> int:
    """The newest save before `sequence` that was compiled, else simply the one before. Raises ApiError 404."""
    before = backend.archive.history(document, sequence - 1, 50)
    for save, outcome in before:
        if outcome is not None and outcome.status == "succeeded":
            return save.sequence
    if not before:
        raise ApiError("not_found", "no-save", sequence=sequence - 1)
    return before[0][0].sequence


def _version(backend: Backend, service: Service, document: str, sequence: int) -> _Version:
    data = text_of(backend, digest_of(backend, document, sequence), sequence)
    outcome = backend.archive.outcome(document, sequence)
    digest = "" if outcome is None else outcome.catalog
    try:
        catalog = service.catalog(digest)[1]
    except CatalogMissing:  # retention took it, or another version of aop compiled it
        catalog = service.catalog()[1]
    return _Version(sequence, with_catalog(data, catalog))
