"""Reading a file that somebody named: never more of it than makes sense, and never a wait for a writer that may not
come."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from catalog.errors import MAX_BYTES, CatalogError

_SHELL_PIPES = ("/dev/fd/", "/proc/self/fd/")
_STDIN = "/dev/stdin"
_AT_ONCE = 64 << 10


def is_shell_pipe(path: str) -> bool:
    """Whether it is what a shell puts in place of `<(command)`, or standard input: a pipe whose writer is there."""
    return path == _STDIN or path.startswith(_SHELL_PIPES)


def read_file(path: str, most: int) -> bytes:
    """At most `most` of the file's bytes. Raises OSError with the path, also for what is no file (with errno ESPIPE):
    to read a named pipe or a device could take for ever."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        mode = status.st_mode
        if stat.S_ISDIR(mode):
            raise _refusal(errno.EISDIR, path)
        if not stat.S_ISREG(mode):
            if not is_shell_pipe(path):
                raise _refusal(errno.ESPIPE, path)
            os.set_blocking(descriptor, True)
        if stat.S_ISREG(mode) and 0 < status.st_size < _AT_ONCE:
            # Most files are small, and read with one call; a file object takes longer to make than that.
            data = os.read(descriptor, min(status.st_size + 1, most))
            if len(data) == min(status.st_size, most):
                return data
            os.lseek(descriptor, 0, os.SEEK_SET)  # it has changed meanwhile
        return _read_to_end(descriptor, path, most)
    except OSError as error:
        raise _refusal(error.errno, path) from error
    finally:
        os.close(descriptor)


def _read_to_end(descriptor: int, path: str, most: int) -> bytes:
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        data: bytes | None = file.read(most)
    if data is None:  # what the system calls a file, and is a queue: the kernel's messages
        raise _refusal(errno.ESPIPE, path)
    return data


def read_bounded(path: Path) -> bytes:
    """All of a file of ours: a catalog, a lock, an `mcpServers` file. Raises CatalogError, also for a large one."""
    try:
        content = read_file(str(path), MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        raise unreadable(path, error) from error
    if len(content) > MAX_BYTES:
        raise CatalogError(str(path), None, "file-too-large", limit=MAX_BYTES)
    return content


def read_if_there(path: Path) -> bytes | None:
    """As `read_bounded`; None for no file."""
    try:
        return read_bounded(path)
    except CatalogError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def unreadable(path: Path, error: OSError | ValueError) -> CatalogError:
    return CatalogError(str(path), None, "file-unreadable", detail=getattr(error, "strerror", None) or str(error))


def _refusal(number: int | None, path: str) -> OSError:
    why = "not a file" if number == errno.ESPIPE else os.strerror(number or errno.EIO)
    return OSError(number, why, path)
