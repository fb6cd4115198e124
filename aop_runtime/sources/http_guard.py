"""A transport for HTTP that keeps every response within bounds and says what became of a request.

Redirects are not followed, compressed responses are refused (their size says nothing about what they hold), and what
goes wrong below HTTP becomes the end of this one request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import httpx2

from aop_runtime.messages import Message


@dataclass(slots=True)
class Exchange:
    """What became of a request. `sent`: bytes of it may have reached the server. `fault`: why no whole answer came."""

    sent: bool = False
    status: int | None = None
    retry_after: str | None = None
    fault: Message | None = None


EXCHANGE: ContextVar[Exchange | None] = ContextVar("aop_exchange", default=None)


class BodyFault(httpx2.StreamError):
    """A response's body that is too large, compressed, or broke off."""


class Guard(httpx2.AsyncBaseTransport):
    """For requests to the host of `url`. `most`, `most_of_stream`: bytes of a body, of one that is a stream of events.
    With `status_for_faults`, what fails below HTTP is a response with that status, so that one request cannot take
    others down with it."""

    def __init__(self, url: str, most: int, most_of_stream: int, status_for_faults: int | None = None) -> None:
        self._inner = httpx2.AsyncHTTPTransport(proxy=_proxy(url))
        self._most, self._most_of_stream = most, most_of_stream
        self._status = status_for_faults

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = EXCHANGE.get() or Exchange()
        exchange.sent, exchange.status, exchange.fault = True, None, None
        request.headers["Accept-Encoding"] = "identity"
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            refused = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)
            exchange.sent = not refused
            exchange.fault = Message("connection.not-reached") if refused else Message("connection.broke-off")
            if isinstance(error, httpx2.TimeoutException) and not refused:
                exchange.fault = Message("connection.late")
            if self._status is None:
                raise
            return httpx2.Response(self._status, request=request)
        exchange.status = response.status_code
        exchange.retry_after = response.headers.get("retry-after")
        streamed = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        stream = cast(httpx2.AsyncByteStream, response.stream)
        most = self._most_of_stream if streamed else self._most
        response.stream = _Bounded(stream, most, encoding in ("", "identity"), exchange)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _proxy(url: str) -> str | None:
    """Of the environment, for other machines by https."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies_environment().get("https")


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int, plain: bool, exchange: Exchange) -> None:
        self._stream, self._most, self._plain, self._exchange = stream, most, plain, exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Raises BodyFault."""
        if not self._plain:
            self._refuse(Message("connection.compressed"))
        size = 0
        try:
            async for chunk in self._stream:
                size += len(chunk)
                if size > self._most:
                    self._refuse(Message("connection.answer-too-large", most=self._most))
                yield chunk
        except httpx2.TransportError as error:
            self._exchange.fault = Message("connection.answer-broke-off")
            raise BodyFault(str(self._exchange.fault)) from error

    def _refuse(self, why: Message) -> None:
        self._exchange.fault = why
        raise BodyFault(str(why))

    async def aclose(self) -> None:
        await self._stream.aclose()
