"""What is published of a document, as files."""

from __future__ import annotations

import hashlib
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from pipeline.diagnostics.lang import Lang
from server.describing import dumps, result_dict
from server.errors import ApiError
from server.language import language_of
from server.reading import Closed, read_query
from server.service import Backend, Service
from workers.tokens import Token

_TYPES: Final = {
    "procedure.py": "text/x-python",
    "manifest.json": "application/json",
    "graph.mmd": "text/plain",
    "result.json": "application/json",
}


async def published_file(service: Service, request: Request, token: Token, document: str, view: str) -> Response:
    """Raises ApiError 404."""
    read_query(Closed, request)
    lang = language_of(request)
    text = await service.run(read_published, service, token, document, view, lang)
    return file_response(request, text.encode(), _TYPES[view])


def read_published(backend: Backend, service: Service, token: Token, document: str, view: str, lang: Lang) -> str:
    """Raises ApiError 404, StoreError."""
    published = backend.archive.published(document)
    if published is None:
        known = backend.ledger.document(document) is not None
        raise ApiError("not_found", "not-published" if known else "no-document")
    if published.retired:
        raise ApiError("not_found", "retired")
    if view == "result.json":
        result = result_dict(backend, service, token, published, lang)
        text = None if result is None else dumps(result)
    else:
        output = backend.archive.output(published.output)
        text = None if output is None else output.files.get(view)
    if text is None:
        raise ApiError("not_found", "no-output")
    return text


async def source(service: Service, request: Request, document: str) -> Response:
    """The text of what is published, or, where nothing is, of the newest save. Raises ApiError 404."""
    read_query(Closed, request)
    return file_response(request, await service.run(read_source, document), "text/markdown")


def read_source(backend: Backend, document: str) -> bytes:
    """Raises ApiError 404, StoreError, RedisError, LedgerLost."""
    published = backend.archive.published(document)
    if published is not None and not published.retired and published.text:
        return text_of(backend, published.text, published.sequence)
    found = backend.ledger.document(document)
    if found is None:
        raise ApiError("not_found", "no-document")
    return text_of(backend, digest_of(backend, document, found.sequence), found.sequence)


def digest_of(backend: Backend, document: str, sequence: int) -> str:
    """The digest of the save's text, "" where it has none (yet). Raises ApiError 404, StoreError."""
    save = backend.archive.save(document, sequence)
    if save is None:
        raise ApiError("not_found", "no-save", details={"sequence": sequence}, sequence=sequence)
    outcome = None if save.text else backend.archive.outcome(document, sequence)
    return save.text or ("" if outcome is None else outcome.text)


def text_of(backend: Backend, digest: str, sequence: int) -> bytes:
    """Raises ApiError 404, StoreError."""
    data = backend.archive.text(digest) if digest else None
    if data is None:
        raise ApiError("not_found", "no-text", details={"sequence": sequence}, sequence=sequence)
    return data


def file_response(request: Request, data: bytes, media_type: str) -> Response:
    """304 where the client has it already."""
    tag = f'"{hashlib.sha256(data).hexdigest()}"'
    headers = {"etag": tag, "cache-control": "private, no-cache", "vary": "accept-language, authorization, x-api-token"}
    given = {entry.strip().removeprefix("W/") for entry in request.headers.get("if-none-match", "").split(",")}
    if tag in given:
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=f"{media_type}; charset=utf-8")
