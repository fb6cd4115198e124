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
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from pipeline.stores import generations, tables
from pipeline.stores.buffer import Buffer
from pipeline.stores.database import Database
from pipeline.stores.faults import translate
from pipeline.stores.protocol import (
    TRACES_PER_KEY,
    DamagedBlob,
    StoreError,
    StoreStats,
    check_digest,
    check_key,
    check_prefix,
    total,
)
from pipeline.stores.texts import Note

DEFAULT_FOLDER = Path(".aop")
DEFAULT_MAX_BYTES = 1 << 30
DEFAULT_BUFFER_BYTES = 4 << 20

_LARGEST_ENTRY = 512 << 20
_PRUNED_AT_ONCE = 32 << 20
_SWEPT_AT_ONCE = 500
_DAY_S = 24 * 3600

_T = TypeVar("_T")


class _Page(Protocol):
    def __call__(self, connection: sqlite3.Connection, prefix: bytes, after: bytes) -> list[tables.Name]: ...


def discard(folder: Path) -> int:
    """Remove the store in `folder`, which may be in use, and return how many bytes that gives back. Raises
    StoreError."""
    try:
        return generations.discard(folder, tables.SCHEMA)
    except OSError as error:
        raise translate(error, folder, str(folder)) from error


class FileStore:
    """A `Store` in `folder`, which is made if it is missing. Raises StoreError if it cannot be used.

    Threads may share an instance. After a fork the child opens the store anew; what the parent had not flushed stays
    the parent's. If the database has grown beyond `max_bytes` (None: any size) when the instance is closed, it is
    pruned to four fifths of that. When an entry was last used is known to the day; `clock` gives seconds since the
    epoch. `notes` says which databases were set aside.

    `durable`: not a cache, but what others rely on. A pointer that was moved survives a power cut, and all that was
    written before it; damage, and a database that is deleted while it is in use, are StoreErrors; a pruning never drops
    more than it was asked to.
    """

    def __init__(
        self,
        folder: Path = DEFAULT_FOLDER,
        *,
        max_bytes: int | None = DEFAULT_MAX_BYTES,
        buffer_bytes: int = DEFAULT_BUFFER_BYTES,
        clock: Callable[[], float] = time.time,
        durable: bool = False,
    ) -> None:
        self.folder = folder
        self._durable = durable
        self._max_bytes = max_bytes
        self._buffer_bytes = buffer_bytes
        self._clock = clock
        self._closed = False
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._buffer = Buffer()
        self._unreported: set[bytes] = set()
        self._database = Database(folder, durable, self._forget_rows)
        self._database.run(lambda _: None)

    @property
    def path(self) -> Path:
        """The database file now in use."""
        return self._database.path

    @property
    def notes(self) -> list[Note]:
        return self._database.notes

    # -------------------------------------------------------------------------------------------- inside it

    def _entered(self) -> AbstractContextManager[object]:
        """Every operation happens inside it: is the instance open, and still in the process that opened it?"""
        if self._closed:
            raise StoreError("closed", str(self.folder))
        if self._pid != os.getpid():
            self._lock = threading.RLock()  # a thread of the parent may have held it, and is not there any more
            self._database.abandon()
            self._buffer = Buffer()
            self._pid = os.getpid()
        return self._lock

    def _commit(self, action: Callable[[sqlite3.Connection], _T], *, synced: bool = False) -> _T:
        """Write what has gathered, and run the action in the same transaction."""

        def work(connection: sqlite3.Connection) -> _T:
            self._buffer.write(connection, self._day())
            return action(connection)

        result = self._database.commit(work, synced=synced)
        self._buffer = Buffer()
        return result

    def _forget_rows(self) -> None:
        self._buffer.forget_rows()

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
        rows = self._database.run(lambda connection: tables.blobs(connection, digests))
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
        if damaged and not self._database.is_replaced():
            self._buffer.dropped_blobs.update(damaged)
        return sound

    def get_blob(self, digest: str) -> bytes | None:
        key = bytes.fromhex(check_digest(digest))
        with self._entered():
            data = self._buffer.blobs.get(key)
            if data is None:
                data = self._stored_blobs([key]).get(key)
            if data is None and key in self._unreported:
                self._unreported.remove(key)
                raise DamagedBlob(str(self.path), digest)
            return data

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        asked = {bytes.fromhex(check_digest(digest)): digest for digest in digests}
        with self._entered():
            found = self._stored_blobs([key for key in asked if key not in self._buffer.blobs])
            found.update((key, self._buffer.blobs[key]) for key in asked if key in self._buffer.blobs)
        return {digest: found[key] for key, digest in asked.items() if key in found}

    def put_blob(self, data: bytes) -> str:
        self._check_size(data)
        digest = hashlib.sha256(data)
        key = digest.digest()
        with self._entered():
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
        with self._entered():
            stored = self._stored_traces(list(asked))
            found: dict[str, list[bytes]] = {}
            for key, name in asked.items():
                traces = self._buffer.traces.get(key, [])[::-1]
                for _, data in sorted(stored.get(key, []), reverse=True):
                    if data not in traces:
                        traces.append(data)
                if traces:
                    found[name] = traces[:TRACES_PER_KEY]
        return found

    def _stored_traces(self, keys: list[bytes]) -> dict[bytes, list[tuple[int, bytes]]]:
        """Those that the database holds and that are sound, with their ranks. What is damaged is dropped."""
        rows = self._database.run(lambda connection: tables.traces(connection, keys))
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
        if damaged and not self._database.is_replaced():
            self._buffer.dropped_traces |= damaged
        return stored

    def trace_keys(self) -> Iterator[str]:
        self.flush()
        return self._names(tables.trace_keys, b"")

    def add_trace(self, key: str, trace: bytes) -> None:
        name = check_key(key).encode()
        self._check_size(trace)
        with self._entered():
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
        with self._entered():
            found, damaged = self._database.run(lambda connection: tables.pointers(connection, list(asked)))
            if damaged:
                self._damaged_pointer()
                self._database.is_replaced()
        return {name: found[key] for key, name in asked.items() if key in found}

    def set_pointer(self, name: str, value: bytes, expected: bytes | None, *, lasting: bool = True) -> bool:
        self._check_size(value)
        return self._move(check_key(name).encode(), value, expected, lasting)

    def delete_pointer(self, name: str, expected: bytes) -> bool:
        return self._move(check_key(name).encode(), None, expected)

    def _move(self, name: bytes, value: bytes | None, expected: bytes | None, lasting: bool = True) -> bool:
        def move(connection: sqlite3.Connection) -> bool:
            found, damaged = tables.pointers(connection, [name])
            if damaged:
                self._damaged_pointer()
            if found.get(name) != expected:
                return False
            tables.write_pointer(connection, name, value)
            return True

        with self._entered():
            return self._commit(move, synced=lasting)

    def _damaged_pointer(self) -> None:
        """To a cache it counts as absent, and can be set again."""
        if self._durable:
            raise StoreError("store-damaged", str(self.path), "a pointer")

    def pointer_names(self, prefix: str) -> Iterator[str]:
        return self._names(tables.pointer_names, check_prefix(prefix).encode())

    def _names(self, page: _Page, prefix: bytes) -> Iterator[str]:
        """A page at a time: no transaction is open in between."""
        last = b""
        while True:
            with self._entered():
                names = self._database.run(partial(page, prefix=prefix, after=last))
            for name, sound in names:
                if sound:
                    yield _text(name)
                else:
                    self._damaged_pointer()
                last = name
            if not names:
                return

    # ------------------------------------------------------------------------------------------------- upkeep

    def flush(self) -> None:
        with self._entered():
            if not self._buffer.empty:
                self._commit(lambda _: None)

    def stats(self) -> StoreStats:
        self.flush()
        with self._entered():
            return self._database.run(tables.stats)

    def prune(self, max_bytes: int) -> StoreStats:
        """As the protocol has it; but deleting takes room first, and on a disk without any a whole cache goes."""
        with self._entered():
            before = self._database.run(tables.stats)
            try:
                gone = self._prune(max_bytes)
            except StoreError as error:
                if error.fault != "full" or self._durable:
                    raise
                self._database.begin_anew()
                self.flush()
                gone = before
            with contextlib.suppress(OSError):
                generations.sweep(self._database.root, tables.SCHEMA, self._clock())
            return gone

    def _prune(self, max_bytes: int) -> StoreStats:
        gone: list[StoreStats] = []
        step = partial(tables.drop_oldest, max_bytes=max_bytes, at_once=_PRUNED_AT_ONCE)
        while not gone or gone[-1].blobs + gone[-1].traces:  # so that others can write in between
            gone.append(self._commit(step))
        with contextlib.suppress(StoreError):  # giving space back is a courtesy: the next entries fill it anyway
            self._database.run(tables.compact)
        return total(gone)

    def sweep(self, keep: Container[str], older_than_s: float, traces: Container[str] | None = None) -> StoreStats:
        # What was used on a day may have been used when that day ended.
        day = int((self._clock() - older_than_s) // _DAY_S)
        self.flush()
        with self._entered():
            old = self._database.run(partial(tables.unused_since, day=day))
        blobs = [entry for entry in old.blobs if entry[0].hex() not in keep]
        unkept = [] if traces is None else [entry for entry in old.traces if _text(entry[0]) not in traces]
        steps = [tables.Entries(blobs[i : i + _SWEPT_AT_ONCE], []) for i in range(0, len(blobs), _SWEPT_AT_ONCE)]
        steps += [tables.Entries([], unkept[i : i + _SWEPT_AT_ONCE]) for i in range(0, len(unkept), _SWEPT_AT_ONCE)]
        gone: list[StoreStats] = []
        for step in steps:
            with self._entered():
                gone.append(self._commit(partial(tables.drop_unused, entries=step, day=day)))
        return total(gone)

    def close(self) -> None:
        if self._closed:
            return
        with self._entered():
            try:
                # Noting what was used, and keeping the store small, are no reasons to fail a compile that is done.
                with contextlib.nullcontext() if self._buffer.holds_entries else contextlib.suppress(StoreError):
                    self.flush()
                with contextlib.suppress(StoreError):
                    if self._max_bytes is not None and self._database.run(tables.disk_bytes) > self._max_bytes:
                        self._prune(self._max_bytes * 4 // 5)
            finally:
                self._database.release()
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


def _text(name: bytes) -> str:
    return name.decode("ascii", "replace")  # a damaged row may hold anything
