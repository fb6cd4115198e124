"""Reading documents: files, the pipes of a shell, standard input."""

from __future__ import annotations

import sys
from typing import Final

from catalog import reading
from cli.trouble import Trouble

LARGEST: Final = 64 << 20
"""Bytes that a document may have at most, whatever `--max-bytes` says: that keeps memory bounded."""

is_shell_pipe = reading.is_shell_pipe


def read_file(path: str) -> bytes:
    """The document's bytes; one too many of a document that is too large. Raises OSError with the path, also for what
    is no file."""
    return reading.read_file(path, LARGEST + 1)


def read_stdin() -> bytes:
    """Standard input to its end, or as `read_file`. Raises Trouble where it is closed, OSError."""
    if sys.stdin is None:
        raise Trouble("trouble.stdin-closed")
    return sys.stdin.buffer.read(LARGEST + 1)
