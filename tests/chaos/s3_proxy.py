"""An S3 endpoint that fails when it is told to: in front of a real server, which keeps what gets through.

A request is passed on as it is, `Host` and signature with it. `500-after` is the nasty one: the server has done what it
was asked, and the client is told that it has failed.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from workers.local.servers import HOST, free_ports

Kind = Literal["500-before", "500-after", "503", "slow", "overtaken"]

_PUBLISHED: Final = re.compile(rb"PUT \S*/pointers/published%252F([0-9a-f]{64})")
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_EXPECT: Final = re.compile(rb"\r\nexpect: *100-continue", re.IGNORECASE)
_MOST_HELD_S: Final = 14.0
"""Less than a client waits for an answer."""


@dataclass(slots=True)
class Faults:
    """What is still to be done to requests, and what was done, by kind. `overtaken`: how many of those were indeed."""

    waiting: deque[Kind] = field(default_factory=deque)
    done: Counter[Kind] = field(default_factory=Counter)
    overtaken: int = 0


class S3Proxy:
    """`upstream`: the port of the server. `published`: told of each pointer of a published document that has just been
    written, by the hash of its id; `holding`: of each whose writing is held back until a newer one has overtaken it."""

    def __init__(self, upstream: int, seed: int) -> None:
        self._upstream = upstream
        self._random = random.Random(seed)
        self.port = free_ports(1)[0]
        self.faults = Faults()
        self.published: Callable[[str], None] = lambda _hash: None
        self.holding: Callable[[str], None] = lambda _hash: None
        self._held: dict[str, asyncio.Event] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="s3-proxy", daemon=True)
        self._ready = threading.Event()

    @property
    def endpoint(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        self._thread.start()
        if not self._ready.wait(10):
            raise TimeoutError("the proxy did not start")

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def inject(self, kind: Kind, count: int = 1) -> None:
        """The next requests fare so."""
        self._loop.call_soon_threadsafe(self.faults.waiting.extend, [kind] * count)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, HOST, self.port, limit=1 << 20))
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream: asyncio.StreamWriter | None = None
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            source, upstream = await asyncio.open_connection(HOST, self._upstream, limit=1 << 20)
            while await self._exchange(reader, writer, source, upstream):
                pass
        for end in (writer, upstream):
            if end is not None:
                end.close()

    async def _exchange(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        source: asyncio.StreamReader,
        upstream: asyncio.StreamWriter,
    ) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        if _EXPECT.search(head):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await writer.drain()
            head = _EXPECT.sub(b"", head)
        body = await _body(reader, head)
        found = _PUBLISHED.match(head)
        document = found[1].decode() if found else ""
        kind = self._fault(document)
        if kind in ("500-before", "503"):
            return await self._refuse(writer, kind)
        if kind == "slow":
            await asyncio.sleep(self._random.uniform(0.5, 2.0))
        elif kind == "overtaken":
            await self._hold(document)
        upstream.write(head + body)
        await upstream.drain()
        answer = await source.readuntil(b"\r\n\r\n")
        bare = head.startswith(b"HEAD") or answer[9:12] in (b"204", b"304")
        data = b"" if bare else await _body(source, answer)
        if document and document in self._held and kind != "overtaken" and answer[9:12] == b"200":
            self._held[document].set()
            self.faults.overtaken += 1
        if document:
            self.published(document)
        if kind == "500-after":
            return await self._refuse(writer, kind)
        writer.write(answer + data)
        await writer.drain()
        return b"\r\nconnection: close" not in answer.lower()

    def _fault(self, document: str) -> Kind | None:
        """Those that are to be overtaken are pointers of published documents, one at a time: whoever is to overtake it
        needs a worker."""
        waiting = self.faults.waiting
        for _ in range(len(waiting)):
            kind = waiting.popleft()
            if kind == "overtaken" and (not document or self._held):
                waiting.append(kind)
                continue
            self.faults.done[kind] += 1
            return kind
        return None

    async def _hold(self, document: str) -> None:
        overtaken = self._held[document] = asyncio.Event()
        self.holding(document)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(overtaken.wait(), _MOST_HELD_S)
        del self._held[document]

    async def _refuse(self, writer: asyncio.StreamWriter, kind: Kind) -> bool:
        status, code = ("503 Service Unavailable", "SlowDown") if kind == "503" else ("500 Error", "InternalError")
        body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>chaos</Message></Error>".encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        return True


async def _body(reader: asyncio.StreamReader, head: bytes) -> bytes:
    found = _LENGTH.search(head)
    if found:
        return await reader.readexactly(int(found[1]))
    if not _CHUNKED.search(head):
        return b""
    parts = []
    while True:
        line = await reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        parts += [line, await reader.readexactly(size + 2)]
        if size == 0:
            return b"".join(parts)
