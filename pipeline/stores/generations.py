"""The names of a folder's databases: `store-v<schema>-<generation>.db`. Our schema's highest generation is the store.

A database that is damaged is not repaired and not renamed: the next generation is begun beside it. A name is thus never
used twice, which matters with SQLite's write-ahead log: it belongs to its database by name alone, and a process that
still has a renamed file open could pick up, or delete, the log of the file that took its place. Other schema versions
have other names, so that two versions of the program can use one folder in turn.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from catalog.writing import abandoned

_NAME = re.compile(r"store-v(\d{1,9})-(\d{1,9})\.db")
_DRAFT = re.compile(r"(store-v\d{1,9}\.draft-(\d{1,10})-[0-9a-f]{8})(?:-wal|-shm|-journal)?")
_OURS = re.compile(r"store-v\d{1,9}[-.].*")
_COMPANIONS = ("", "-wal", "-shm", "-journal")  # the database goes first: a log without it is litter, never the reverse
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
KEPT_DAMAGED = 1
UNUSED_AFTER_S = 30 * 24 * 3600


def database(folder: Path, schema: int, generation: int) -> Path:
    return folder / f"store-v{schema}-{generation}.db"


def current(folder: Path, schema: int) -> int:
    """The highest generation of that schema, 0 if there is none. Raises OSError."""
    found = (_NAME.fullmatch(path.name) for path in folder.iterdir())
    return max((int(name[2]) for name in found if name and int(name[1]) == schema), default=0)


def in_the_way(path: Path) -> Path | None:
    """What is no file and stands where the database `path` or its log must be: SQLite fails over it in many ways, waits
    for a pipe, and makes a file wherever a link leads."""
    for companion in _COMPANIONS:
        place = path.with_name(path.name + companion)
        try:
            if not stat.S_ISREG(place.stat().st_mode):
                return place
        except OSError:
            if place.is_symlink():  # to nothing
                return place
    return None


def begin(folder: Path, schema: int, generation: int, fill: Callable[[Path], None]) -> None:
    """Make that generation's database with `fill`, unless somebody else has just made it. Raises OSError, and what
    `fill` raises.

    It appears under its name only when it is complete, so nobody ever opens half a database.
    """
    _remove_drafts(folder)
    draft = folder / f"store-v{schema}.draft-{os.getpid()}-{os.urandom(4).hex()}"
    target = database(folder, schema, generation)
    try:
        fill(draft)
        _publish(draft, target)
    finally:
        remove(draft)
    for older in range(max(1, generation - 10), generation - KEPT_DAMAGED):
        if not _is_other_version(database(folder, schema, older), schema):
            remove(database(folder, schema, older))
    with contextlib.suppress(OSError), (folder / ".gitignore").open("x", encoding="utf-8") as ignored:
        ignored.write("store-v*\n")


def sync_folders(folder: Path) -> None:
    """Have the disk keep the names in `folder`, and its own in the folder around it. Raises OSError."""
    for place in (folder, folder.parent):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove_drafts(folder: Path) -> None:
    """Those of processes that were killed."""
    for path in folder.iterdir():
        match = _DRAFT.fullmatch(path.name)
        if match and abandoned(path, int(match[2])):
            remove(folder / match[1])


def _is_other_version(path: Path, schema: int) -> bool:
    """Whether the header names another schema: then the database was set aside, but is somebody's."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError:
        return False
    version = int.from_bytes(header[60:64], signed=True)  # the `user_version`, as SQLite's file format has it
    return header.startswith(b"SQLite format 3\0") and len(header) == 100 and version > 0 and version != schema


def _publish(draft: Path, target: Path) -> None:
    try:
        os.link(draft, target)
    except FileExistsError:
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without hard links. Two processes that begin at the same moment may then replace each other's
        # empty database: the one that lost compiles into a file that vanishes, and nothing else happens.
        if not target.exists():
            draft.rename(target)


def sweep(folder: Path, schema: int, now: float) -> None:
    """Remove what other schema versions and interrupted beginnings left, if not written for `UNUSED_AFTER_S`."""
    for path in folder.iterdir():
        name = _NAME.fullmatch(path.name.removesuffix("-wal").removesuffix("-shm"))
        if _OURS.fullmatch(path.name) is None or (name is not None and int(name[1]) == schema):
            continue
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime > UNUSED_AFTER_S:
                path.unlink()


def discard(folder: Path, schema: int) -> int:
    """Remove that schema's databases, and return how many bytes that gives back. Raises OSError."""
    names = [path for path in folder.iterdir() if (name := _NAME.fullmatch(path.name)) and int(name[1]) == schema]
    size = sum(path.stat().st_size for path in names)
    for path in names:
        remove(path)
    return size


def remove(path: Path) -> None:
    """A database and its log, as far as that is possible. Processes that have it open go on undisturbed."""
    for companion in _COMPANIONS:
        with contextlib.suppress(OSError):
            path.with_name(path.name + companion).unlink()
