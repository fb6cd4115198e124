"""The implementations of the store that the conformance suite runs on. A new one is added here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import Store

Open: TypeAlias = Callable[[], Store]
"""Each call opens a further instance of one and the same store."""


def memory(folder: Path) -> Open:
    store = MemoryStore()  # threads and compiles share the instance
    return lambda: store


def files(folder: Path) -> Open:
    return lambda: FileStore(folder / "store")


def files_unbuffered(folder: Path) -> Open:
    return lambda: FileStore(folder / "store", buffer_bytes=0)


BACKENDS: dict[str, Callable[[Path], Open]] = {"memory": memory, "files": files, "files, unbuffered": files_unbuffered}
