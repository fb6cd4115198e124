"""A model endpoint on this machine that speaks the interfaces of `dialects`. It keeps every request as it came over
the wire."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from . import dialects
from .dialects import Sent

KEY = "k-of-tests"


def says(text: str, finish: str = "stop") -> dict[str, Any]:
    """A reply in words. `finish`: why it ended there (`stop`, `length`, `content_filter`)."""
    return {"text": text, "calls": (), "finish": finish}


def calls(*made: tuple[str, dict[str, Any] | str]) -> dict[str, Any]:
    """A reply that calls tools: names, and arguments as a value or as the text that the model wrote."""
    return {"text": None, "calls": made, "finish": "tool_calls"}


def status(code: int, **headers: str) -> dict[str, Any]:
    """A reply that is an error of the server's. `headers`: with `_` for `-`."""
    return {"status": code, "headers": {name.replace("_", "-"): value for name, value in headers.items()}}


@dataclass
class ModelServer:
    """Gives `replies` one after the other, then HTTP 500. `url`: what `OPENAI_BASE_URL` is to be; `environment`: what
    every provider's variables are to be."""

    replies: Sequence[dict[str, Any]]
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the name is http.server's
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(request)
                outer.paths.append(self.path)
                outer.authorizations.append(
                    self.headers.get("Authorization", "") or self.headers.get("x-goog-api-key", "")
                )
                number = len(outer.requests) - 1
                reply = outer.replies[number] if number < len(outer.replies) else status(500, x_should_retry="false")
                media_type, data = dialects.answered(self.path, request, reply)
                self.send_response(reply.get("status", 200))
                for name, value in reply.get("headers", {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Type", media_type)
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
    def sent(self) -> list[Sent]:
        """The requests as they are meant, whichever interface they came by."""
        return [dialects.read(path, request) for path, request in zip(self.paths, self.requests, strict=True)]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    @property
    def environment(self) -> dict[str, str]:
        return dialects.environment(self.root, KEY)
