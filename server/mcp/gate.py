"""In front of the protocol: who asks, how much they send, and what the SDK leaves out of its answers."""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal, cast

from pydantic import StringConstraints
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.diagnostics.lang import Lang
from server.auth import authenticated
from server.errors import ApiError, as_api_error, response_of
from server.faults import Malformed
from server.language import language_of
from server.limits import read_body
from server.mcp.pages import Pages
from server.reading import Open, read_json, read_model
from server.service import Service
from workers.tokens import Token

UNAVAILABLE: Final = "unavailableTools"
_TOKEN: Final = "aop.token"  # noqa: S105 - where a request keeps who asks


MAX_METHOD: Final = 100
"""Characters; the SDK repeats the name of one that it does not have."""
_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600


class Envelope(Open):
    """A request or notification of JSON-RPC, as far as all methods are alike."""

    jsonrpc: Literal["2.0"]
    id: int | str | None = None
    method: Annotated[str, StringConstraints(max_length=MAX_METHOD)]
    params: dict[str, object] | None = None


def token_of(scope: Scope) -> Token:
    return cast("Token", scope[_TOKEN])


class Gate:
    """Without a token that is known nothing is listed or done, whatever the method. Bodies are bounded in size, time.

    A stateless server has no streams to offer and no sessions to end: only POST goes on."""

    def __init__(self, service: Service, app: ASGIApp) -> None:
        self._service = service
        self._app = app
        self._pages = Pages.of(service.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            self._pages.check(request)
            scope[_TOKEN] = await authenticated(self._service, request)
            if request.method != "POST":
                method, headers = request.method, {"allow": "POST"}
                raise ApiError("invalid_input", "method", status=405, headers=headers, method=method)
            body = await read_body(request, self._service.settings.max_body_bytes)
        except Exception as error:
            found = as_api_error(error)
            if found is None:
                raise
            await response_of(found, language_of(request))(scope, receive, send)
            return
        refusal = refused(body, language_of(request))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive), _Completing(send))


def refused(body: bytes, lang: Lang) -> JSONResponse | None:
    """The answer to what is no message of JSON-RPC: the SDK's own would repeat parts of it. None: it is one."""
    code = _PARSE_ERROR
    try:
        value = read_json(body)
        code = _INVALID_REQUEST
        read_model(Envelope, value)
    except Malformed as fault:
        error = {"code": code, "message": fault.message(lang), "data": fault.body(lang)}
        return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, fault.status, {"content-language": lang})
    return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body that was read, then whatever comes."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return left.pop() if left else await receive()

    return next_message


class _Completing:
    """Says `unavailableTools` in the result of `tools/list` as well as in its `_meta`: the SDK lets pass only what the
    protocol has names for."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            if message["type"] == "http.response.body" and not message.get("more_body"):
                message = {**message, "body": completed(message.get("body", b""))}
                MutableHeaders(scope=start)["content-length"] = str(len(message["body"]))
            await self._send(start)
        await self._send(message)


def completed(body: bytes) -> bytes:
    """The same bytes, if they are no answer to `tools/list`."""
    if UNAVAILABLE.encode() not in body:
        return body
    answer = json.loads(body)
    result = answer.get("result")
    if not isinstance(result, dict) or "tools" not in result:
        return body
    result[UNAVAILABLE] = result["_meta"][UNAVAILABLE]
    return json.dumps(answer, ensure_ascii=False).encode()
