"""Ordinary files, and nothing else that a name may lead to: a link leads elsewhere, a pipe keeps its reader waiting."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def open_regular(path: Path, flags: int) -> int:
    """A descriptor; a file that is made is its owner's alone. Raises OSError."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(code, os.strerror(code), str(path))
    return descriptor


def read_regular(path: Path) -> bytes:
    """Raises OSError."""
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
        return file.read()
