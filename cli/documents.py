"""From names to documents that can be compiled, with the project in which they call each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final

from catalog.load import load_catalog
from catalog.own import LOCK_FILE, ORGANISATION, find_own
from catalog.snapshot import Catalog
from cli.arguments import Setting
from cli.batch_worker import Document
from cli.discovery import STDIN, Named, folder_documents
from cli.reading import read_file

STDIN_PATH: Final = "stdin"
"""What the compiler knows standard input by: its stem names a document without a heading (F5). Results say `-`."""


def document_of(named: Named, stdin: bytes = b"") -> Document:
    """A file is read when it is compiled; standard input has been read, there being no second time."""
    if named.path == STDIN:
        return Document(STDIN_PATH, partial(bytes, stdin))
    return Document(named.path, partial(read_file, named.file))


def siblings_of(named: Named, out: Path) -> Callable[[], Iterable[Document]]:
    """The `*.md` of a single document's folder, which it may call; the folder is read when this is asked for."""

    def siblings() -> Iterable[Document]:
        folder = Path(named.file).parent if named.file else Path()
        own = os.path.realpath(named.file) if named.file else ""
        return [
            document_of(other)
            for other in folder_documents(os.fspath(folder), out)
            if other.path != named.path and os.path.realpath(other.file) != own
        ]

    return siblings


def open_catalog(setting: Setting, *, locked: bool = False) -> Catalog:
    """With the project's own files, which lie in the current folder. `locked`: beside its lock, if there is one.

    Raises CatalogError. What was read is kept compiled, where the system keeps caches.
    """
    catalog = load_catalog(setting.catalog, setting.mcp_config, cache_folder(), find_own(Path(), setting.org))
    if not locked or not os.path.lexists(LOCK_FILE):
        return catalog
    from catalog.lock import read_lock  # noqa: PLC0415 - for projects with a lock only

    lock = read_lock(Path(LOCK_FILE))
    return catalog if lock is None else catalog.with_lock(lock)


def settings_files(setting: Setting) -> list[str]:
    """The files besides the documents that decide what comes out, there or not."""
    own = find_own(Path(), setting.org)
    files = [*(setting.catalog or ()), *own.imported, *(own.organisation or (Path(ORGANISATION),))]
    files += [] if setting.mcp_config is None else [setting.mcp_config]
    return [*map(os.fspath, files), LOCK_FILE]


def cache_folder() -> Path | None:
    """The user's cache folder for this program; None where there is none."""
    named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if named and Path(named).is_absolute():
        return Path(named) / "aop"
    home = os.environ.get("HOME")
    return Path(home) / ".cache" / "aop" if home else None
