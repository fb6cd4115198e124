"""`/v1/recompiles`: a plan, its token, what became of it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

import anyio
from pydantic import BeforeValidator, Field, JsonValue, StringConstraints, ValidationError, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipeline.compiler import Compiler, Options
from pipeline.generators.registry import default_registry
from server.auth import authorized
from server.describing import Json
from server.endpoints import Endpoint, endpoint
from server.errors import ApiError, unavailable
from server.limits import read_body
from server.reading import Closed, few_unknown, read_json, read_model, read_query
from server.service import Backend, Service
from workers.audit import Audit
from workers.bulk.plan import Plan, Planner
from workers.bulk.run import Begun, Bulk, PlanUnknown
from workers.bulk.scope import Scope
from workers.choices import exactly_one
from workers.ledger.recompiles import Recompile, Recompiles
from workers.project import LedgerProject
from workers.tokens import Token

_ID: Final = re.compile(r"[0-9a-f]{27}")
_PLAN_S: Final = 120.0
"""A plan reads the traces of every document."""
_MOST_SHOWN: Final = 200
"""Documents that an answer lists; all are counted."""

_LISTED: Final = 50

T = TypeVar("T")


class Order(Closed):
    """Either a scope, which is answered with a plan, or the token of a plan, which runs it."""

    scope: Annotated[Scope | None, Field(strict=False), BeforeValidator(few_unknown(Scope))] = None
    plan_token: Annotated[str, StringConstraints(min_length=16, max_length=64)] | None = None

    @model_validator(mode="after")
    def _either(self) -> Order:
        if (self.scope is None) is (self.plan_token is None):
            raise exactly_one(("scope", "plan_token"))
        return self


class Page(Closed):
    cursor: Annotated[int, Field(ge=0, lt=1 << 64, strict=False)] = 0


Change: TypeAlias = Literal["pause", "resume", "cancel"]
_STATES: Final[dict[Change, Literal["running", "paused", "cancelled"]]] = {
    "pause": "paused",
    "resume": "running",
    "cancel": "cancelled",
}


def routes(service: Service) -> list[BaseRoute]:
    one = "/v1/recompiles/{id}"
    changes = [Route(f"{one}/{change}", endpoint(service, _changing(change)), methods=["POST"]) for change in _STATES]
    return [
        Route("/v1/recompiles", endpoint(service, _posting()), methods=["POST"]),
        Route("/v1/recompiles", endpoint(service, list_recompiles), methods=["GET"]),
        Route(one, endpoint(service, get), methods=["GET"]),
        Route(f"{one}/results", endpoint(service, results), methods=["GET"]),
        *changes,
    ]


# ------------------------------------------------------------------------------------------------------- running


def _posting() -> Endpoint:
    # A plan takes a whole core: a second one waits.
    plans = ThreadPoolExecutor(1, thread_name_prefix="plan")

    async def post(service: Service, request: Request) -> Response:
        """200 with a plan; 202 with what runs. Raises ApiError: 409 with another plan, if the old no longer holds."""
        token = await authorized(service, request, "recompile")
        order = read_model(Order, read_json(await read_body(request, service.settings.max_body_bytes)))
        scope = order.scope
        if scope is not None:
            plan, plan_token = await _planned(plans, lambda: bulk_of(service).plan(scope, token.may_touch, token.id))
            return JSONResponse(plan_dict(plan, plan_token))
        status, body = await _planned(plans, lambda: run_plan(service, token, order.plan_token or ""))
        return JSONResponse(body, status)

    return post


def run_plan(service: Service, token: Token, plan_token: str) -> tuple[int, Json]:
    """Status and body. In a thread. Raises ApiError 404, 409, StoreError, RedisError, LedgerLost."""
    try:
        found = bulk_of(service).run(plan_token, token.may_touch, token.id)
    except PlanUnknown:
        raise ApiError("not_found", "no-plan") from None
    if not isinstance(found, Begun):
        raise ApiError("conflict", "plan-changed", details={"plan": plan_dict(found.plan, found.token)})
    recompile = service.recompiles.recompile(found.identity)
    if recompile is None or not _is_open_to(token, recompile):
        raise ApiError("not_found", "no-plan")  # somebody else's, or it ended long ago
    if found.now:
        after: Json = {"scope": json.loads(recompile.scope), "catalog": recompile.catalog, "total": recompile.total}
        Audit(service.backend.store).record(token.actor, "recompile.run", found.identity, after=after)
    return 202, {**recompile_dict(recompile), "url": f"/v1/recompiles/{found.identity}"}


async def _planned(plans: Executor, work: Callable[[], T]) -> T:
    """Raises ApiError 503 where it takes too long. One that has begun keeps its place until it has come to its end."""
    try:
        with anyio.fail_after(_PLAN_S):
            return await asyncio.get_running_loop().run_in_executor(plans, partial(copy_context().run, work))
    except TimeoutError:
        raise unavailable("timeout") from None


def bulk_of(service: Service) -> Bulk:
    recompiles = service.recompiles

    def planner() -> Planner:
        digest, catalog = service.catalog()
        settings = service.settings
        options = Options(reuse=settings.reuse, max_bytes=settings.max_document_bytes)
        compiler = Compiler(catalog, service.backend.store, default_registry().find(), options)
        return Planner(service.backend.archive, recompiles, compiler, digest, LedgerProject(service.ledger))

    return Bulk(service.ledger, recompiles, planner)


# ------------------------------------------------------------------------------------------------------- looking


async def list_recompiles(service: Service, request: Request) -> Response:
    """The newest ones, and the plan that a changed catalog offers."""
    token = await authorized(service, request, "recompile")
    read_query(Closed, request)
    return JSONResponse(await service.run(_listed, service, token))


def _listed(_backend: Backend, service: Service, token: Token) -> Json:
    recompiles = service.recompiles
    newest = recompiles.newest(_LISTED, wanted=partial(_is_open_to, token))
    shown: list[JsonValue] = [recompile_dict(found) for found in newest]
    # What is offered is about all documents: whoever may know only of some asks for a plan of `stale`.
    return {"recompiles": shown, "offer": None if token.limited else _offer(recompiles)}


def _offer(recompiles: Recompiles) -> Json | None:
    token = recompiles.offered()
    kept = None if token is None else recompiles.plan(token)
    if token is None or kept is None:
        return None
    try:
        return plan_dict(Plan.model_validate_json(kept), token)
    except ValidationError:
        return None  # another version's


async def get(service: Service, request: Request) -> Response:
    token = await authorized(service, request, "recompile")
    read_query(Closed, request)
    found = await service.run(_readable, service, token, request.path_params["id"])
    return JSONResponse(recompile_dict(found))


async def results(service: Service, request: Request) -> Response:
    """What became of each document, a page at a time: go on at `next` until it is 0."""
    token = await authorized(service, request, "recompile")
    page = read_query(Page, request)
    return JSONResponse(await service.run(_results, service, token, request.path_params["id"], page.cursor))


def _results(backend: Backend, service: Service, token: Token, identity: str, cursor: int) -> Json:
    _readable(backend, service, token, identity)
    following, found = service.recompiles.results(identity, cursor, _MOST_SHOWN)
    shown: list[JsonValue] = [
        {"document_id": document, "job_id": job, "outcome": outcome}
        for document, (job, outcome) in sorted(found.items())
        if token.may_touch(document)
    ]
    return {"results": shown, "next": following}


def _changing(change: Change) -> Endpoint:
    async def answer(service: Service, request: Request) -> Response:
        token = await authorized(service, request, "recompile")
        found = await service.run(_changed, service, token, request.path_params["id"], change)
        return JSONResponse(recompile_dict(found))

    return answer


def _changed(backend: Backend, service: Service, token: Token, identity: str, change: Change) -> Recompile:
    _readable(backend, service, token, identity)
    states = service.recompiles.change(identity, _STATES[change])
    if states is None:
        raise ApiError("not_found", "no-recompile")
    before, after = states
    if after != _STATES[change]:
        raise ApiError("conflict", "recompile-over", details={"state": after}, state=after)
    if before != after:
        Audit(backend.store).record(
            token.actor, f"recompile.{change}", identity, before={"state": before}, after={"state": after}
        )
    return _readable(backend, service, token, identity)


def _readable(_backend: Backend, service: Service, token: Token, identity: str) -> Recompile:
    """Raises ApiError 404, which is the same for one that the token must not know of."""
    found = service.recompiles.recompile(identity) if _ID.fullmatch(identity) else None
    if found is None or not _is_open_to(token, found):
        raise ApiError("not_found", "no-recompile")
    return found


def _is_open_to(token: Token, recompile: Recompile) -> bool:
    """Counts tell of documents: a token that is limited to some sees its own recompiles only."""
    return not token.limited or recompile.by == token.id


# -------------------------------------------------------------------------------------------------------- as JSON


def plan_dict(plan: Plan, token: str) -> Json:
    return {
        "plan_token": token,
        "scope": plan.scope.model_dump(exclude_none=True, mode="json"),
        "catalog": plan.catalog,
        "total": plan.total,
        "run": len(plan.documents),
        "reused": plan.reused,
        "reasons": dict(plan.reasons),
        "model_calls": plan.model_calls,
        "documents": [
            {"document_id": found.document, "reasons": list(found.reasons), "model_calls": found.model_calls}
            for found in plan.documents[:_MOST_SHOWN]
        ],
    }


def recompile_dict(recompile: Recompile) -> Json:
    return {
        "recompile_id": recompile.id,
        "state": recompile.state,
        "catalog": recompile.catalog,
        "total": recompile.total,
        "done": recompile.done,
        "outcomes": dict(recompile.counts),
        "created_ms": recompile.created_ms,
    }
