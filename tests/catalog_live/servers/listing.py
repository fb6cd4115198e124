"""An MCP server over stdio whose tools are those of a JSON file (`argv[1]`), two a page: a server that may change.

By hand, since loading the SDK takes many times as long as all that it is asked; `listing_by_sdk.py` is the same by it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PAGE = 2


def page(cursor: str | None) -> dict[str, Any]:
    tools = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    start = int(cursor or 0)
    following = {"nextCursor": str(start + PAGE)} if start + PAGE < len(tools) else {}
    return {"tools": tools[start : start + PAGE], **following}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    parameters = message.get("params") or {}
    if message["method"] == "initialize":
        information = {"name": "listing", "version": "1"}
        version = parameters["protocolVersion"]
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": information}}
    if message["method"] == "tools/list":
        return {"result": page(parameters.get("cursor"))}
    return {"error": {"code": -32601, "message": "no such method"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}) + "\n")
        sys.stdout.flush()
