"""Compiled catalogs on disk, found by what they were compiled from. A convenience: no fault here ever stops a load."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from catalog.compiled import Section
from catalog.writing import replace_file, sweep

LOADER_VERSION = "6"
"""Raise it when the same files would be compiled into something else."""

KEEP = 32
"""How many compiled catalogs stay in a folder; the oldest go first."""


def key_of(contents: Sequence[bytes]) -> str:
    """Of the files' bytes in their order, and of the compiler that reads them."""
    digest = sha256(LOADER_VERSION.encode())
    for content in contents:
        digest.update(b"\n%d\n" % len(content))
        digest.update(content)
    return digest.hexdigest()


def section(folder: Path, key: str) -> Section:
    """Of the compiled catalog of that key, which need not exist: then it raises OSError."""
    return partial(_read, folder / f"catalog-{key}.jsonl")


def _read(path: Path, offset: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def write(folder: Path, key: str, content: bytes) -> bool:
    """Atomically: other processes see the whole file or none. False where the folder cannot be written."""
    path = folder / f"catalog-{key}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
    except OSError:
        return False
    with contextlib.suppress(OSError):
        _prune(folder, path)
    return True


def _prune(folder: Path, newest: Path) -> None:
    sweep(folder)
    others = [path for path in folder.glob("catalog-*.jsonl") if path != newest]
    others.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in others[KEEP - 1 :]:
        path.unlink(missing_ok=True)
