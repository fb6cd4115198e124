"""What surrounds every request."""

from __future__ import annotations

import secrets

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import internal
from workers.logs import bound


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

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = identity
                headers["x-content-type-options"] = "nosniff"
                headers.setdefault("cache-control", "no-store")
            await send(message)

        with bound(request_id=identity):
            try:
                await self._app(scope, receive, with_headers)
            except Exception as error:
                if begun:
                    raise  # all that is left is to break the connection off, which uvicorn does
                await internal(HTTPConnection(scope), error)(scope, receive, with_headers)
