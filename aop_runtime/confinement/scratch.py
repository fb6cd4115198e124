"""A folder in which confined code writes. What lies in it is its doing: links, depths and names are hostile."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

DEEPEST: Final = 100
"""Levels of folders. What lies deeper is in the way of whoever is to delete it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """`size`: bytes on the disk. `entries`: files, links and folders. `too_deep`: there is more below `DEEPEST`.
    With `more`, counting stopped at the limit."""

    size: int
    entries: int
    too_deep: bool
    more: bool = False


def contents(folder: str, most_entries: int) -> Contents:
    """Counts without following links, also where they are put in place meanwhile."""
    size = entries = 0
    too_deep = False
    try:
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return Contents(0, 0, too_deep=False)
    # One open descriptor a level, at most `DEEPEST`.
    levels: list[tuple[int, list[str]]] = []
    try:
        levels.append((root, _names(root)))
        while levels:
            descriptor, names = levels[-1]
            if not names:
                levels.pop()
                os.close(descriptor)
                continue
            name = names.pop()
            entries += 1
            if entries > most_entries:
                return Contents(size, entries, too_deep, more=True)
            with suppress(OSError):
                found = os.lstat(name, dir_fd=descriptor)
                size += found.st_blocks * 512
                if not stat.S_ISDIR(found.st_mode):
                    continue
                if len(levels) > DEEPEST:
                    too_deep = True
                    continue
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
                levels.append((below, _names(below)))
    finally:
        for descriptor, _ in levels:
            os.close(descriptor)
    return Contents(size, entries, too_deep)


def _listed(descriptor: int) -> list[str]:
    return os.listdir(descriptor)


def _names(descriptor: int) -> list[str]:
    try:
        return _listed(descriptor)
    except OSError:
        return []


def empty(folder: str) -> None:
    """Delete what is in it, however deep it lies: folders are lifted to the top before they are emptied. Nothing may
    be writing in it any more. Raises OSError."""
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        lifted = 0
        while names := _listed(root):
            for name in names:
                if not _is_folder(name, root):
                    os.unlink(name, dir_fd=root)
                    continue
                os.chmod(name, 0o700, dir_fd=root, follow_symlinks=True)
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=root)
                try:
                    for inner in _listed(below):
                        if not _is_folder(inner, below):
                            os.unlink(inner, dir_fd=below)
                            continue
                        # Moving a folder changes its `..`, which needs leave to write in it.
                        os.chmod(inner, 0o700, dir_fd=below, follow_symlinks=True)
                        while True:
                            lifted += 1
                            target = f".lifted-{lifted}"
                            if target not in names:
                                break
                        os.rename(inner, target, src_dir_fd=below, dst_dir_fd=root)
                finally:
                    os.close(below)
                os.rmdir(name, dir_fd=root)
    finally:
        os.close(root)


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode)
