"""An HTTP API of given operations, by method and path. It asks for a token, and answers with what it is given."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from examples.server.offered import Json, Route, answer, answers, routes

Answering = Callable[["Asked"], Awaitable[Response]]


class Asked(NamedTuple):
    """A request. `operation`: "" where none is there. `arguments`: of path, query and body together."""

    request: Request
    path: str
    operation: str
    arguments: dict[str, Json]
    query: dict[str, list[str]]
    body: Json


def matched(operations: Sequence[Route], method: str, path: str) -> tuple[str, dict[str, str]] | None:
    """The operation of a request, and its arguments in the path; a fixed segment goes before an argument."""
    for operation in sorted(operations, key=lambda entry: entry["path"].count("{")):
        pattern = re.sub(r"\\\{([^{}]*)\\\}", r"(?P<\1>[^/]+)", re.escape(operation["path"]))
        match = re.fullmatch(pattern, path)
        if match is not None and operation["method"] == method:
            return operation["name"], {name: unquote(value) for name, value in match.groupdict().items()}
    return None


def api(operations: Sequence[Route], answering: Answering) -> ASGIApp:
    """Every path comes to `answering`, one with line ends in it too, which a router would not match."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await answering(await _asked(operations, Request(scope, receive)))
        await response(scope, receive, send)

    return app


async def _asked(operations: Sequence[Route], request: Request) -> Asked:
    path = request.scope["raw_path"].decode()
    operation, in_path = matched(operations, request.method, path) or ("", {})
    query = {name: request.query_params.getlist(name) for name in request.query_params}
    data = await request.body()
    body: Json = json.loads(data) if data else None
    arguments: dict[str, Json] = {**in_path, **{name: v[0] if len(v) == 1 else v for name, v in query.items()}}
    if isinstance(body, Mapping):
        arguments |= body
    return Asked(request, path, operation, arguments, query, body)


def refusal(asked: Asked, token: str | None) -> Response | None:
    """Where the token is another one, and where there is nothing. `token` None: any."""
    given = asked.request.headers.get("authorization", "")
    if not given.startswith("Bearer ") or token not in (None, given.removeprefix("Bearer ")):
        return JSONResponse({"message": "アクセストークンが不正です"}, 401)
    return None if asked.operation else JSONResponse({"message": "no such path"}, 404)


def success(asked: Asked, value: Json) -> Response:
    return JSONResponse(value, 201 if asked.request.method == "POST" else 200)


def serve(name: str, started: Callable[[str], None]) -> None:
    """The API `name` of the catalog, until it is interrupted. `started`: gets its address. Raises KeyError."""
    known = answers().get(name, {})

    async def answering(asked: Asked) -> Response:
        return refusal(asked, None) or success(asked, answer(known, asked.operation))

    listen(api(routes(name), answering), started)


def listen(app: ASGIApp, started: Callable[[str], None]) -> None:
    """On a free port of this machine's own address. Raises OSError."""
    listening = socket.create_server(("127.0.0.1", 0))
    started(f"http://127.0.0.1:{listening.getsockname()[1]}")
    settings = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    asyncio.run(uvicorn.Server(settings).serve([listening]))
