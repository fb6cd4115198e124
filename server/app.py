"""The application: all parts behind one URL, and what surrounds every request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from pipeline.stores.protocol import StoreError
from server import hooks, rest
from server.computing import Computing
from server.errors import HANDLERS
from server.limits import HeadLimit
from server.mcp.app import McpApp
from server.service import Service
from server.surroundings import Surroundings
from workers.logs import get_logger
from workers.settings import Settings
from workers.token_uses import FLUSH_S

_logger = get_logger("server")


def create_app(settings: Settings) -> Starlette:
    """Raises StoreError where the store cannot be used, and when it starts RedisError, LedgerVersion as well. All is
    closed when it stops. `app.state.service` is what its parts share."""
    service = Service(settings)
    computing = Computing(service)
    mcp = McpApp(service, computing)
    app = Starlette(
        routes=[*routes(service), mcp.route],
        middleware=[Middleware(Surroundings), Middleware(HeadLimit)],
        exception_handlers=cast("Mapping[Any, Any]", HANDLERS),  # starlette's own type says no more
        lifespan=_lifespan,
    )
    app.state.service = service
    app.state.mcp = mcp
    app.state.computing = computing
    return app


def routes(service: Service) -> Sequence[BaseRoute]:
    """Of webhooks and REST. A part that is added (web pages, OAuth) brings its own: a `Mount` is a route, too."""
    return [*hooks.routes(service), *rest.routes(service)]


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    service: Service = app.state.service
    await anyio.to_thread.run_sync(service.open)
    mcp: McpApp = app.state.mcp
    async with mcp.running(), anyio.create_task_group() as tasks:
        tasks.start_soon(_flush, service)
        yield
        tasks.cancel_scope.cancel()
    await anyio.to_thread.run_sync(service.close)


async def _flush(service: Service) -> None:
    while True:
        await anyio.sleep(FLUSH_S)
        try:
            await anyio.to_thread.run_sync(service.flush)
        except StoreError as error:
            _logger.warning("uses of tokens are not kept yet", cause=str(error))
