"""A job's progress as server-sent events: those that were, then each as it happens, until the job has ended.

Resumable: the id of an event is that of the ledger's stream. A client that was told the end and comes again is told
that there is no more (204), as browsers want it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.auth import token_text
from server.describing import dumps
from server.errors import ApiError, as_api_error
from server.faults import Fault, Malformed
from server.reading import Closed, read_query
from server.service import Backend, Service
from server.watch import Waiter
from workers.ledger.records import ENDED, Event, Job
from workers.tokens import Token, TokenRefused

KEEP_ALIVE_S: Final = 15.0
LONGEST_S: Final = 3_600.0
"""Then the stream ends, and the client comes again with the last id."""
SEND_S: Final = 30.0
"""A client that reads nothing for so long is let go."""
MOST_OF_A_TOKEN: Final = 16
MOST: Final = 1_000

_ID: Final = re.compile(r"[0-9]{1,20}-[0-9]{1,20}")
_BEGINNING: Final = "0-0"
_RETRY: Final = b"retry: 2000\n\n"
_KEEP_ALIVE: Final = b": keep-alive\n\n"

_open: Counter[tuple[int, str]] = Counter()
"""Streams that are open now, by service and token."""


class EventsQuery(Closed):
    """`after`: as `Last-Event-ID`, for clients that cannot set a header."""

    after: str = ""


async def job_events(service: Service, request: Request, token: Token, job: Job) -> Response:
    """Raises ApiError 400, 429, 503."""
    query = read_query(EventsQuery, request)
    after = request.headers.get("last-event-id", "") or query.after or _BEGINNING
    if _ID.fullmatch(after) is None:
        raise Malformed(Fault("header.Last-Event-ID", "wrong form", {"expected": f"^{_ID.pattern}$"}))
    if job.state in ENDED and not await service.run(_events, job.id, after):
        return Response(status_code=204)
    if request.method == "HEAD":
        return Response(media_type=EventStream.media_type)
    own = _open[(id(service), token.id)]
    if own >= MOST_OF_A_TOKEN or sum(_open.values()) >= MOST:
        raise ApiError("rate_limited", "streams", headers={"retry-after": "5"}, limit=MOST_OF_A_TOKEN)
    return EventStream(service, token, token_text(request), job.id, after)


def _events(backend: Backend, job: str, after: str) -> list[Event]:
    return backend.ledger.events(job, after)


def _still_good(backend: Backend, text: str) -> bool:
    try:
        backend.tokens.authenticate(text)
    except TokenRefused:
        return False
    return True


class EventStream(Response):
    """An ASGI response that sends until the job has ended, the client has gone, or the server stops."""

    media_type = "text/event-stream"

    def __init__(self, service: Service, token: Token, text: str, job: str, after: str) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._service = service
        self._slot = (id(service), token.id)
        self._text = text
        self._job = job
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        _open[self._slot] += 1
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with anyio.create_task_group() as tasks:

                async def until_gone() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        continue
                    tasks.cancel_scope.cancel()

                tasks.start_soon(until_gone)
                with anyio.move_on_after(LONGEST_S):
                    await self._stream(send)
                with anyio.move_on_after(SEND_S):
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                tasks.cancel_scope.cancel()
        finally:
            _open[self._slot] -= 1
            if not _open[self._slot]:
                del _open[self._slot]

    async def _stream(self, send: Send) -> None:
        try:
            await self._send(send, _RETRY)
            with self._service.watch.on(self._job) as waiter:
                while not await self._news(send):
                    if self._service.watch.ending or not await self._wait(send, waiter):
                        return
        except TimeoutError:
            return
        except Exception as error:
            # The answer has begun: all that can be done is to end it, and the client comes again.
            if as_api_error(error) is None:
                raise

    async def _news(self, send: Send) -> bool:
        """Send what has happened. Whether the job has ended with it."""
        while events := await self._service.run(_events, self._job, self._after):
            self._after = events[-1].id
            await self._send(send, "".join(map(_written, events)).encode())
            if any(event.event in ENDED for event in events):
                return True
        return False

    async def _wait(self, send: Send, waiter: Waiter) -> bool:
        """Until something happens; False where the token is good no more."""
        if not await waiter.news(KEEP_ALIVE_S):
            if not await self._service.run(_still_good, self._text):
                return False
            await self._send(send, _KEEP_ALIVE)
        return True

    async def _send(self, send: Send, data: bytes) -> None:
        """Raises TimeoutError."""
        with anyio.fail_after(SEND_S):
            await send({"type": "http.response.body", "body": data, "more_body": True})


def _written(event: Event) -> str:
    """The event's name is a word of the ledger, its data JSON on one line."""
    at_ms = int(event.id.partition("-")[0])
    data = {"job_id": event.job, "event": event.event, "detail": event.detail, "at_ms": at_ms}
    return f"id: {event.id}\nevent: {event.event}\ndata: {dumps(data)}\n\n"
