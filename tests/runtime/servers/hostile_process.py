"""Servers that nobody would write: `stdio MODE`, an MCP server; `http MODE`, an MCP server and an API (says its port).

They speak below the SDK, which would not let them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

MODE: Final = sys.argv[2]
SCHEMA: Final = {"type": "object", "properties": {"a": {}}}
FLOODS: Final[dict[str, dict[str, object]]] = {
    "pings": {"method": "ping", "id": "p"},
    "answers": {"id": 4711, "result": {}},
    "notes": {"method": "notifications/message", "params": {"level": "info", "data": ""}},
}


def operations() -> list[dict[str, Any]]:
    if MODE == "names":
        return [{"name": name, "inputSchema": SCHEMA} for name in sys.argv[3].split("|")]
    if MODE == "schema":
        return [{"name": "op", "inputSchema": json.loads(sys.argv[3])}]
    return [{"name": "op", "inputSchema": SCHEMA}]


def answered(message: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    method, parameters = message["method"], message.get("params") or {}
    if method == "initialize":
        version = parameters["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    if method == "tools/list" and MODE == "pages":
        page = int(parameters.get("cursor") or 0)
        sys.stderr.write(f"asked for page {page}\n")
        sys.stderr.flush()
        large = {"type": "object", "x": [[]] * 50_000}
        return {"tools": [{"name": f"op{page}", "inputSchema": large}], "nextCursor": str(page + 1)}
    if method == "tools/list":
        return {"tools": operations()}
    return {"content": [{"type": "text", "text": "done"}]}


def flood(write: Callable[[bytes], object], head: bytes = b"", tail: bytes = b"\n") -> None:
    """Until nobody listens."""
    line = json.dumps({"jsonrpc": "2.0", **FLOODS[MODE]}).encode()
    while True:
        write((head + line + tail) * 100)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def over_stdio() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if message["method"] == "server/discover":
            reply: dict[str, Any] = {"error": {"code": -32601, "message": "unknown"}}
        elif message["method"] == "tools/call" and MODE in FLOODS:
            flood(sys.stdout.buffer.write)
        else:
            reply = {"result": answered(message)}
        say(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}))


class Answers(BaseHTTPRequestHandler):
    def log_message(self, format: str, *values: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/mcp":
            self.send_error(405)
            return
        bodies = {
            "retry": ("text/plain", b"later"),
        }
        kind, body = bodies.get(MODE, ("", b""))
        if MODE.startswith("charset-"):
            kind, body = (
                f"text/plain; charset={MODE.removeprefix('charset-')}",
                b"a" * 2_000_000 + b"-" + b"z" * 2_000_000,
            )
        if MODE.startswith("deep-"):
            levels = int(MODE.removeprefix("deep-"))
            kind, body = "application/json", b'{"a":' + b"[" * levels + b"]" * levels + b"}"
        self.send_response(429 if MODE == "retry" else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "Mon, 01 Jan 2024 00:00:00 +99999999999999999")
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message or "method" not in message:
            self.send_response(202)
            self.end_headers()
            return
        floods = message["method"] == "tools/call" and MODE in FLOODS
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if floods else "application/json")
        self.end_headers()
        if floods:
            try:
                flood(self.wfile.write, b"event: message\ndata: ", b"\n\n")
            except OSError:
                return
        self.wfile.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answered(message)}).encode())


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        over_stdio()
    else:
        with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
            say(str(server.server_address[1]))
            server.serve_forever()
