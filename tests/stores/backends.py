"""The implementations of the store that the conformance suite runs on. A new one is added here and nowhere else."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

import boto3

from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import Store
from pipeline.stores.s3 import S3Settings, S3Store
from workers.local.seaweedfs import SeaweedFS

BUCKET: Final = "aop-test"

Open: TypeAlias = Callable[[], Store]
"""Each call opens a further instance of one and the same store."""


def memory(folder: Path) -> Open:
    store = MemoryStore()  # threads and compiles share the instance
    return lambda: store


def files(folder: Path) -> Open:
    return lambda: FileStore(folder / "store")


def files_unbuffered(folder: Path) -> Open:
    return lambda: FileStore(folder / "store", buffer_bytes=0)


@cache
def s3_server() -> SeaweedFS:
    """One for all tests of a process: a real S3 server."""
    folder = tempfile.mkdtemp(prefix="aop-s3-")
    server = SeaweedFS(Path(folder))
    server.start()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.stop)
    client = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        region_name="us-east-1",
    )
    client.create_bucket(Bucket=BUCKET)
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


def s3(folder: Path) -> Open:
    settings = s3_settings()
    return lambda: S3Store(settings)


BACKENDS: dict[str, Callable[[Path], Open]] = {
    "memory": memory,
    "files": files,
    "files, unbuffered": files_unbuffered,
    "s3": s3,
}
