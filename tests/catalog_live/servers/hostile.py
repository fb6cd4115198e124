"""A server that misbehaves in the way of `argv[1]`, over stdio. By hand, because the SDK would not let it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

TOOL = {"name": "a", "inputSchema": {"type": "object"}}


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def deep(levels: int) -> str:
    return '{"items":' * levels + "{}" + "}" * levels


def page(cursor: str | None, following: str | None) -> dict[str, object]:
    name = f"tool_{cursor or 'first'}"
    return {"tools": [{**TOOL, "name": name}], **({"nextCursor": following} if following else {})}


LISTS: dict[str, Callable[[str | None], dict[str, object]]] = {
    "circle": lambda cursor: page(cursor, "again"),
    "endless": lambda cursor: page(cursor, str(int(cursor or 0) + 1)),
    "many": lambda cursor: {"tools": [{**TOOL, "name": f"t{index}"} for index in range(2_000)]},
    "duplicate": lambda cursor: {"tools": [TOOL, {**TOOL, "name": "A"}]},
    "no-object": lambda cursor: {"tools": [{"name": "a", "inputSchema": {"type": "string"}}]},
    "no-schema": lambda cursor: {"tools": [{"name": "a"}]},
    "schema-is-true": lambda cursor: {"tools": [{"name": "a", "inputSchema": True}]},
    "no-list": lambda cursor: {"tools": {"a": TOOL}},
    "hint-is-text": lambda cursor: {"tools": [{**TOOL, "annotations": {"readOnlyHint": "true"}}]},
    "hint-is-number": lambda cursor: {"tools": [{**TOOL, "annotations": {"readOnlyHint": 1}}]},
    "no-name": lambda cursor: {"tools": [{**TOOL, "name": " "}]},
    "large-number": lambda cursor: {"tools": [{**TOOL, "inputSchema": {"type": "object", "x": 10**400}}]},
    "echo": lambda cursor: {"tools": [{**TOOL, "inputSchema": {"type": "object", "x": [{os.environ["TOKEN"]: 1}]}}]},
    "large-schema": lambda cursor: {"tools": [{**TOOL, "description": "x" * 500_000}]},
}


def answer(mode: str, request: dict[str, object]) -> None:
    number = request["id"]
    if request["method"] == "initialize":
        info = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "h", "version": "1"},
        }
        say({"jsonrpc": "2.0", "id": number, "result": info})
    elif request["method"] != "tools/list":
        say({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no such method"}})
    elif mode == "hang":
        time.sleep(600)
    elif mode == "flood":
        while True:
            sys.stdout.write("x" * 65_536)
    elif mode == "chatter":
        while True:
            say(
                {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 60_000}}
            )
    elif mode == "not-json":
        sys.stdout.write(f"ready, token {os.environ['TOKEN']}\n")
        sys.stdout.flush()
    elif mode == "deep":
        sys.stdout.write(
            f'{{"jsonrpc":"2.0","id":{number},"result":{{"tools":[{{"name":"a","inputSchema":{{"type":"object","items":{deep(70)}}}}}]}}}}\n'
        )
        sys.stdout.flush()
    elif mode == "very-deep":
        sys.stdout.write(f'{{"jsonrpc":"2.0","id":{number},"result":{deep(100_000)}}}\n')
        sys.stdout.flush()
    elif mode == "error":
        message = f"not allowed for {os.environ['TOKEN']}"
        say({"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": message}})
    elif mode == "escaped":
        message = json.dumps({"given": os.environ["TOKEN"]})
        say({"jsonrpc": "2.0", "id": number, "error": {"code": -32000, "message": message}})
    elif mode == "die":
        sys.stderr.write(f"bad token {os.environ['TOKEN']}\n")
        sys.exit(3)
    elif mode == "warn-and-die":
        sys.stderr.write("no settings file\n")
        warnings.warn("never awaited", RuntimeWarning, stacklevel=1)
        os._exit(4)
    elif mode == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        params = request.get("params")
        cursor = params.get("cursor") if isinstance(params, dict) else None
        say({"jsonrpc": "2.0", "id": number, "result": LISTS[mode](cursor)})


if sys.argv[1] == "stubborn":
    # It ignores every request to end, and so does what it starts.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(os.environ["PIDS"]).write_text(f"{os.getpid()} {child.pid} .", encoding="ascii")
    time.sleep(600)

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        answer(sys.argv[1], message)
