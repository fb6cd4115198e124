"""An HTTP API process, `CONFIG`: the operations of one tool by method and path; it prints its port.

It answers with canned results, refuses a wrong token, records every request, and misbehaves as a file says.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

CONFIG = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
CALLS, CONTROL = Path(CONFIG["calls"]), Path(CONFIG["control"])
TOOL = CONFIG["tool"]


def record(**entry: object) -> None:
    with CALLS.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tool": TOOL, **entry}, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def found(method: str, path: str) -> tuple[str, dict[str, str]] | None:
    """The operation of a request, and its arguments in the path; a fixed segment goes before an argument."""
    for operation in sorted(CONFIG["operations"], key=lambda entry: entry["path"].count("{")):
        pattern = re.sub(r"\\\{([^{}]*)\\\}", r"(?P<\1>[^/]+)", re.escape(operation["path"]))
        match = re.fullmatch(pattern, path)
        if match is not None and operation["method"] == method:
            return operation["name"], {name: unquote(value) for name, value in match.groupdict().items()}
    return None


async def serve(request: Request) -> Response:
    raw = request.scope["raw_path"].decode()
    if raw == "/moved":
        record(operation="moved", arguments={}, path=raw)
        return JSONResponse({"moved": True})
    matched = found(request.method, raw)
    operation, in_path = matched or ("", {})
    body = await request.body()
    modes: dict[str, Any] = json.loads(CONTROL.read_text(encoding="utf-8"))["modes"]
    mode = str(modes.get(f"{TOOL}.{operation}") or modes.get(TOOL) or modes.get("*") or "")
    query = {name: request.query_params.getlist(name) for name in request.query_params}
    record(
        operation=operation,
        arguments={
            **in_path,
            **{k: v[0] if len(v) == 1 else v for k, v in query.items()},
            **(json.loads(body or b"{}")),
        },
        method=request.method,
        path=raw,
        query=query,
        body=json.loads(body) if body else None,
        headers=dict(request.headers),
    )
    if request.headers.get("authorization") != f"Bearer {CONFIG['token']}":
        return JSONResponse({"message": "アクセストークンが不正です"}, 401)
    if not operation:
        return JSONResponse({"message": "no such path"}, 404)
    if mode == "hang":
        await asyncio.sleep(600)
    if mode == "die":
        os._exit(3)
    if mode == "flood":

        async def chunks() -> AsyncIterator[bytes]:
            while not await request.is_disconnected():
                yield b"x" * 65_536

        return StreamingResponse(chunks(), media_type="application/json")
    if mode == "away":
        return RedirectResponse("http://localhost:1/elsewhere")
    if mode == "here":
        return RedirectResponse(str(request.url.replace(path="/moved")))
    if mode == "compressed":
        return Response(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}, media_type="application/json")
    if mode == "not-json":
        return Response(b"{oops", media_type="application/json")
    if mode == "text":
        return PlainTextResponse("号数,金額\n1,100\n")
    if mode == "binary":
        return Response(b"%PDF-1.7 " + bytes(100), media_type="application/pdf")
    if mode == "secret":
        return JSONResponse({"echo": request.headers["authorization"]})
    if mode.startswith("status-"):
        status = int(mode[7:])
        text = {"errors": [], "message": f"だめでした {CONFIG['token']} " + "長" * 5_000}
        return JSONResponse(text, status, headers={"Retry-After": "9"} if status in (429, 503) else {})
    result = CONFIG["results"].get(operation, {"ok": True, "operation": operation})
    return JSONResponse(result, 201 if request.method == "POST" else 200)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Every path comes here, one with line ends in it too, which a router would not match."""
    response = await serve(Request(scope, receive))
    await response(scope, receive, send)


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    settings = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    asyncio.run(uvicorn.Server(settings).serve([listening]))


if __name__ == "__main__":
    main()
