"""A document's saves, and what changed between two of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pipeline.compiler import Compiler, Input, Options
from pipeline.diagnostics.lang import Lang
from pipeline.generators.template import TemplateGenerator
from pipeline.project import Project, ProjectDocument
from pipeline.review.compare import compare
from pipeline.review.to_json import Json as Comparison
from pipeline.review.to_json import comparison_dict
from pipeline.review.version import Version, version_of
from pipeline.stores.nothing import NoStore
from server.describing import Json, save_dict
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
    query = read_query(DiffQuery, request)
    found = await service.run(compared, service, token, document, query, language_of(request))
    return JSONResponse(found)


def compared(
    backend: Backend, service: Service, token: Token, document: str, query: DiffQuery, lang: Lang
) -> Comparison:
    """Each version is read with the catalog that it was compiled with. Raises ApiError 404."""
    found = backend.ledger.document(document)
    if found is None:
        raise ApiError("not_found", "no-document")
    newer = query.newer or found.sequence
    older = query.older or _published_before(backend, document, newer)
    project = _project(service)
    versions = [_version(backend, service, document, sequence, project, lang) for sequence in (older, newer)]
    comparison = comparison_dict(compare(*versions))
    for sequence, side in ((older, "old"), (newer, "new")):
        comparison[side]["sequence"] = sequence
    for kind, shown in comparison["diagnostics"].items():
        comparison["diagnostics"][kind] = masked_diagnostics(shown, token, document, service.project, lang)
    return comparison


def _published_before(backend: Backend, document: str, sequence: int) -> int:
    """The newest save before `sequence` that was compiled, else simply the one before. Raises ApiError 404."""
    before = backend.archive.history(document, sequence - 1, 50)
    for save, outcome in before:
        if outcome is not None and outcome.status == "succeeded":
            return save.sequence
    if not before:
        raise ApiError("not_found", "no-save", sequence=sequence - 1)
    return before[0][0].sequence


def _project(service: Service) -> Project:
    rows = service.project().rows
    return Project(ProjectDocument(identity, row.name, row.calls) for identity, row in rows.items())


def _version(backend: Backend, service: Service, document: str, sequence: int, project: Project, lang: Lang) -> Version:
    text = text_of(backend, digest_of(backend, document, sequence), sequence)
    outcome = backend.archive.outcome(document, sequence)
    digest = "" if outcome is None else outcome.catalog
    try:
        catalog = service.catalog(digest)[1]
    except CatalogMissing:  # retention took it, or another version of aop compiled it
        catalog = service.catalog()[1]
    options = Options(max_bytes=service.settings.max_document_bytes, check=True)
    compiler = Compiler(catalog, NoStore(), TemplateGenerator(), options)
    return version_of(document, compiler.compile(Input(document, text), project), lang)
