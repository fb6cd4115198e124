"""Redis, the artifact store and the ledger of an installation, as its settings name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from redis import Redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry
from redis.sentinel import Sentinel

from pipeline.stores.files import FileStore
from pipeline.stores.protocol import Store
from workers.ledger.ledger import Ledger, Timing
from workers.settings import Settings

if TYPE_CHECKING:
    from pipeline.stores.s3 import S3Settings

CONNECT_TIMEOUT_S: Final = 5.0
SOCKET_TIMEOUT_S: Final = 30.0
HEALTH_CHECK_S: Final = 30
_DEFAULT_SENTINEL_PORT: Final = 26_379


def open_redis(settings: Settings) -> Redis:
    """Connected when it is first used. Commands that fail for a broken connection are tried again for about 2 s."""
    options: dict[str, Any] = {  # redis-py's own, which it types one by one
        "decode_responses": True,
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "socket_timeout": SOCKET_TIMEOUT_S,
        "socket_keepalive": True,
        "health_check_interval": HEALTH_CHECK_S,
        "retry": Retry(ExponentialWithJitterBackoff(base=0.05, cap=1.0), retries=5),
        "retry_on_error": [RedisConnectionError, RedisTimeoutError],
    }
    url = settings.redis_url.get_secret_value()
    if settings.redis_ca_file is not None and url.startswith("rediss://"):
        options["ssl_ca_certs"] = str(settings.redis_ca_file)
    if url.startswith("sentinel://"):
        return _by_sentinel(url, settings, options)
    if url.startswith("unix://"):
        del options["socket_keepalive"]
    return Redis.from_url(url, **options)


def _by_sentinel(url: str, settings: Settings, options: dict[str, Any]) -> Redis:
    found = read_sentinel_url(url)
    asking: dict[str, float | str] = {"socket_connect_timeout": CONNECT_TIMEOUT_S, "socket_timeout": SOCKET_TIMEOUT_S}
    if settings.sentinel_password is not None:
        asking["password"] = settings.sentinel_password.get_secret_value()
    options |= {"username": found.username, "password": found.password, "db": found.database}
    sentinel = Sentinel(found.hosts, sentinel_kwargs=asking, **options)
    return cast("Redis", sentinel.master_for(found.master))


class SentinelUrl(NamedTuple):
    hosts: list[tuple[str, int]]
    master: str
    database: int
    username: str | None
    password: str | None


def read_sentinel_url(url: str) -> SentinelUrl:
    """sentinel://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]/NAME[/DB]"""
    places, _, path = url.removeprefix("sentinel://").partition("/")
    credentials, _, hosts = places.rpartition("@")
    user, _, password = credentials.partition(":")
    name, _, database = path.partition("/")
    parts = [urlsplit(f"//{host}") for host in hosts.split(",")]
    return SentinelUrl(
        [(part.hostname or "", part.port or _DEFAULT_SENTINEL_PORT) for part in parts],
        name,
        int(database or 0),
        unquote(user) or None,
        unquote(password) or None,
    )


def open_store(settings: Settings) -> Store:
    """Checked: a bucket that ignores conditions is refused. Raises StoreError."""
    scheme, _, place = settings.store.partition(":")
    if scheme == "file":
        return FileStore(Path(place.removeprefix("//")), max_bytes=None, durable=True)
    # boto3 is a sixth of what a worker loads; a process that keeps its store in files starts without it.
    from pipeline.stores.s3 import S3Store  # noqa: PLC0415 - see above

    store = S3Store(s3_settings(settings))
    store.check()
    return store


def load_store_code(settings: Settings) -> None:
    """What `open_store` would load, for processes that are forked and then open it."""
    if not settings.store.startswith("file:"):
        import pipeline.stores.s3  # noqa: F401, PLC0415 - as above


def s3_settings(settings: Settings) -> S3Settings:
    from pipeline.stores.s3 import S3Settings  # noqa: PLC0415 - as above

    bucket, _, prefix = settings.store.removeprefix("s3://").partition("/")
    access, secret = settings.s3_access_key, settings.s3_secret_key
    return S3Settings(
        bucket=bucket,
        prefix=f"{prefix.strip('/')}/" if prefix.strip("/") else "",
        endpoint=settings.s3_endpoint,
        region=settings.s3_region,
        access_key=None if access is None else access.get_secret_value(),
        secret_key=None if secret is None else secret.get_secret_value(),
        path_style=settings.s3_path_style,
        encryption=settings.s3_encryption,
        kms_key=settings.s3_kms_key,
        ca_bundle=None if settings.s3_ca_file is None else str(settings.s3_ca_file),
    )


def open_ledger(settings: Settings, redis: Redis) -> Ledger:
    """Not yet opened: who may make a new one is decided elsewhere (`workers.intake`)."""
    timing = Timing(
        quiet=settings.quiet_ms,
        longest_wait=settings.longest_wait_ms,
        lease=settings.lease_ms,
        message_lost=settings.message_lost_ms,
        patience=settings.patience_ms,
        keep_once=settings.keep_idempotency_s * 1_000,
        keep_job=settings.keep_jobs_s * 1_000,
        most_attempts=settings.most_attempts,
    )
    return Ledger(redis, settings.redis_prefix, timing)
