"""Bounds that hold before anything of a request is looked at: URL, size, time, rate."""

from __future__ import annotations

import math
from typing import Final

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from server.errors import ApiError, response_of
from server.language import language_of
from server.service import Backend, Service

MAX_URL_BYTES: Final = 4_096
MAX_HEADER_BYTES: Final = 32 * 1_024
"""Of all together. The HTTP parser refuses a head that is larger still (`server.serve`)."""
BODY_S: Final = 30.0
HEADERS_S: Final = 15.0


class HeadLimit:
    """Middleware: longer URLs are refused (an id of 512 bytes, each as %XX, fits twice), and larger heads."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fault = _head_fault(scope) if scope["type"] == "http" else None
        if fault is not None:
            await response_of(fault, language_of(Request(scope)))(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _head_fault(scope: Scope) -> ApiError | None:
    if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_URL_BYTES:
        return ApiError("invalid_input", "url-too-long", status=414, limit=MAX_URL_BYTES)
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        return ApiError("invalid_input", "headers-too-long", status=431, limit=MAX_HEADER_BYTES)
    return None


async def read_body(request: Request, most: int) -> bytes:
    """All of the body. Raises ApiError: 413 as soon as it is known to be larger than `most` bytes, which may be before
    its first byte; 408 where it comes too slowly; 400 where it is cut off; 415 where it is packed: its size would say
    nothing."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise ApiError("invalid_input", "encoding", status=415, headers={"connection": "close"})
    declared = request.headers.get("content-length")
    if declared is not None and int(declared) > most:  # the HTTP parser lets digits pass only
        raise too_large(most)
    data = bytearray()
    try:
        with anyio.fail_after(BODY_S):
            async for chunk in request.stream():
                data += chunk
                if len(data) > most:
                    raise too_large(most)
    except TimeoutError:
        headers = {"connection": "close"}
        raise ApiError("invalid_input", "too-slow", status=408, headers=headers, limit=round(BODY_S)) from None
    except ClientDisconnect:  # nobody is there to be answered, and it is no bug of ours
        raise ApiError("invalid_input", "cut-off") from None
    return bytes(data)


def too_large(most: int) -> ApiError:
    # What was not read would be taken for the next request.
    return ApiError(
        "invalid_input",
        "too-large",
        status=413,
        details={"limit_bytes": most},
        headers={"connection": "close"},
        limit=most,
    )


def take(service: Service, backend: Backend, key: str) -> None:
    """One request of `key`'s rate. Raises ApiError 429."""
    settings = service.settings
    wait_ms = backend.ledger.rate(key, settings.rate_per_minute, settings.rate_burst)
    if wait_ms > 0:
        seconds = math.ceil(wait_ms / 1_000)
        raise ApiError(
            "rate_limited",
            "rate",
            details={"retry_after_ms": wait_ms},
            headers={"retry-after": str(seconds)},
            seconds=seconds,
        )


def address_of(request: Request) -> str:
    """Who a request without a token counts for."""
    return "unknown" if request.client is None else request.client.host
