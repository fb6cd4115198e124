"""The files in a run's folder of attachments, and nothing that a name or a link could lead to outside of it."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEEPEST: Final = 8
MOST_FILES: Final = 1_000

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without waiting: opening a pipe would, until somebody writes to it.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Refused(Exception):
    """Not a file of this folder. The message says why, in words for a model."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """`name`: its path in the folder, with `/`. `head`: its first bytes."""

    name: str
    size: int
    head: bytes


def attachments(folder: Path, head: int) -> tuple[list[Attachment], bool]:
    """The files by name, each with `head` bytes, and whether there are more than are listed. Links are left out."""
    found: list[Attachment] = []
    try:
        root = os.open(folder, _FOLDER)
    except OSError:
        return [], False
    try:
        more = _collect(root, "", 1, head, found)
    finally:
        os.close(root)
    return found, more


def _collect(parent: int, prefix: str, level: int, head: int, found: list[Attachment]) -> bool:
    more = False
    for name in sorted(_names(parent)):
        path = prefix + name
        if len(found) >= MOST_FILES:
            return True
        if not _is_writable_as_text(path):
            more = True
            continue
        # It may change while it is looked at.
        with suppress(OSError, Refused):
            if stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode):
                if level >= DEEPEST:
                    more = True
                    continue
                below = os.open(name, _FOLDER, dir_fd=parent)
                try:
                    more |= _collect(below, f"{path}/", level + 1, head, found)
                finally:
                    os.close(below)
                continue
            with _opened(parent, name, path) as (opened, size):
                found.append(Attachment(path, size, os.pread(opened, head, 0)))
    return more


def read(folder: Path, name: str, most: int) -> bytes:
    """The whole file. Raises Refused, also where it is larger than `most` bytes, and OSError."""
    parts = name.split("/")
    if not name or len(parts) > DEEPEST or "\0" in name or any(part in ("", ".", "..") for part in parts):
        raise Refused(f"{shown(name)} is not the name of an attachment; take one from list_attachments")
    if not _is_writable_as_text(name):
        raise Refused("the name holds half a character (a lone surrogate)")
    opened: list[int] = []
    try:
        opened.append(os.open(folder, _FOLDER))
        for part in parts[:-1]:
            opened.append(os.open(_spelled(opened[-1], part), _FOLDER, dir_fd=opened[-1]))
        with _opened(opened[-1], _spelled(opened[-1], parts[-1]), name) as (file, size):
            if size > most:
                raise Refused(f"{shown(name)} has {size} bytes; at most {most} are read")
            return _read(file, size)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENXIO):
            raise Refused(f"there is no attachment {shown(name)}; take a name from list_attachments") from error
        raise
    finally:
        for descriptor in opened:
            os.close(descriptor)


@contextmanager
def _opened(parent: int, name: str, path: str) -> Iterator[tuple[int, int]]:
    """An ordinary file that no other name leads to, and its size. Raises Refused, OSError."""
    opened = os.open(name, _FILE, dir_fd=parent)
    try:
        found = os.fstat(opened)
        # A second name may be one outside: then it is a file of somebody else.
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise Refused(f"{shown(path)} is not an ordinary file of its own")
        yield opened, found.st_size
    finally:
        os.close(opened)


def _read(opened: int, size: int) -> bytes:
    """What it had when it was looked at: it may grow meanwhile."""
    data = bytearray()
    while len(data) < size and (chunk := os.read(opened, size - len(data))):
        data += chunk
    return bytes(data)


def _spelled(parent: int, name: str) -> str:
    """The name as the folder has it: some systems take characters apart (が as か and its mark)."""
    names = _names(parent)
    if name in names:
        return name
    wanted = unicodedata.normalize("NFC", name)
    alike = [each for each in names if unicodedata.normalize("NFC", each) == wanted]
    return alike[0] if len(alike) == 1 else name


def _names(parent: int) -> list[str]:
    return os.listdir(parent)


def _is_writable_as_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(name: str) -> str:
    return repr(name if len(name) <= 100 else f"{name[:99]}…")
