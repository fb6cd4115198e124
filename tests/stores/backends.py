"""The implementations of the store that the conformance suite runs on. A new one is added here and nowhere else."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import Store
from pipeline.stores.s3 import S3Settings, S3Store
from workers.local.seaweedfs import SeaweedFS

BUCKET: Final = "aop-test"

Open: TypeAlias = Callable[[], Store]
"""Each call opens a further instance of one and the same store."""


class Clock:
    """The time, and as many seconds as a test adds to it."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


def memory(folder: Path, clock: Clock) -> Open:
    store = MemoryStore(clock=clock)  # threads and compiles share the instance
    return lambda: store


def files(folder: Path, clock: Clock) -> Open:
    return lambda: FileStore(folder / "store", clock=clock)


def files_unbuffered(folder: Path, clock: Clock) -> Open:
    return lambda: FileStore(folder / "store", buffer_bytes=0, clock=clock)


def files_durable(folder: Path, clock: Clock) -> Open:
    return lambda: FileStore(folder / "store", max_bytes=None, clock=clock, durable=True)


@cache
def s3_server() -> SeaweedFS:
    """One for all tests of a process: a real S3 server."""
    folder = tempfile.mkdtemp(prefix="aop-s3-")
    server = SeaweedFS(Path(folder))
    server.start()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.stop)
    server.make_bucket(BUCKET)
    return server


def s3_settings(prefix: str = "") -> S3Settings:
    """Of a place in the bucket that is nobody else's."""
    server = s3_server()
    return S3Settings(
        BUCKET,
        prefix or f"{uuid4().hex}/",
        server.endpoint,
        "us-east-1",
        server.access_key,
        server.secret_key,
        path_style=True,
    )


def s3(folder: Path, clock: Clock) -> Open:
    settings = s3_settings()
    return lambda: S3Store(settings, clock=clock)


BACKENDS: dict[str, Callable[[Path, Clock], Open]] = {
    "memory": memory,
    "files": files,
    "files, unbuffered": files_unbuffered,
    "files, durable": files_durable,
    "s3": s3,
}
