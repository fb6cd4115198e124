"""`/healthz`: the process answers. `/readyz`: Redis, the ledger and the store do."""

from __future__ import annotations

import time
from typing import Final

import anyio
from redis.exceptions import RedisError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from pipeline.stores.protocol import StoreError
from server.endpoints import endpoint
from server.errors import ApiError
from server.service import Backend, Service
from workers.ledger.records import LedgerCorrupt, LedgerLost, LedgerVersion

KEPT_S: Final = 1.0
"""An answer serves for so long: anybody may ask, as often as they like."""
PATIENCE_S: Final = 3.0


def routes(service: Service) -> list[BaseRoute]:
    readiness = Readiness()
    return [
        Route("/healthz", endpoint(service, healthy), methods=["GET"]),
        Route("/readyz", endpoint(service, readiness.ready), methods=["GET"]),
    ]


async def healthy(_service: Service, _request: Request) -> Response:
    return JSONResponse({"status": "ok"})


class Readiness:
    def __init__(self) -> None:
        self._until = 0.0
        self._known: dict[str, str] = {}
        self._asking: anyio.Lock | None = None

    async def ready(self, service: Service, _request: Request) -> Response:
        """200, or 503 with what is missing: `redis`, `ledger`, `store`."""
        if self._asking is None:
            self._asking = anyio.Lock()
        async with self._asking:
            if time.monotonic() >= self._until:
                self._known = await self._ask(service)
                self._until = time.monotonic() + KEPT_S
        good = all(state == "ok" for state in self._known.values())
        return JSONResponse({"status": "ok" if good else "unavailable", **self._known}, 200 if good else 503)

    async def _ask(self, service: Service) -> dict[str, str]:
        try:
            with anyio.fail_after(PATIENCE_S):
                return await service.run(_states)
        except (TimeoutError, ApiError):
            return {"redis": "slow", "ledger": "slow", "store": "slow"}


def _states(backend: Backend) -> dict[str, str]:
    states = {"redis": "ok", "ledger": "ok", "store": "ok"}
    try:
        backend.ledger.open()
    except RedisError:
        states |= {"redis": "unreachable", "ledger": "unknown"}
    except (LedgerLost, LedgerVersion, LedgerCorrupt) as error:
        states["ledger"] = "lost" if isinstance(error, LedgerLost) else "other version"
    try:
        backend.store.get_pointer("installation")
    except StoreError:
        states["store"] = "unreachable"
    return states
