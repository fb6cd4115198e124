"""MCP at `/mcp`: authentication in front, the protocol by the SDK, our tools behind."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final, cast

from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, JsonValue
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from server.computing import Computing
from server.errors import ApiError, as_api_error
from server.language import language_of
from server.mcp import catalog, compiling
from server.mcp.gate import UNAVAILABLE, Gate, token_of
from server.mcp.tool import Answer, Call, Computed, McpTool
from server.reading import read_model
from server.saving import trace_of
from server.service import Backend, Service
from workers.logs import get_logger
from workers.tokens import Token

PATH: Final = "/mcp"
TOOLS: Final[Mapping[str, McpTool]] = {tool.name: tool for tool in (*compiling.TOOLS, *catalog.TOOLS)}
_INSTRUCTIONS: Final = (
    "Compiles Agent Operating Procedures: business procedures in Japanese Markdown. Check a text with check_aop, save "
    "it with compile_aop, then ask get_compile_status until `ended`, and tell the person every error and warning."
)

_UNCHECKED: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The gate checks, and more exactly."""

_logger = get_logger("server")

_Context = ServerRequestContext[dict[str, Any], Any]
"""The SDK's: lifespan and request are of types that it cannot know."""


class McpApp:
    """`route` is mounted in the application, and `running` surrounds its life."""

    def __init__(self, service: Service, computing: Computing) -> None:
        self._service = service
        self._computing = computing
        self._server = Server(
            "aop",
            version=version("aop"),
            title="aop",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        app = self._server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=service.settings.max_body_bytes,
            transport_security=_UNCHECKED,
        )
        (route,) = [found for found in app.routes if isinstance(found, Route)]
        self.route: BaseRoute = Route(PATH, endpoint=Gate(service, cast("ASGIApp", route.endpoint)))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._server.session_manager.run():
            yield

    # ---------------------------------------------------------------------------------------------- requests

    async def _list(self, context: _Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        token = _token(context)
        missing = withheld(token)
        return ListToolsResult(
            tools=[_tool(tool) for tool in TOOLS.values() if token.allows(tool.scope)],
            _meta={UNAVAILABLE: missing} if missing else None,
        )

    async def _call(self, context: _Context, params: CallToolRequestParams) -> CallToolResult:
        request = _request(context)
        token, lang = _token(context), language_of(request)
        try:
            tool = TOOLS.get(params.name)
            if tool is None:
                raise ApiError("not_found", "no-mcp-tool", details={"tools": [*TOOLS]})
            if not token.allows(tool.scope):
                details: dict[str, JsonValue] = {"missing_scope": tool.scope, "scopes": list(token.scopes)}
                raise ApiError("forbidden", "scope", details=details, scope=tool.scope)
            arguments = read_model(tool.arguments, params.arguments or {})
            call = Call(self._service.backend, self._service, self._computing, token, lang, trace_of(request))
            if isinstance(tool.answer, Computed):
                value = await tool.answer.answer(call, arguments)
            else:
                value = await self._service.run(_in_thread, tool.answer, call, arguments)
        except Exception as error:
            # What has words is said; what has none is a bug, and logged as one.
            found = as_api_error(error)
            if found is None:
                identity = str(request.scope.get("aop.request_id", ""))
                _logger.error("internal error", path=PATH, tool=params.name, exc_info=error)
                found = ApiError("internal", "internal", details={"request_id": identity}, request=identity)
            return _result(found.body(lang), token, is_error=True)
        return _result(value, token)


def _in_thread(_backend: Backend, answer: Answer, call: Call, arguments: BaseModel) -> dict[str, JsonValue]:
    return answer(call, arguments)


def withheld(token: Token) -> list[JsonValue]:
    """The tools that the token may not use, each with the scope that it needs."""
    return [{"name": tool.name, "scope": tool.scope} for tool in TOOLS.values() if not token.allows(tool.scope)]


def _request(context: _Context) -> Request:
    return cast("Request", context.request)


def _token(context: _Context) -> Token:
    return token_of(_request(context).scope)


def _tool(tool: McpTool) -> Tool:
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=False,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _result(value: dict[str, JsonValue], token: Token, *, is_error: bool = False) -> CallToolResult:
    missing = withheld(token)
    text = json.dumps(value, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=value,
        is_error=is_error,
        _meta={UNAVAILABLE: missing} if missing else None,
    )
