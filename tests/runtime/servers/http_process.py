"""An HTTP API process, `CONFIG`: the operations of one tool by method and path; it prints its address.

It answers with canned results, refuses a wrong token, records every request, and misbehaves as a file says.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse

from examples.server.http_service import Asked, api, listen, refusal, success
from examples.server.offered import answer

CONFIG = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
CALLS, CONTROL = Path(CONFIG["calls"]), Path(CONFIG["control"])
TOOL = CONFIG["tool"]


def record(**entry: object) -> None:
    with CALLS.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tool": TOOL, **entry}, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


async def answering(asked: Asked) -> Response:
    request, operation = asked.request, asked.operation
    if asked.path == "/moved":
        record(operation="moved", arguments={}, path=asked.path)
        return JSONResponse({"moved": True})
    modes: dict[str, Any] = json.loads(CONTROL.read_text(encoding="utf-8"))["modes"]
    mode = str(modes.get(f"{TOOL}.{operation}") or modes.get(TOOL) or modes.get("*") or "")
    record(
        operation=operation,
        arguments=asked.arguments,
        method=request.method,
        path=asked.path,
        query=asked.query,
        body=asked.body,
        headers=dict(request.headers),
    )
    refused = refusal(asked, CONFIG["token"])
    if refused is not None:
        return refused
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
    return success(asked, answer(CONFIG["results"], operation))


def started(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    listen(api(CONFIG["operations"], answering), started)
