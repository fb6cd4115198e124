"""A proxy in front of an S3 server that counts requests: one for each process whose requests are wanted."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType
from typing import BinaryIO, Final, Self
from urllib.parse import urlsplit

from bench.sizing.costs import Requests
from workers.local.servers import HOST

_PIECE: Final = 65_536
_GO_ON: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_ENTRY: Final = b"<Contents>"


@dataclass(slots=True)
class Counted:
    """`rounds`: stretches in which at least one request was under way. `listed`: keys in the answers of lists."""

    operations: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    listed: int = 0

    def __sub__(self, earlier: Counted) -> Counted:
        operations = self.operations - earlier.operations
        return Counted(operations, self.rounds - earlier.rounds, self.listed - earlier.listed)

    def each(self, documents: int, *, ordered: bool = True) -> Requests:
        """A list's pages are full where there are many documents, so its keys are counted and not its requests.
        `ordered`: one after the other but for a few; of many at once it is chance how many rounds they are."""
        found = {name: self.operations[name] / documents for name in ("get", "put", "head", "delete")}
        return Requests(**found, listed=self.listed / documents, rounds=self.rounds / documents if ordered else 0)


class CountingProxy:
    """`endpoint`: of the server. Bytes pass unchanged, so signatures hold."""

    def __init__(self, endpoint: str) -> None:
        self._server = (urlsplit(endpoint).hostname or "", urlsplit(endpoint).port or 80)
        self._listener = socket.create_server((HOST, 0))
        self.endpoint = f"http://{HOST}:{self._listener.getsockname()[1]}"
        self._lock = threading.Lock()
        self._counted = Counted()
        self._under_way = 0

    def counted(self) -> Counted:
        """So far."""
        with self._lock:
            return Counted(Counter(self._counted.operations), self._counted.rounds, self._counted.listed)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, name="s3-proxy", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._server) as server, client.makefile("rb") as requests:
            back = threading.Thread(target=self._answers, args=(server, client), daemon=True)
            back.start()
            try:
                while self._pass_request(requests, server):
                    pass
                server.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # either side went away
            back.join()

    def _pass_request(self, requests: BinaryIO, server: socket.socket) -> bool:
        """One request, its head and body. False: there is no further one."""
        first = requests.readline(_PIECE)
        if not first:
            return False
        lines, left = [first], 0
        while True:
            line = requests.readline(_PIECE)
            lines.append(line)
            if line.lower().startswith(b"content-length:"):
                left = int(line.split(b":")[1])
            if line in (b"\r\n", b""):
                break
        self._count(first.decode("latin-1"))
        server.sendall(b"".join(lines))
        while left > 0:
            piece = requests.read(min(left, _PIECE))
            if not piece:
                return False
            left -= len(piece)
            server.sendall(piece)
        return True

    def _answers(self, server: socket.socket, client: socket.socket) -> None:
        """An answer comes in pieces: that one has begun to come is taken for its end."""
        last = b""
        try:
            while piece := server.recv(_PIECE):
                # "Go on" may come in one piece with the answer itself.
                if piece.removeprefix(_GO_ON).startswith(b"HTTP/1.1 ") and piece != _GO_ON:
                    self._end()
                # An entry's tag may lie across two pieces.
                seen = last + piece
                last = seen[-(len(_ENTRY) - 1) :]
                self._listed(seen.count(_ENTRY))
                client.sendall(piece)
        except OSError:
            return

    def _count(self, line: str) -> None:
        method, path, *_ = line.split(" ")
        name = "list" if method == "GET" and "list-type=2" in path else method.lower()
        with self._lock:
            self._counted.operations[name] += 1
            self._counted.rounds += self._under_way == 0
            self._under_way += 1

    def _listed(self, keys: int) -> None:
        with self._lock:
            self._counted.listed += keys

    def _end(self) -> None:
        with self._lock:
            self._under_way = max(0, self._under_way - 1)
