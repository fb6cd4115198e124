"""Imported MCP servers are listed again every so often, as `aop catalog import` does it, so that a list that changed is
a changed catalog without anybody's command.

Only servers of the catalog folder's `mcp.json` whose list lies in `aop-tools/` already: what nobody has imported stays
outside. The command runs as a child process, one server at a time, which the slow line only looks after; so a server
that hangs delays nothing, and its earlier list stays.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

from redis import Redis

from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.imported import file_name
from catalog.own import IMPORTED, SERVERS
from catalog.reading import read_bounded
from catalog.source import compile_servers
from pipeline.diagnostics.visible import visible
from workers.catalogs import redis_key
from workers.children import die_with_parent, kill_group
from workers.logs import get_logger
from workers.metrics import dispatching
from workers.settings import Settings

LISTING_S: Final = 30
"""For all that one server says."""
CHILD_S: Final = 50.0
"""For the whole command; less than the shortest interval, so that nobody else asks the same server meanwhile."""
_SAID_BYTES: Final = 64 << 10
"""Of the command's standard error: what a pipe holds. One that says more waits until its time is over."""
_CAUSE: Final = 500

_log = get_logger(__name__)

_Stamp = tuple[int, int, int]


class _Asking(NamedTuple):
    """`before`: the server's file when the command began. `ends`: by the clock of ServerLists."""

    server: str
    process: subprocess.Popen[bytes]
    said: IO[bytes]
    before: _Stamp | None
    ends: float


@dataclass(slots=True)
class ServerLists:
    """`every_s`: between two lists of one server, whichever dispatcher asks; at least 60. Belongs to one thread."""

    folder: Path
    every_s: float
    redis: Redis
    prefix: str
    clock: Callable[[], float] = time.monotonic
    _due: dict[str, float] = field(default_factory=dict)
    _next: float = 0.0
    _asking: _Asking | None = None
    _troubled: set[str] = field(default_factory=set)

    def step(self) -> int:
        """1: a server's list was read. Never waits for a server. Raises RedisError, OSError."""
        if self._asking is not None:
            return self._look_after(self._asking)
        now = self.clock()
        if now < self._next:
            return 0
        self._due = {server: self._due.get(server, now) for server in self._servers()}
        server = min(self._due, key=self._due.__getitem__, default=None)
        if server is None or self._due[server] > now:
            self._next = now + self.every_s if server is None else self._due[server]
            return 0
        key = asked_key(self.prefix, server)
        if self.redis.set(key, "1", nx=True, px=int(self.every_s * 1_000)):
            self._due[server] = now + self.every_s
            self._asking = self._ask(server)
        else:
            # Another dispatcher asks, or has asked.
            self._due[server] = now + max(1.0, self.redis.pttl(key) / 1_000)
        return 0

    def close(self) -> None:
        """What is asked is not waited for: the command ends with its server."""
        if self._asking is not None:
            self._end(self._asking)

    # ------------------------------------------------------------------------------------------------- servers

    def _servers(self) -> list[str]:
        """Those whose lists may be written anew, in the order of the file."""
        imported = self.folder / IMPORTED
        if not imported.is_dir():
            return []
        if not os.access(imported, os.W_OK):
            self._tell(IMPORTED, "the folder cannot be written")
            return []
        self._tell(IMPORTED, None)
        path = self.folder / SERVERS
        if not path.exists():
            self._tell(SERVERS, "the catalog folder has no such file")
            return []
        try:
            names = [entry.name for entry in compile_servers(path, read_bounded(path))]
        except CatalogError as error:
            dispatching.server_lists.labels("failed").inc()
            self._tell(SERVERS, str(error))
            return []
        self._tell(SERVERS, None)
        return [name for name in names if self._file(name).is_file()]

    def _file(self, server: str) -> Path:
        return self.folder / IMPORTED / file_name(server)

    # ------------------------------------------------------------------------------------------------- the child

    def _ask(self, server: str) -> _Asking:
        """Raises OSError."""
        before = _stamp(self._file(server))
        process = subprocess.Popen(  # noqa: S603 - our own command
            command_of(server),
            cwd=self.folder,
            env=environment_of(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call
        )
        said = cast("IO[bytes]", process.stderr)
        os.set_blocking(said.fileno(), False)
        return _Asking(server, process, said, before, self.clock() + CHILD_S)

    def _look_after(self, asking: _Asking) -> int:
        status = asking.process.poll()
        if status is None and self.clock() < asking.ends:
            return 0
        trouble = None
        if status is None:
            trouble = f"it was not listed within {CHILD_S:.0f} s"
        elif status:
            trouble = _cause(asking.said) or f"aop catalog import ended with {status}"
        self._end(asking)
        changed = trouble is None and _stamp(self._file(asking.server)) != asking.before
        dispatching.server_lists.labels("failed" if trouble else "changed" if changed else "same").inc()
        self._tell(asking.server, trouble)
        if changed:
            _log.info("an MCP server lists other tools", server=asking.server)
        return 0 if trouble else 1

    def _end(self, asking: _Asking) -> None:
        self._asking = None
        if asking.process.returncode is None:
            kill_group(asking.process)
        asking.said.close()

    def _tell(self, subject: str, trouble: str | None) -> None:
        """Once when it begins, and once when it is over."""
        if trouble is None and subject in self._troubled:
            self._troubled.remove(subject)
            _log.info("lists of MCP servers are read again", subject=subject)
        elif trouble is not None and subject not in self._troubled:
            self._troubled.add(subject)
            _log.warning("lists of MCP servers are not read: the earlier ones stay", subject=subject, cause=trouble)


def server_lists_of(settings: Settings, redis: Redis) -> ServerLists | None:
    """None where nobody asked for it, or there is no folder to write to."""
    if not settings.catalog_refresh_s or settings.catalog_folder is None:
        return None
    return ServerLists(settings.catalog_folder, settings.catalog_refresh_s, redis, settings.redis_prefix)


def asked_key(prefix: str, server: str) -> str:
    """There while the server's list is new enough. Hashed: a name may be long, and hold anything."""
    return f"{redis_key(prefix)}-asked:{hashlib.sha256(fold(server).encode()).hexdigest()[:32]}"


def command_of(server: str) -> list[str]:
    """Run in the catalog folder, but apart from it (-P): a `cli.py` that somebody puts there is not ours."""
    options = ["--mcp-config", SERVERS, "--timeout", str(LISTING_S), "--lang", "en"]
    return [sys.executable, "-P", "-m", "cli", "catalog", "import", *options, "--", server]


def environment_of(environment: Mapping[str, str]) -> dict[str, str]:
    """This process's, which fills in the variables of `mcp.json`, without what leads to Redis and the store."""
    own = {f"AOP_{name.upper()}" for name in Settings.model_fields} | {"PROMETHEUS_MULTIPROC_DIR"}
    return {name: value for name, value in environment.items() if name.upper() not in own}


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _cause(said: IO[bytes]) -> str:
    """The last line of what an ended command said, which is the sentence about the server."""
    data = b""
    with suppress(OSError):
        data = os.read(said.fileno(), _SAID_BYTES)
    lines = data.decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return visible(last.removeprefix("aop: "))[:_CAUSE]
