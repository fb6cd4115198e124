"""GitHub's contents API, as far as the fetcher asks: files of commits, served on the loopback interface."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

Answer = Callable[[BaseHTTPRequestHandler], None]


class ContentsApi:
    """`files`: by (repository, commit, path). `instead`: answers in place of a file, by path. `seen`: what was asked,
    with the Authorization header."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str, str], bytes] = {}
        self.instead: dict[str, Answer] = {}
        self.seen: list[tuple[str, str | None]] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                api.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        self.seen.append((handler.path, handler.headers.get("authorization")))
        _, repos, owner, name, contents, *path = map(unquote, parts.path.split("/"))
        commit = parse_qs(parts.query).get("ref", [""])[0]
        place = "/".join(path)
        if place in self.instead:
            self.instead[place](handler)
            return
        data = self.files.get((f"{owner}/{name}", commit, place))
        raw = handler.headers.get("accept") == "application/vnd.github.raw+json"
        if data is None or not raw or (repos, contents) != ("repos", "contents"):
            reply(handler, 404, b'{"message": "Not Found"}')
        else:
            reply(handler, 200, data)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def reply(handler: BaseHTTPRequestHandler, status: int, data: bytes = b"", **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
