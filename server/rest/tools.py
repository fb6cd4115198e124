"""`/v1/tools`: what the current catalog offers."""

from __future__ import annotations

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from catalog.model import Tool
from server.auth import authorized
from server.describing import Json
from server.endpoints import endpoint
from server.errors import ApiError
from server.reading import Closed, read_query
from server.service import Backend, Service


def routes(service: Service) -> list[BaseRoute]:
    return [
        Route("/v1/tools", endpoint(service, list_tools), methods=["GET"]),
        Route("/v1/tools/{name}", endpoint(service, get_tool), methods=["GET"]),
    ]


async def list_tools(service: Service, request: Request) -> Response:
    """All tools by name, without their operations' schemas. Raises ApiError."""
    await authorized(service, request, "catalog:read")
    read_query(Closed, request)
    return JSONResponse(await service.run(tools_of, service))


def tools_of(_backend: Backend, service: Service) -> Json:
    """Raises ApiError 503, StoreError, RedisError."""
    digest, catalog = service.catalog()
    return {"catalog": digest, "tools": [tool_dict(tool) for tool in catalog.tools()]}


async def get_tool(service: Service, request: Request) -> Response:
    """One tool with its operations. Raises ApiError."""
    await authorized(service, request, "catalog:read")
    read_query(Closed, request)
    return JSONResponse(await service.run(tool_of, service, request.path_params["name"]))


def tool_of(_backend: Backend, service: Service, name: str) -> Json:
    """Raises ApiError 404, 503, StoreError, RedisError."""
    digest, catalog = service.catalog()
    tool = catalog.tool(name)
    if tool is None:
        raise ApiError("not_found", "no-tool")
    operations: JsonValue = None
    if tool.operations is not None:
        operations = [
            {
                "name": operation.name,
                "category": operation.category,
                "effect": operation.effect,
                "description": operation.description,
            }
            for operation in tool.operations
        ]
    return {"catalog": digest, **tool_dict(tool), "operations": operations}


def tool_dict(tool: Tool) -> Json:
    """`operations`: how many, null where they are not known."""
    return {
        "name": tool.name,
        "kind": tool.kind,
        "title": tool.title,
        "hints": list(tool.hints),
        "categories": [
            {"name": category.name, "title": category.title, "hints": list(category.hints)}
            for category in tool.categories
        ],
        "operations": None if tool.operations is None else len(tool.operations),
    }
