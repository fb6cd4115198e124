"""What SQLite and the operating system report: as a `StoreError`, or as damage that the file store gets over."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import TypeAlias

from pipeline.stores.protocol import StoreError
from pipeline.stores.tables import Damage
from pipeline.stores.texts import Fault

_PRIMARY = 0xFF  # SQLite's extended result codes keep the primary one in the low byte

# Our statements are fixed, so a missing table or column, a wrong type or a violated constraint is a damaged file, too.
_DAMAGE = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_TOOBIG,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_EMPTY,
}
_READ_FAILURES = {sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS}

_FAULTS: dict[int, Fault] = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_IOERR_SHMSIZE: "full",  # no room for the index of the log, which even reading needs
    sqlite3.SQLITE_READONLY: "denied",
    sqlite3.SQLITE_CANTOPEN: "denied",
    sqlite3.SQLITE_PERM: "denied",
    sqlite3.SQLITE_AUTH: "denied",
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_PROTOCOL: "busy",
}

_OS_FAULTS: dict[int | None, Fault] = {
    errno.EACCES: "denied",
    errno.EPERM: "denied",
    errno.EROFS: "denied",
    errno.ENOTDIR: "not-a-folder",
    errno.EEXIST: "not-a-folder",
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EFBIG: "full",
}


DatabaseFault: TypeAlias = sqlite3.Error | UnicodeDecodeError
"""What the sqlite3 module raises: the latter while it reports that a schema is malformed, and quotes it."""


def _code(error: sqlite3.Error) -> int:
    # Errors that the sqlite3 module raises by itself carry no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_INTERNAL)


def is_damage(error: DatabaseFault, path: Path) -> bool:
    """Whether the database file `path` is at fault, so that a new one helps."""
    if isinstance(error, Damage | UnicodeDecodeError):
        return True
    code = _code(error)
    if code == sqlite3.SQLITE_READONLY:
        return _is_writable(path)  # nothing but its header says that it may only be read
    return code & _PRIMARY in _DAMAGE or code in _READ_FAILURES


def _is_writable(path: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent))


def translate(error: DatabaseFault | OSError, path: Path, where: str) -> StoreError:
    """`where` is what the user calls the place of the database `path`."""
    if isinstance(error, OSError):
        return StoreError(_OS_FAULTS.get(error.errno, "unusable"), where, error.strerror or str(error))
    if isinstance(error, UnicodeDecodeError) or is_damage(error, path):
        return StoreError("damaged", where, str(error))
    code = _code(error)
    return StoreError(_FAULTS.get(code) or _FAULTS.get(code & _PRIMARY, "unusable"), where, str(error))
