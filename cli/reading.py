"""Reading documents: files, the pipes of a shell, standard input. Nothing here waits for a writer that may never
come."""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import Final

from cli.trouble import Trouble

LARGEST: Final = 64 << 20
"""Bytes that are read of a document at most. That is far beyond any sensible limit, and keeps memory bounded."""

_SHELL_PIPES: Final = ("/dev/fd/", "/proc/self/fd/")
"""What a shell puts in place of `<(command)`: a pipe whose writer is there."""


def is_shell_pipe(path: str) -> bool:
    return path.startswith(_SHELL_PIPES)


def read_file(path: str) -> bytes:
    """The document's bytes. Raises OSError with the path, also for what is no file (with errno ESPIPE): to read a named
    pipe or a device could take for ever."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise _refusal(errno.EISDIR, path)
        if not stat.S_ISREG(mode):
            if not is_shell_pipe(path):
                raise _refusal(errno.ESPIPE, path)
            os.set_blocking(descriptor, True)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(LARGEST)
    except OSError as error:
        raise _refusal(error.errno, path) from error
    finally:
        os.close(descriptor)


def _refusal(number: int | None, path: str) -> OSError:
    return OSError(number, os.strerror(number or errno.EIO), path)


def read_stdin() -> bytes:
    """Standard input to its end. Raises Trouble where it is closed, OSError."""
    if sys.stdin is None:
        raise Trouble("trouble.stdin-closed")
    return sys.stdin.buffer.read(LARGEST)
