"""Noticing that files changed: `watchfiles` wakes us, what is there now decides.

An event says only that it is time to look. What counts is a snapshot of the files that matter, so that every editor's
way of saving looks alike (in place, or by a temporary file that is renamed), and so do folders that vanish and come
back.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeAlias

from watchfiles import Change, watch

TICK_S: Final = 1.0
"""How often we look whether the watched folders themselves still are the same."""

_SETTLING_TICKS: Final = 3
"""Ticks after which we look although nothing was heard: the system's watches take a moment to begin."""

_FOR_EVER: Final = sys.maxsize
"""Ticks where the system cannot tell us of changes: then we look at every one."""

_DEBOUNCE_MS: Final = 150
_STEP_MS: Final = 30
_STOP_CHECK_MS: Final = 50

_Identity: TypeAlias = tuple[int, int]
Stamp: TypeAlias = tuple[int, int, int]
Snapshot: TypeAlias = dict[str, Stamp]
"""What is known of each file, by path: time, size, inode."""


class Root(NamedTuple):
    folder: str
    recursive: bool


def snapshot(files: Iterable[str]) -> Snapshot:
    """Of those that are there."""
    taken: Snapshot = {}
    for file in files:
        try:
            status = os.stat(file)  # noqa: PTH116 - thousands of times a round
        except OSError:
            continue
        taken[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return taken


def changed(before: Snapshot, now: Snapshot) -> list[str]:
    """The files that came, went, or are others; sorted."""
    return sorted(file for file in before.keys() | now.keys() if before.get(file) != now.get(file))


class Watcher:
    """Says when to look at the files below some folders. What is hidden, and everything in `ignored`, wakes nobody.

    It listens in threads. They must not be there when a compile makes processes as copies of this one: `rest` ends
    them, and what happens meanwhile is seen in the first look after it.
    """

    def __init__(self, ignored: Iterable[Path]) -> None:
        self._ignored_folders = tuple(os.path.realpath(path) for path in ignored)
        self._ignored: tuple[str, ...] = ()
        self._roots: frozenset[Root] = frozenset()
        self._folders: frozenset[str] = frozenset()
        self._identities: dict[Root, _Identity | None] = {}
        self._woken: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._blind = _SETTLING_TICKS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.rest()

    def listen(self, roots: Iterable[Root]) -> None:
        """Listen to these from now on."""
        wanted = frozenset(roots)
        if self._roots != wanted or not self._threads:
            self.rest()
            self._roots = wanted
            self._begin()

    def rest(self) -> None:
        """Have no threads until `listen` is called again."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def wait(self) -> None:
        """Until it is time to look."""
        while True:
            try:
                heard = self._woken.get(timeout=TICK_S)
            except queue.Empty:
                if self._exchanged():
                    self.rest()
                    self._begin()
                    return
                if self._blind:
                    self._blind -= 1
                    return
            else:
                if not heard:
                    self._blind = _FOR_EVER
                return

    def _exchanged(self) -> bool:
        """Whether a watched folder came, went, or is another one: the system's watches do not follow that."""
        return any(_identity(root.folder) != identity for root, identity in self._identities.items())

    def _begin(self) -> None:
        self._stop = threading.Event()
        self._blind = max(self._blind, _SETTLING_TICKS)
        self._identities = {root: _identity(root.folder) for root in self._roots}
        self._folders = frozenset(os.path.realpath(root.folder) for root in self._roots)
        # With `--out .` the output lies among the documents, which must be heard.
        inner = [path for path in self._ignored_folders if not any(_within(folder, path) for folder in self._folders)]
        self._ignored = tuple(f"{path}{os.sep}" for path in inner)
        for recursive in (True, False):
            present = [root for root, found in self._identities.items() if found and root.recursive is recursive]
            if present:
                folders = [os.path.realpath(root.folder) for root in present]
                thread = threading.Thread(target=self._listen, args=(folders, recursive, self._stop), daemon=True)
                thread.start()
                self._threads.append(thread)

    def _listen(self, folders: list[str], recursive: bool, stop: threading.Event) -> None:
        try:
            for _ in watch(
                *folders,
                watch_filter=self._matters,
                debounce=_DEBOUNCE_MS,
                step=_STEP_MS,
                stop_event=stop,
                rust_timeout=_STOP_CHECK_MS,
                raise_interrupt=False,
                ignore_permission_denied=True,
                recursive=recursive,
            ):
                self._woken.put(True)
        except (OSError, RuntimeError):  # no watches left, a folder that is gone already; RuntimeError is the library's
            self._woken.put(False)

    def _matters(self, _: Change, path: str) -> bool:
        """Events about folders count, too: one full of documents may have been renamed. Paths are absolute."""
        if f"{path}{os.sep}".startswith(self._ignored):
            return False
        within = [folder for folder in self._folders if _within(path, folder)]
        return not within or any(f"{os.sep}." not in path[len(folder) :] for folder in within)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip(os.sep)}{os.sep}")


def _identity(folder: str) -> _Identity | None:
    try:
        status = os.stat(folder)  # noqa: PTH116 - see `snapshot`
    except OSError:
        return None
    return status.st_dev, status.st_ino
