"""A folder that only we can enter, gone afterwards; what a killed process left is cleared by the next one."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = "aop-box-"
_LOCK: Final = "lock"
_LONGEST: Final = 100
"""Bytes: the path of a Unix socket has 107."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """Its path is short enough for a socket in it. Raises OSError."""
    place = Path(tempfile.gettempdir()).resolve()
    if len(os.fsencode(place)) + len(_PREFIX) + 9 > _LONGEST:
        raise OSError(
            errno.ENAMETOOLONG, "the path of the folder for temporary files is too long for a socket in it; set TMPDIR"
        )
    _clear(place)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    lock: int | None = None
    try:
        lock = _locked(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int:
    """Held until it is closed, at the latest when this process ends."""
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def _clear(place: Path) -> None:
    for folder in place.glob(f"{_PREFIX}*"):
        # Others may clear it at the same time; a folder without a lock is one that is just being made.
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
