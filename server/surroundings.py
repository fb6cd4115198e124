"""What surrounds every request."""

from __future__ import annotations

import secrets
from contextlib import AbstractContextManager, nullcontext

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import internal
from workers.logs import bound
from workers.tracing import Span, span


class Surroundings:
    """Middleware: an id for each request, which its log lines and its answer carry; no answer is taken for what it is
    not, or kept where others could read it. What nobody had words for ends here as a 500 in the usual form."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = secrets.token_hex(8)
        scope["aop.request_id"] = identity

        begun = False
        parts = scope["path"].split("/")
        # The first parts of our own paths: what follows names a document.
        place = "/".join(parts[:3]) if parts[1:2] == ["v1"] else "/mcp" if parts[1:2] == ["mcp"] else ""
        if not place:
            traced: AbstractContextManager[Span] = nullcontext(Span(""))  # a probe, or nothing of ours
        else:
            traced = span(f"{scope['method']} {place}", _traceparent(scope), "server", request_id=identity)

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                traced_span.set("http.response.status_code", message["status"])
                if message["status"] >= 500:
                    traced_span.fail(str(message["status"]))
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = identity
                headers["x-content-type-options"] = "nosniff"
                headers.setdefault("cache-control", "no-store")
            await send(message)

        with bound(request_id=identity), traced as traced_span:
            if traced_span.traceparent:
                # What is saved belongs to this request.
                MutableHeaders(scope=scope)["traceparent"] = traced_span.traceparent
            try:
                await self._app(scope, receive, with_headers)
            except Exception as error:
                if begun:
                    raise  # all that is left is to break the connection off, which uvicorn does
                await internal(HTTPConnection(scope), error)(scope, receive, with_headers)


def _traceparent(scope: Scope) -> str:
    return Headers(scope=scope).get("traceparent", "")
