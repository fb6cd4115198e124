"""`create_app` behind uvicorn, with bounds on what comes in and an end to what goes on."""

from __future__ import annotations

import asyncio
import signal
import socket
from types import FrameType
from typing import Final

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from server.limits import HEADERS_S, MAX_HEADER_BYTES
from server.service import Service
from workers.settings import Settings

MAX_CONNECTIONS: Final = 2_000
BACKLOG: Final = 1_024
KEEP_ALIVE_S: Final = 20
GRACE_S: Final = 20
"""Requests that are under way when the server is stopped have so long."""


class BoundedProtocol(H11Protocol):
    """Closes a connection whose request line and headers do not arrive in time, however they drip."""

    _headers_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self._watch_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._watch_headers()
        else:
            self._headers_came()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_came()
        super().connection_lost(exc)

    def _watch_headers(self) -> None:
        if self._headers_due is None:
            self._headers_due = self.loop.call_later(HEADERS_S, self._too_late)

    def _headers_came(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()
            self._headers_due = None

    def _too_late(self) -> None:
        self._headers_due = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """Ends streams before it waits for requests."""

    def __init__(self, app: Starlette, settings: Settings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                http=BoundedProtocol,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=KEEP_ALIVE_S,
                timeout_graceful_shutdown=GRACE_S,
                h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            )
        )
        self._service: Service = app.state.service

    @property
    def port(self) -> int:
        """Where it listens, once it has started."""
        found: int = self.servers[0].sockets[0].getsockname()[1]
        return found

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.watch.end_streams()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """As asked: a signal is no fault, and is not raised again when all is done."""
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True


def listen(settings: Settings) -> socket.socket:
    """The socket on which the server is to accept. Raises OSError, with the address, where it cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol named, or asyncio leaves Nagle's algorithm on: each answer would take 40 ms longer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, error.strerror or str(error), f"{settings.host}:{settings.port}") from error
    return listening
