"""An MCP server of given operations: what it lists and what it answers come from whoever starts it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from examples.server.offered import Json, Listed, answer, answers, listed

Answering = Callable[[str, Mapping[str, Json]], Awaitable[CallToolResult]]


def tool_of(entry: Listed) -> Tool:
    hint = entry["readOnly"]
    return Tool(
        name=entry["name"],
        description=entry["description"],
        input_schema=dict(entry["inputSchema"]),
        output_schema=None if "outputSchema" not in entry else dict(entry["outputSchema"]),
        annotations=None if hint is None else ToolAnnotations(read_only_hint=hint),
    )


def result_of(value: Json) -> CallToolResult:
    """A text as it is; another value as JSON, and as it is where it is an object."""
    if isinstance(value, str):
        return CallToolResult(content=[TextContent(text=value)])
    text = json.dumps(value, ensure_ascii=False)
    structured = dict(value) if isinstance(value, Mapping) else None
    return CallToolResult(content=[TextContent(text=text)], structured_content=structured)


def unknown(operation: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=f"Unknown tool: {operation}")], is_error=True)


async def serve(name: str) -> None:
    """The tool `name` of the catalog, over standard input and output, until the input ends. Raises KeyError."""
    known = answers().get(name, {})
    operations = [tool_of(entry) for entry in listed(name)]

    async def answering(operation: str, arguments: Mapping[str, Json]) -> CallToolResult:
        return result_of(answer(known, operation))

    server = server_of(name, operations, answering)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def server_of(name: str, operations: Iterable[Tool], answering: Answering) -> Server[dict[str, object]]:
    """A server of operations that stay the same."""
    tools = {tool.name: tool for tool in operations}

    async def on_list(context: object, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=list(tools.values()))

    async def on_call(context: object, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in tools:
            return unknown(params.name)
        return await answering(params.name, params.arguments or {})

    return Server(name, version="1", on_list_tools=on_list, on_call_tool=on_call)
