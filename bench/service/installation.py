"""A whole installation in a folder: a Valkey, a store, real processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from workers import connections
from workers.archive import Archive
from workers.catalogs import Sources, publish_catalog
from workers.intake import Intake, open_installation
from workers.ledger.records import STAGES
from workers.local.seaweedfs import SeaweedFS
from workers.local.servers import HOST, free_ports
from workers.local.supervisor import Supervisor
from workers.local.valkey import Valkey
from workers.settings import Settings, load
from workers.tokens import SCOPES, Tokens

_READY_S: Final = 60.0
_BUCKET: Final = "bench"

NO_WAITING: Final = {"AOP_QUIET_MS": "0", "AOP_LONGEST_WAIT_MS": "0", "AOP_TICK_MS": "10"}
"""A saved document is due at once."""


class Installation:
    """`s3`: the store is a SeaweedFS of this machine, `s3_pid` its process. `extra`: further settings."""

    def __init__(self, folder: Path, *, s3: bool = False, **extra: str) -> None:
        self._resources = ExitStack()
        self.s3_pid = 0
        valkey = self._resources.enter_context(Valkey(folder / "redis", bound=True))
        (port,) = free_ports(1)
        self.environment = {
            "AOP_REDIS_URL": valkey.url,
            "AOP_STORE": f"file:{folder / 'store'}",
            "AOP_HOST": HOST,
            "AOP_PORT": str(port),
            "AOP_RATE_PER_MINUTE": "10000000",
            "AOP_RATE_BURST": "1000000",
            "AOP_LOG_LEVEL": "warning",
            **NO_WAITING,
            **extra,
        }
        if s3:
            self.environment |= self._bucket(folder)
        os.environ.update(self.environment)
        self.settings: Settings = load()
        self.valkey_pid = valkey.pid or 0
        self.url = f"http://{HOST}:{port}"
        self.redis = self._resources.enter_context(connections.open_redis(self.settings))
        self.store = self._resources.enter_context(connections.open_store(self.settings))
        self.ledger = connections.open_ledger(self.settings, self.redis)
        self.archive = Archive(self.store)
        open_installation(self.ledger, self.archive)
        publish_catalog(Sources(None), self.store, self.redis, self.settings.redis_prefix)
        self.intake = Intake(self.ledger, self.archive)
        self.tokens = Tokens(self.store, self.redis, self.settings.redis_prefix)
        self.supervisor = Supervisor(self.environment, folder / "logs")
        self._resources.callback(self.supervisor.stop)

    def _bucket(self, folder: Path) -> dict[str, str]:
        weed = self._resources.enter_context(SeaweedFS(folder / "s3", bound=True))
        weed.make_bucket(_BUCKET)
        self.s3_pid = weed.pid or 0
        return {
            "AOP_STORE": f"s3://{_BUCKET}/aop",
            "AOP_S3_ENDPOINT": weed.endpoint,
            "AOP_S3_REGION": "us-east-1",
            "AOP_S3_ACCESS_KEY": weed.access_key,
            "AOP_S3_SECRET_KEY": weed.secret_key,
            "AOP_S3_PATH_STYLE": "true",
        }

    def token(self) -> str:
        return self.tokens.create(name="bench", scopes=SCOPES)[1]

    def start(self, *names: str) -> None:
        """`dispatcher`, `server`, or a stage for its worker."""
        for name in names:
            words = ["worker", name, "--class", "both"] if name in STAGES else [name]
            self.supervisor.add(name, [sys.executable, "-m", "cli", *words])

    def run(self, name: str, command: Sequence[str]) -> None:
        self.supervisor.add(name, [sys.executable, *command])

    def wait_for_workers(self) -> None:
        """Until each of the four has said that it takes messages. Raises TimeoutError."""
        self.wait(lambda: self.redis.hlen(f"{self.settings.redis_prefix}:consumers") >= len(STAGES), "workers")

    def wait(self, done: Callable[[], bool], what: str, limit_s: float = _READY_S, look_s: float = 0.005) -> float:
        """Seconds until `done()`, which is asked every `look_s`. Raises TimeoutError."""
        begun = time.perf_counter()
        while not done():
            if time.perf_counter() - begun > limit_s:
                raise TimeoutError(what)
            time.sleep(look_s)
        return time.perf_counter() - begun

    def ended(self) -> int:
        """How many jobs have ended ever."""
        totals = self.ledger.totals()
        return sum(totals.get(name, 0) for name in ("succeeded", "failed", "superseded", "dead"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()
        for name in self.environment:
            os.environ.pop(name, None)
