"""A server of ours, as commands reach it over HTTP: with a token, within bounded time, its refusals in words."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx2

from cli.trouble import OutputFault, Trouble
from pipeline.diagnostics.lang import Lang

TOKEN_VARIABLE: Final = "AOP_TOKEN"  # noqa: S105 - the name of the variable
PATIENCE_S: Final = 60.0
"""How long a request is sent again to a server that is busy, limits us, or does not answer."""

_AGAIN: Final = frozenset({429, 502, 503, 504})
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 10.0
_MOST_BYTES: Final = 64 << 20

Json = dict[str, Any]
"""An object of JSON values: whoever asked for it knows its form."""


class Refused(OutputFault):
    """What the server says, in the language that was asked for. `details`: what a program may make of it."""

    def __init__(self, message: str, status: int, details: Json) -> None:
        super().__init__(message, message)
        self.status = status
        self.details = details


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Read once more by whoever connects, and the name as the resolver wants it: each refuses other things.
        httpx2.URL(url)
        (parts.hostname or "").encode("idna")
    except (ValueError, httpx2.InvalidURL):
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query and not parts.fragment


class Remote:
    """`url`: with or without a path; `token` None: from `AOP_TOKEN`. `answer_s`: how long an answer may take.

    Raises Trouble for a wrong one of them."""

    def __init__(
        self,
        url: str,
        lang: Lang,
        *,
        token: str | None = None,
        patience_s: float = PATIENCE_S,
        answer_s: float = 30.0,
    ) -> None:
        if not _is_address(url):
            raise Trouble("push.url", url=url)
        secret = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
        if not secret.isascii() or not secret.isprintable() or not secret.strip():
            raise Trouble("push.no-token", variable=TOKEN_VARIABLE)
        self.url = url.rstrip("/")
        self._patience_s = patience_s
        self._client = httpx2.Client(
            headers={"authorization": f"Bearer {secret.strip()}", "accept-language": lang, "user-agent": "aop"},
            timeout=httpx2.Timeout(answer_s, connect=10.0),
            follow_redirects=False,  # the token goes to this server only
        )

    def json(
        self, method: str, path: str, *, content: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Json:
        """The answer's object. Asked again while the server cannot answer: only what may be sent twice is sent here.

        Raises Trouble, and Refused with what the server says.
        """
        response = self._patiently(
            lambda: self._client.request(method, self._at(path), content=content, headers=headers)
        )
        if not response.is_success:
            raise self._refused(response)
        return self._object(response)

    def events(self, path: str, after: str = "") -> Iterator[tuple[str, Json]]:
        """Ids and data of server-sent events, until the server says that there are no more; connected again where the
        connection breaks. Raises Trouble, OutputFault."""
        while True:
            try:
                with self._client.stream(
                    "GET", self._at(path), headers={"last-event-id": after} if after else {}
                ) as response:
                    if response.status_code == httpx2.codes.NO_CONTENT:
                        return
                    if response.status_code in _AGAIN:
                        response.read()
                        self._pause(response, _FIRST_PAUSE_S)
                        continue
                    if not response.is_success:
                        response.read()
                        raise self._refused(response)
                    for identity, data in _parsed(response.iter_lines()):
                        after = identity
                        yield identity, data
                time.sleep(_FIRST_PAUSE_S)  # it was ended, and not because there are no more
            except httpx2.TransportError:
                self.json("GET", "/healthz")  # patiently: does it come back?

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---------------------------------------------------------------------------------------------- plumbing

    def _at(self, path: str) -> str:
        return f"{self.url}{path}"

    def _patiently(self, send: Callable[[], httpx2.Response]) -> httpx2.Response:
        deadline = time.monotonic() + self._patience_s
        pause = _FIRST_PAUSE_S
        while True:
            try:
                response = send()
            except httpx2.TransportError as error:
                if time.monotonic() + pause > deadline:
                    raise Trouble("push.unreachable", url=self.url, detail=str(error)) from error
                time.sleep(pause)
            else:
                if response.status_code not in _AGAIN or time.monotonic() + pause > deadline:
                    return response
                self._pause(response, pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _pause(self, response: httpx2.Response, pause: float) -> None:
        """As the server asks, within reason."""
        asked = response.headers.get("retry-after", "")
        time.sleep(min(float(asked), _LONGEST_PAUSE_S) if asked.isascii() and asked.isdigit() else pause)

    def _refused(self, response: httpx2.Response) -> Exception:
        try:
            body = self._object(response)
        except Trouble:
            body = {}
        message, details = body.get("message"), body.get("details")
        if not isinstance(message, str):
            return Trouble("push.strange", url=self.url, status=response.status_code)
        return Refused(message, response.status_code, details if isinstance(details, dict) else {})

    def _object(self, response: httpx2.Response) -> Json:
        try:
            if len(response.content) > _MOST_BYTES:
                raise ValueError
            value = json.loads(response.content)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Trouble("push.strange", url=self.url, status=response.status_code)
        return value


def _parsed(lines: Iterator[str]) -> Iterator[tuple[str, Json]]:
    """Events of a stream; what has no id or no JSON object is passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        try:
            data = json.loads(fields.get("data", ""))
        except (ValueError, RecursionError):
            data = None
        if "id" in fields and isinstance(data, dict):
            yield fields["id"], data
        fields = {}
