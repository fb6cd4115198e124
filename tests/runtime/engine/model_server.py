"""An OpenAI-compatible model endpoint on this machine. It keeps every request as it came over the wire."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


def says(text: str, finish: str = "stop") -> dict[str, Any]:
    """A reply in words. `finish`: why it ended there."""
    return {"text": text, "calls": (), "finish": finish}


def calls(*made: tuple[str, dict[str, Any] | str]) -> dict[str, Any]:
    """A reply that calls tools: names, and arguments as a value or as the text that the model wrote."""
    return {"text": None, "calls": made, "finish": "tool_calls"}


def status(code: int, **headers: str) -> dict[str, Any]:
    """A reply that is an error of the server's. `headers`: with `_` for `-`."""
    return {"status": code, "headers": {name.replace("_", "-"): value for name, value in headers.items()}}


@dataclass
class ModelServer:
    """Gives `replies` one after the other, then HTTP 500. `url`: what `OPENAI_BASE_URL` is to be."""

    replies: Sequence[dict[str, Any]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the name is http.server's
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(json.loads(body))
                outer.paths.append(self.path)
                outer.authorizations.append(self.headers.get("Authorization", ""))
                number = len(outer.requests) - 1
                reply = outer.replies[number] if number < len(outer.replies) else status(500, x_should_retry="false")
                answer = _responses(reply) if self.path.endswith("/responses") else _completion(reply)
                data = json.dumps(answer).encode()
                self.send_response(reply.get("status", 200))
                for name, value in reply.get("headers", {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # the name is http.server's
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"


def _arguments(given: dict[str, Any] | str) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _completion(reply: dict[str, Any]) -> dict[str, Any]:
    if "status" in reply:
        return {"error": {"message": "no", "type": "server_error"}}
    message: dict[str, Any] = {"role": "assistant", "content": reply["text"]}
    if reply["calls"]:
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": _arguments(given)}}
            for number, (name, given) in enumerate(reply["calls"])
        ]
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reply["finish"]}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def _responses(reply: dict[str, Any]) -> dict[str, Any]:
    if "status" in reply:
        return {"error": {"message": "no", "type": "server_error"}}
    output: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": name,
            "arguments": _arguments(given),
            "status": "completed",
        }
        for number, (name, given) in enumerate(reply["calls"])
    ]
    if reply["text"] is not None:
        content = [{"type": "output_text", "text": reply["text"], "annotations": []}]
        output.append({"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content})
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
        "usage": {
            "input_tokens": 7,
            "output_tokens": 3,
            "total_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
