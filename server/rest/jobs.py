"""`/v1/jobs`: what became of a save, once and as it goes on."""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipeline.diagnostics.lang import Lang
from server.auth import authorized
from server.describing import Json, job_dict, job_result
from server.endpoints import endpoint
from server.errors import ApiError
from server.language import language_of
from server.reading import Closed, read_query
from server.rest.events import job_events
from server.service import Backend, Service
from workers.ledger.records import Job
from workers.tokens import Token

_ID: Final = re.compile(r"[0-9a-f]{27}")


def routes(service: Service) -> list[BaseRoute]:
    return [
        Route("/v1/jobs/{id}", endpoint(service, get), methods=["GET"]),
        Route("/v1/jobs/{id}/events", endpoint(service, events), methods=["GET"]),
    ]


async def get(service: Service, request: Request) -> Response:
    """Raises ApiError."""
    token = await authorized(service, request, "documents:read")
    read_query(Closed, request)
    found = await service.run(shown_job, service, token, request.path_params["id"], language_of(request))
    return JSONResponse(found)


def shown_job(backend: Backend, service: Service, token: Token, identity: str, lang: Lang) -> Json:
    """With its result, if it has ended. Raises ApiError 404, StoreError, RedisError, LedgerLost."""
    job = readable_job(backend, service, token, identity)
    return {**job_dict(service, job), **job_result(backend, service, token, job, lang)}


def readable_job(backend: Backend, service: Service, token: Token, identity: str) -> Job:
    """Raises ApiError 404, which is the same for a job that the token must not know of."""
    job = backend.ledger.job(identity) if _ID.fullmatch(identity) else None
    if job is None or not token.may_touch(job.document):
        raise ApiError("not_found", "no-job", hours=service.settings.keep_jobs_s // 3_600)
    return job


async def events(service: Service, request: Request) -> Response:
    """Server-sent events. Raises ApiError."""
    token = await authorized(service, request, "documents:read")
    job = await service.run(readable_job, service, token, request.path_params["id"])
    return await job_events(service, request, token, job)
