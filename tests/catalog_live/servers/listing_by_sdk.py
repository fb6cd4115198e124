"""`listing.py` by the SDK, which speaks the newest version of the protocol: the tools of a JSON file, two a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult, PaginatedRequestParams, Tool

PAGE = 2


async def list_tools(context: object, params: PaginatedRequestParams | None) -> ListToolsResult:
    tools = [Tool.model_validate(entry) for entry in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]
    start = int(params.cursor) if params is not None and params.cursor else 0
    following = str(start + PAGE) if start + PAGE < len(tools) else None
    return ListToolsResult(tools=tools[start : start + PAGE], next_cursor=following)


async def main() -> None:
    server = Server("listing", version="1", on_list_tools=list_tools)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


anyio.run(main)
