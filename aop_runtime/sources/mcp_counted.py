"""A transport whose messages are counted, whatever it is made of: a server may flood in small ones as well."""

from __future__ import annotations

import contextvars
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Self

from anyio import EndOfStream
from mcp.client._transport import ReadStream, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage

from aop_runtime.sources.mcp_flow import Flooded, Flow


@asynccontextmanager
async def counted(
    transport: AbstractAsyncContextManager[TransportStreams], flow: Flow
) -> AsyncIterator[TransportStreams]:
    async with transport as (incoming, outgoing):
        yield _Incoming(incoming, flow), _Outgoing(outgoing, flow)


class _Incoming:
    """Ends where the server has said too much, which the session takes as the end of the connection."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception], flow: Flow) -> None:
        self._stream, self._flow = stream, flow

    @property
    def last_context(self) -> contextvars.Context | None:
        """Of whoever sent what was received last: the SDK carries on in it."""
        found: contextvars.Context | None = getattr(self._stream, "last_context", None)
        return found

    async def receive(self) -> SessionMessage | Exception:
        item = await self._stream.receive()
        if isinstance(item, SessionMessage):
            try:
                self._flow.received(item.message)
            except Flooded:
                raise EndOfStream from None
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Outgoing:
    def __init__(self, stream: WriteStream[SessionMessage], flow: Flow) -> None:
        self._stream, self._flow = stream, flow

    async def send(self, item: SessionMessage, /) -> None:
        self._flow.sent(item.message)
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
