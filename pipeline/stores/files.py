"""The store in a folder: one SQLite database, because many small files are slow to write, to find and to remove.

Writes gather in memory until `flush`, a moved pointer, or `buffer_bytes`; then they become one short transaction, so
that other processes wait little and never see half of it. What cannot be read is never an obstacle: a damaged entry is
dropped, a damaged database is set aside (`generations.py`) with a sentence in `notes`, and the compile goes on with an
empty store.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from pipeline.stores import generations, tables
from pipeline.stores.buffer import Buffer
from pipeline.stores.faults import DatabaseFault, is_damage, translate
from pipeline.stores.protocol import TRACES_PER_KEY, DamagedBlob, StoreError, StoreStats, check_digest, check_key
from pipeline.stores.texts import Fault, Note

DEFAULT_FOLDER = Path(".aop")
DEFAULT_MAX_BYTES = 1 << 30
DEFAULT_BUFFER_BYTES = 4 << 20

_LARGEST_ENTRY = 512 << 20
_PRUNED_AT_ONCE = 32 << 20
_DAY_S = 24 * 3600
_ATTEMPTS = 3

_T = TypeVar("_T")

_abandoned: list[sqlite3.Connection] = []
"""Connections of a parent process: SQLite must not touch them in the child, not even to close them."""


def discard(folder: Path) -> int:
    """Remove the store in `folder`, which may be in use, and return how many bytes that gives back. Raises
    StoreError."""
    try:
        return generations.discard(folder, tables.SCHEMA)
    except OSError as error:
        raise translate(error, folder, str(folder)) from error


class FileStore:
    """A `Store` in `folder`, which is made if it is missing. Raises StoreError if it cannot be used.

    After a fork the child opens the store anew; what the parent had not flushed stays the parent's. If the database has
    grown beyond `max_bytes` (None: any size) when the instance is closed, it is pruned to four fifths of that. When an
    entry was last used is known to the day; `clock` gives seconds since the epoch. `notes` says which databases were
    set aside.
    """

    def __init__(
        self,
        folder: Path = DEFAULT_FOLDER,
        *,
        max_bytes: int | None = DEFAULT_MAX_BYTES,
        buffer_bytes: int = DEFAULT_BUFFER_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder = folder
        self.notes: list[Note] = []
        self._root = folder.absolute()  # the process may change its working directory
        self._max_bytes = max_bytes
        self._buffer_bytes = buffer_bytes
        self._clock = clock
        self._closed = False
        self._pid = os.getpid()
        self._buffer = Buffer()
        self._opened: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self._examined = False
        self._unreported: set[bytes] = set()
        self._generation = 1
        self._run(lambda _: None)

    @property
    def path(self) -> Path:
        """The database file now in use."""
        return generations.database(self.folder, tables.SCHEMA, self._generation)

    # ------------------------------------------------------------------------------------------- the database

    def _path(self) -> Path:
        return generations.database(self._root, tables.SCHEMA, self._generation)

    def _enter(self) -> None:
        """Every operation begins here: is the instance open, and still in the process that opened it?"""
        if self._closed:
            raise StoreError("closed", str(self.folder))
        if self._pid != os.getpid():
            if self._opened is not None:
                _abandoned.append(self._opened)
                self._opened = None
            self._buffer = Buffer()
            self._pid = os.getpid()

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._root.mkdir(parents=True, exist_ok=True)
            self._generation = max(self._generation, generations.current(self._root, tables.SCHEMA))
            path = self._path()
            obstacle = generations.in_the_way(path)
            if obstacle is not None:
                raise StoreError("in-the-way", str(self.folder), obstacle.name)
            if not path.exists():
                generations.begin(self._root, tables.SCHEMA, self._generation, tables.create)
            self._opened = tables.connect(path)
            self._examined = False
            status = path.stat()
            self._identity = (status.st_dev, status.st_ino)
        return self._opened

    def _run(self, action: Callable[[sqlite3.Connection], _T]) -> _T:
        """The action's result; over a damaged database that on a new one, over one that was deleted just now as well.
        Only transactions may change things."""
        for left in reversed(range(_ATTEMPTS)):
            try:
                try:
                    return action(self._connection())
                except (sqlite3.Error, UnicodeDecodeError) as error:
                    if not is_damage(error, self._path()):
                        raise
                    self._set_aside(error)
                    return action(self._connection())
            except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
                if left and not self._path().exists():
                    self._release()
                    self._buffer.forget_rows()
                    continue
                raise translate(error, self._path(), str(self.folder)) from error
        raise AssertionError("the last attempt returns or raises")

    def _commit(self, action: Callable[[sqlite3.Connection], _T]) -> _T:
        """Write what has gathered, and run the action in the same transaction."""

        def work(connection: sqlite3.Connection) -> _T:
            with tables.transaction(connection):
                self._buffer.write(connection, self._day())
                return action(connection)

        self._follow()
        result = self._run(work)
        self._buffer = Buffer()
        return result

    def _set_aside(self, error: DatabaseFault) -> None:
        fault: Fault = "other-version" if isinstance(error, tables.OtherVersion) else "set-aside"
        self.notes.append(Note(fault, str(self.path), str(error)))
        self._release()
        self._buffer.forget_rows()
        self._generation += 1

    def _is_replaced(self) -> bool:
        """An entry is damaged: if not only that one, but the database as a whole, set it aside. Looks once."""
        generation = self._generation
        if not self._examined:
            self._run(tables.check_structure)
            self._examined = True
        return self._generation != generation

    def _follow(self) -> None:
        """Leave a database that was deleted under us (`rm -r .aop` during a watch): nobody would see what we write."""
        if self._opened is None:
            return
        try:
            status = self._path().stat()
            same = (status.st_dev, status.st_ino) == self._identity
        except OSError:
            same = False
        if not same:
            self._release()
            self._buffer.forget_rows()

    def _release(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            # Closing fails if the log cannot be folded into a damaged database: nothing is lost that was not before.
            with contextlib.suppress(sqlite3.Error):
                opened.close()

    def _day(self) -> int:
        return int(self._clock() // _DAY_S)

    def _gathered(self, data: bytes) -> None:
        self._buffer.size += len(data)
        if self._buffer.size > self._buffer_bytes:
            self.flush()

    def _check_size(self, data: bytes) -> None:
        if len(data) > _LARGEST_ENTRY:
            raise StoreError("too-large", str(self.folder), str(len(data)))

    # --------------------------------------------------------------------------------------------------- blobs

    def _stored_blobs(self, digests: list[bytes]) -> dict[bytes, bytes]:
        """What the database holds and is sound. What is damaged is dropped, and `get_blob` still has to say so."""
        rows = self._run(lambda connection: tables.blobs(connection, digests))
        today = self._day()
        sound: dict[bytes, bytes] = {}
        damaged: dict[bytes, int] = {}
        for digest, number, used, data in rows:
            if not isinstance(digest, bytes) or not isinstance(number, int):
                continue
            if self._buffer.dropped_blobs.get(digest) == number:
                continue
            if isinstance(data, bytes) and hashlib.sha256(data).digest() == digest:
                sound[digest] = data
                if used != today:
                    self._buffer.used_blobs.add(digest)
            else:
                damaged[digest] = number
        self._unreported.update(damaged)
        if damaged and not self._is_replaced():
            self._buffer.dropped_blobs.update(damaged)
        return sound

    def get_blob(self, digest: str) -> bytes | None:
        key = bytes.fromhex(check_digest(digest))
        self._enter()
        data = self._buffer.blobs.get(key)
        if data is None:
            data = self._stored_blobs([key]).get(key)
        if data is None and key in self._unreported:
            self._unreported.remove(key)
            raise DamagedBlob(str(self.path), digest)
        return data

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        asked = {bytes.fromhex(check_digest(digest)): digest for digest in digests}
        self._enter()
        found = self._stored_blobs([key for key in asked if key not in self._buffer.blobs])
        found.update((key, self._buffer.blobs[key]) for key in asked if key in self._buffer.blobs)
        return {digest: found[key] for key, digest in asked.items() if key in found}

    def put_blob(self, data: bytes) -> str:
        self._check_size(data)
        self._enter()
        digest = hashlib.sha256(data)
        key = digest.digest()
        self._unreported.discard(key)
        if key not in self._buffer.blobs:
            self._buffer.blobs[key] = data
            self._gathered(data)
        return digest.hexdigest()

    # -------------------------------------------------------------------------------------------------- traces

    def get_traces(self, key: str) -> list[bytes]:
        return self.get_traces_many([key]).get(key, [])

    def get_traces_many(self, keys: Iterable[str]) -> dict[str, list[bytes]]:
        asked = {check_key(key).encode(): key for key in keys}
        self._enter()
        rows = self._run(lambda connection: tables.traces(connection, list(asked)))
        today = self._day()
        stored: dict[bytes, list[tuple[int, bytes]]] = {}
        damaged: set[tuple[bytes, int]] = set()
        for key, number, used, crc, data in rows:
            if (
                not isinstance(key, bytes)
                or not isinstance(number, int)
                or (key, number) in self._buffer.dropped_traces
            ):
                continue
            if isinstance(data, bytes) and tables.checksum(key, data) == crc:
                stored.setdefault(key, []).append((number, data))
                if used != today:
                    self._buffer.used_traces.add((key, number))
            else:
                damaged.add((key, number))
        if damaged and not self._is_replaced():
            self._buffer.dropped_traces |= damaged
        found: dict[str, list[bytes]] = {}
        for key, name in asked.items():
            traces = self._buffer.traces.get(key, [])[::-1]
            for _, data in sorted(stored.get(key, []), reverse=True):
                if data not in traces:
                    traces.append(data)
            if traces:
                found[name] = traces[:TRACES_PER_KEY]
        return found

    def add_trace(self, key: str, trace: bytes) -> None:
        name = check_key(key).encode()
        self._check_size(trace)
        self._enter()
        gathered = self._buffer.traces.setdefault(name, [])
        if trace in gathered:
            gathered.remove(trace)
        gathered.append(trace)
        del gathered[:-TRACES_PER_KEY]
        self._gathered(trace)

    # ------------------------------------------------------------------------------------------------ pointers

    def get_pointer(self, name: str) -> bytes | None:
        return self.get_pointers([name]).get(name)

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        asked = {check_key(name).encode(): name for name in names}
        self._enter()
        found, damaged = self._run(lambda connection: tables.pointers(connection, list(asked)))
        if damaged:
            self._is_replaced()
        return {name: found[key] for key, name in asked.items() if key in found}

    def set_pointer(self, name: str, value: bytes, expected: bytes | None) -> bool:
        key = check_key(name).encode()
        self._check_size(value)
        self._enter()
        return self._commit(lambda connection: tables.set_pointer(connection, key, value, expected))

    # ------------------------------------------------------------------------------------------------- upkeep

    def flush(self) -> None:
        self._enter()
        if not self._buffer.empty:
            self._commit(lambda _: None)

    def stats(self) -> StoreStats:
        self.flush()
        return self._run(tables.stats)

    def prune(self, max_bytes: int) -> StoreStats:
        """As the protocol has it; but deleting takes room first, and on a disk without any the whole database goes."""
        self._enter()
        before = self._run(tables.stats)
        try:
            dropped = self._prune(max_bytes)
        except StoreError as error:
            if error.fault != "full":
                raise
            self._release()
            generations.remove(self._path())
            self._buffer.forget_rows()
            self._generation += 1
            self.flush()
            dropped = before
        with contextlib.suppress(OSError):
            generations.sweep(self._root, tables.SCHEMA, self._clock())
        return dropped

    def _prune(self, max_bytes: int) -> StoreStats:
        total = StoreStats(0, 0, 0, 0, 0)
        while True:  # in several transactions, so that others can write in between
            step = self._commit(partial(tables.drop_oldest, max_bytes=max_bytes, at_once=_PRUNED_AT_ONCE))
            if step.blobs + step.traces == 0:
                break
            total = StoreStats(
                total.blobs + step.blobs,
                total.blob_bytes + step.blob_bytes,
                total.traces + step.traces,
                total.trace_bytes + step.trace_bytes,
                pointers=0,
            )
        with contextlib.suppress(StoreError):  # giving space back is a courtesy: the next entries fill it anyway
            self._run(tables.compact)
        return total

    def close(self) -> None:
        if self._closed:
            return
        try:
            # Noting what was used, and keeping the store small, are no reasons to fail a compile that is done.
            with contextlib.nullcontext() if self._buffer.holds_entries else contextlib.suppress(StoreError):
                self.flush()
            with contextlib.suppress(StoreError):
                if self._max_bytes is not None and self._run(tables.disk_bytes) > self._max_bytes:
                    self._prune(self._max_bytes * 4 // 5)
        finally:
            self._release()
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            with contextlib.suppress(StoreError):  # the first error is the one to show
                self.close()
