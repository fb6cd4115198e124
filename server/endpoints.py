"""Endpoints as functions of the service and the request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from server.errors import as_api_error
from server.service import Service
from workers.metrics import metrics

Endpoint: TypeAlias = Callable[[Service, Request], Awaitable[Response]]


def endpoint(service: Service, answer: Endpoint, counted: str = "") -> Callable[[Request], Awaitable[Response]]:
    """`counted`: under which source its requests count as saves that came in; "" not at all."""

    async def call(request: Request) -> Response:
        if not counted:
            return await answer(service, request)
        status = 500
        try:
            response = await answer(service, request)
            status = response.status_code
            return response
        except Exception as error:
            found = as_api_error(error)
            status = 500 if found is None else found.status
            raise
        finally:
            metrics.webhook_requests.labels(counted, str(status)).inc()

    return call
