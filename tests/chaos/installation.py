"""A whole installation on this machine: Valkey with its append-only file, SeaweedFS behind a proxy that fails, and all
processes with settings that make what was lost come again within seconds."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from redis import Redis

from pipeline.stores.files import FileStore
from pipeline.stores.protocol import Store
from pipeline.stores.s3 import S3Settings, S3Store
from tests.service.workers.installation import settings_of
from workers.archive import Archive
from workers.connections import open_ledger
from workers.intake import open_installation
from workers.ledger.ledger import Ledger
from workers.local.seaweedfs import SeaweedFS
from workers.local.servers import HOST, free_ports
from workers.local.valkey import Valkey
from workers.tokens import Tokens

from .processes import Processes, until
from .s3_proxy import S3Proxy
from .senders import WEBHOOK_SECRET

BUCKET: Final = "aop"
PREFIX: Final = "chaos"
REGION: Final = "us-east-1"
READY_S: Final = 60.0

SETTINGS: Final = {
    "AOP_REDIS_PREFIX": PREFIX,
    "AOP_QUIET_MS": "1000",
    "AOP_LONGEST_WAIT_MS": "4000",
    "AOP_TICK_MS": "100",
    "AOP_LEASE_MS": "5000",
    "AOP_MESSAGE_LOST_MS": "12000",
    "AOP_MOST_ATTEMPTS": "10",
    "AOP_CONCURRENCY": "2",
    "AOP_SOFT_TIME_LIMIT_S": "40",
    "AOP_TIME_LIMIT_S": "45",
    "AOP_VISIBILITY_TIMEOUT_S": "105",
    "AOP_SOFT_SHUTDOWN_S": "5",
    "AOP_RATE_PER_MINUTE": "1000000",
    "AOP_RATE_BURST": "1000000",
    "AOP_WEBHOOK_SECRETS": WEBHOOK_SECRET,
}


class Installation:
    """`archive`, `ledger`, `redis`: the run's own, past all that fails. `s3`: artifacts in SeaweedFS, else in files.
    `settings`: of all processes, beside those that all runs have; `own`: of one."""

    def __init__(
        self,
        folder: Path,
        *,
        seed: int = 0,
        s3: bool = False,
        own: Mapping[str, Mapping[str, str]] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._resources = ExitStack()
        self._s3 = s3
        self._seed = seed
        self._own = own
        self._extra = settings or {}
        self.proxy: S3Proxy | None = None

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException:
            self._resources.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def _open(self) -> None:
        self.valkey = Valkey(self.folder / "redis")
        self._resources.enter_context(self.valkey)
        (port,) = free_ports(1)
        self.url = f"http://{HOST}:{port}"
        environment = {**SETTINGS, "AOP_REDIS_URL": self.valkey.url, "AOP_HOST": HOST, "AOP_PORT": str(port)}
        environment |= self._seaweed() if self._s3 else {"AOP_STORE": f"file:{self.folder / 'store'}"}
        self.environment = {**environment, **self._extra}
        self.settings = settings_of({n: v for n, v in self.environment.items() if n.startswith("AOP_")})
        self.redis: Redis = self._resources.enter_context(self.valkey.client())
        self.ledger: Ledger = open_ledger(self.settings, self.redis)
        self.archive = self.new_archive()
        open_installation(self.ledger, self.archive)
        tokens = Tokens(self.archive.store, self.redis, PREFIX)
        self.token = tokens.create(name="chaos", scopes=("documents:read", "documents:compile"))[1]
        self.processes = Processes(self.environment, self.folder / "logs", self._own)
        self._resources.callback(self.processes.stop)

    def new_archive(self) -> Archive:
        """On a store of its own, for one more thread."""
        store: Store
        if self._s3:
            store = S3Store(
                S3Settings(
                    BUCKET,
                    f"{PREFIX}/",
                    self._weed.endpoint,
                    REGION,
                    self._weed.access_key,
                    self._weed.secret_key,
                    path_style=True,
                )
            )
        else:
            store = FileStore(self.folder / "store", max_bytes=None, durable=True)
        self._resources.callback(store.close)
        return Archive(store)

    def _seaweed(self) -> dict[str, str]:
        self._weed = self._resources.enter_context(SeaweedFS(self.folder / "s3"))
        self._weed.make_bucket(BUCKET)
        self.proxy = S3Proxy(self._weed.port, self._seed)
        self.proxy.start()
        self._resources.callback(self.proxy.stop)
        return {
            "AOP_STORE": f"s3://{BUCKET}/{PREFIX}",
            "AOP_S3_ENDPOINT": self.proxy.endpoint,
            "AOP_S3_REGION": REGION,
            "AOP_S3_ACCESS_KEY": self._weed.access_key,
            "AOP_S3_SECRET_KEY": self._weed.secret_key,
            "AOP_S3_PATH_STYLE": "true",
        }

    def start(self, *names: str) -> None:
        """And wait until the server answers, where it is among them."""
        import httpx2

        self.processes.start(*names)
        if "server" not in names:
            return

        def ready() -> bool:
            try:
                return httpx2.get(f"{self.url}/readyz", timeout=2).status_code == 200
            except httpx2.HTTPError:
                return False

        until(ready, READY_S, f"the server is ready\n{self.processes.log('server')[-2_000:]}")
