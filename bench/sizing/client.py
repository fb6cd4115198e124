"""Saves and plans over HTTP, one after the other."""

from __future__ import annotations

import http.client
import json
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

from bench.compiling import document  # the documents of all benches: 2 KB and five phases
from bench.service.installation import Installation

_WAIT_S: Final = 120


class Client:
    def __init__(self, found: Installation) -> None:
        self._place = urlsplit(found.url).netloc
        self._head = {"Authorization": f"Bearer {found.token()}", "Content-Type": "application/json"}
        self._connection = http.client.HTTPConnection(self._place, timeout=_WAIT_S)

    def answers(self) -> bool:
        """Whether the server is ready."""
        connection = http.client.HTTPConnection(self._place, timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()

    def put(self, number: int) -> None:
        """Save the document of that number. Raises RuntimeError where it is not accepted."""
        head = self._head | {"Content-Type": "text/markdown"}
        self._ask("PUT", f"/v1/documents/sizing/{number}.md", document(number).encode(), head, http.HTTPStatus.ACCEPTED)

    def plan(self) -> None:
        """Of all documents. Raises RuntimeError."""
        order = json.dumps({"scope": {"all": True}}).encode()
        self._ask("POST", "/v1/recompiles", order, self._head, http.HTTPStatus.OK)

    def _ask(self, method: str, path: str, body: bytes, head: dict[str, str], wanted: http.HTTPStatus) -> None:
        self._connection.request(method, path, body, head)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status != wanted:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]!r}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
