"""The store in a bucket of S3, or of any server that speaks S3 and honours conditional writes.

* A blob is the object `blobs/DIGEST`, put with `If-None-Match: *`: write-once, whoever comes first.
* The traces of a key are the object `traces/KEY`, moved by its ETag.
* A pointer is the object `pointers/NAME`, moved by its ETag. Deleted, it is a *tombstone*: a condition on a deletion is
  not honoured by every server that honours it on a write.

Nothing is gathered: what a method has written is durable and visible to all when it returns.
"""

from __future__ import annotations

import hashlib
import secrets
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final, TypeVar
from urllib.parse import quote, unquote

from pipeline.stores.bucket import PARALLEL, Bucket, Listed, Object, S3Settings, tries
from pipeline.stores.protocol import (
    TRACES_PER_KEY,
    DamagedBlob,
    NothingToClose,
    StoreError,
    StoreStats,
    check_digest,
    check_key,
    check_prefix,
    total,
)

__all__ = ["S3Settings", "S3Store"]

T = TypeVar("T")

_TOMBSTONE: Final = b"aop deleted pointer 5f0c1f6be06d4a7797fd0d9b4c2a6d1e"
"""What stands where a pointer was deleted. Nobody's value: half of it is random."""
_REMEMBERED: Final = 4096
"""How many pointers' ETags are remembered."""
_RECENT: Final = 64
_RECENT_BYTES: Final = 256 * 1024
"""So many objects with traces are remembered, and none that is larger."""
_FRESH_S: Final = 3600.0
"""A blob that is put again counts as put just now, give or take this; `sweep` must be given more."""
_SWEPT_AT_ONCE: Final = 1000


class _Tags:
    """The ETags of the pointers that were read or written last, each with the digest of its value."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[bytes, str]] = OrderedDict()

    def remember(self, name: str, value: bytes, tag: str) -> None:
        with self._lock:
            self._known[name] = (hashlib.sha256(value).digest(), tag)
            self._known.move_to_end(name)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def take(self, name: str, value: bytes) -> str | None:
        """The ETag of that value, to be used once."""
        with self._lock:
            digest, tag = self._known.pop(name, (b"", ""))
        return tag if digest == hashlib.sha256(value).digest() else None


class _Recent:
    """The objects with traces that were read last: a compile adds to what it has just read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._objects: OrderedDict[str, Object] = OrderedDict()

    def keep(self, place: str, found: Object) -> None:
        if len(found.data) > _RECENT_BYTES:
            return
        with self._lock:
            self._objects[place] = found
            self._objects.move_to_end(place)
            if len(self._objects) > _RECENT:
                self._objects.popitem(last=False)

    def take(self, place: str) -> Object | None:
        """To be used once."""
        with self._lock:
            return self._objects.pop(place, None)


class S3Store(NothingToClose):
    """A `Store` in a bucket. Threads may share it. `clock` gives seconds since the epoch, about as the server's does.

    Raises StoreError from its methods: `denied`, `unreachable`, `unusable`, and `unconditional` from `check`.
    """

    def __init__(self, settings: S3Settings, *, clock: Callable[[], float] = time.time) -> None:
        self._bucket = Bucket(settings)
        self._clock = clock
        self._tags = _Tags()
        self._recent = _Recent()

    def check(self) -> None:
        """Refuse a bucket that cannot be used, and a server that ignores the conditions of a write: with it two writers
        would overwrite each other unseen. Raises StoreError."""
        bucket, key = self._bucket, f"checks/{secrets.token_hex(8)}"
        try:
            first = bucket.put(key, b"1", missing=True)
            honoured = (
                first is not None
                and bucket.put(key, b"2", missing=True) is None
                and bucket.put(key, b"3", tag='"0123456789abcdef0123456789abcdef"') is None
                and bucket.put(key, b"4", tag=first) is not None
                and bucket.get(key) is not None
            )
        finally:
            bucket.delete(key)
        if not honoured:
            raise StoreError("unconditional", bucket.where)

    # ----------------------------------------------------------------------------------------------- blobs

    def get_blob(self, digest: str) -> bytes | None:
        key = f"blobs/{check_digest(digest)}"
        found = self._bucket.get(key)
        if found is None:
            return None
        if hashlib.sha256(found.data).hexdigest() != digest:
            self._bucket.delete(key)
            raise DamagedBlob(self._bucket.where, digest)
        return found.data

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        def sound(digest: str) -> bytes | None:
            try:
                return self.get_blob(digest)
            except DamagedBlob:
                return None

        return _present(list(map(check_digest, digests)), sound)

    def put_blob(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        key = f"blobs/{digest}"
        if self._bucket.put(key, data, missing=True) is None:
            modified = self._bucket.modified(key)
            if modified is None or self._clock() - modified > _FRESH_S:
                self._bucket.put(key, data)  # the same bytes, and young again: a sweep leaves them
        return digest

    # ---------------------------------------------------------------------------------------------- traces

    def get_traces(self, key: str) -> list[bytes]:
        place = f"traces/{_quoted(check_key(key))}"
        found = self._bucket.get(place)
        if found is None:
            return []
        self._recent.keep(place, found)
        return _unpack(found.data)

    def get_traces_many(self, keys: Iterable[str]) -> dict[str, list[bytes]]:
        found = _present(list(map(check_key, keys)), self.get_traces)
        return {key: traces for key, traces in found.items() if traces}

    def trace_keys(self) -> Iterator[str]:
        return (_name(entry) for entry in self._bucket.list("traces/"))

    def add_trace(self, key: str, trace: bytes) -> None:
        """One request where the key's traces are what this store read last, or there are none yet; two more where that
        was a mistake."""
        place = f"traces/{_quoted(check_key(key))}"
        supposed, found = True, self._recent.take(place)
        for _ in tries():
            if not supposed:
                found = self._bucket.get(place)
            traces = [] if found is None else _unpack(found.data)
            if traces and traces[0] == trace:
                if not supposed:
                    return
                supposed = False
                continue
            supposed = False
            kept = [trace, *(other for other in traces if other != trace)][:TRACES_PER_KEY]
            if self._bucket.put(place, _pack(kept), tag=found and found.tag, missing=found is None) is not None:
                return
        raise StoreError("busy", self._bucket.where, place)

    # -------------------------------------------------------------------------------------------- pointers

    def get_pointer(self, name: str) -> bytes | None:
        found = self._pointer(check_key(name))
        return None if found is None or found.data == _TOMBSTONE else found.data

    def set_pointer(self, name: str, value: bytes, expected: bytes | None, *, lasting: bool = True) -> bool:
        return self._move(check_key(name), value, expected)

    def delete_pointer(self, name: str, expected: bytes) -> bool:
        return self._move(check_key(name), _TOMBSTONE, expected)

    def _move(self, name: str, value: bytes, expected: bytes | None) -> bool:
        """One request where nothing is there, or what was read last is what is expected; else the pointer is read."""
        if expected is None:
            if self._put_pointer(name, value, None):
                return True
        else:
            known = self._tags.take(name, expected)
            if known is not None and self._put_pointer(name, value, known):
                return True
        # Also after a refusal: the same value may have got another ETag, or be a tombstone.
        found = self._pointer(name)
        if found is None:
            return expected is None and self._put_pointer(name, value, None)
        if found.data != (_TOMBSTONE if expected is None else expected):
            return False
        # The ETag is of these very bytes: whoever moved the pointer away and back has left it as it was expected.
        return self._put_pointer(name, value, found.tag)

    def _put_pointer(self, name: str, value: bytes, tag: str | None) -> bool:
        made = self._bucket.put(f"pointers/{_quoted(name)}", value, tag=tag, missing=tag is None)
        if made is not None:
            self._tags.remember(name, value, made)
        return made is not None

    def _pointer(self, name: str) -> Object | None:
        found = self._bucket.get(f"pointers/{_quoted(name)}")
        if found is not None:
            self._tags.remember(name, found.data, found.tag)
        return found

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        return _present(list(map(check_key, names)), self.get_pointer)

    def pointer_names(self, prefix: str) -> Iterator[str]:
        listed = self._bucket.list(f"pointers/{_quoted(check_prefix(prefix))}")
        return (_name(entry) for entry in listed if not self._is_tombstone(entry))

    def _is_tombstone(self, entry: Listed) -> bool:
        return entry.size == len(_TOMBSTONE) and self.get_pointer(_name(entry)) is None

    # ---------------------------------------------------------------------------------------------- upkeep

    def flush(self) -> None:
        """Everything is durable already."""

    def stats(self) -> StoreStats:
        blobs = [entry.size for entry in self._bucket.list("blobs/")]
        traces = [len(trace) for entry in self._bucket.list("traces/") for trace in self._traces_at(entry.key)]
        return StoreStats(len(blobs), sum(blobs), len(traces), sum(traces), sum(1 for _ in self.pointer_names("")))

    def prune(self, max_bytes: int) -> StoreStats:
        """A bucket does not know what was read last: what was written longest ago goes first."""
        entries = [*self._bucket.list("blobs/"), *self._bucket.list("traces/")]
        entries.sort(key=lambda entry: entry.modified)
        sizes = [self._size(entry) for entry in entries]
        excess = sum(size.blob_bytes + size.trace_bytes for size in sizes) - max_bytes
        gone = []
        for entry, size in zip(entries, sizes, strict=True):
            if excess <= 0:
                break
            self._bucket.delete(entry.key)
            excess -= size.blob_bytes + size.trace_bytes
            gone.append(size)
        return total(gone)

    def sweep(self, keep: Container[str], older_than_s: float, traces: Container[str] | None = None) -> StoreStats:
        """As the protocol has it. Also removes the tombstones that are that old."""
        until = self._clock() - older_than_s
        gone: list[StoreStats] = []

        def drop(entry: Listed) -> StoreStats | None:
            # Looked at again, since the page may have been listed a while ago and the entry stored again since.
            modified = self._bucket.modified(entry.key)
            if modified is None or modified > until:
                return None
            size = self._size(entry)
            self._bucket.delete(entry.key)
            return size

        with ThreadPoolExecutor(PARALLEL) as pool:
            for folder, kept in (("blobs/", keep), ("traces/", traces)):
                if kept is None:
                    continue
                old = (e for e in self._bucket.list(folder) if e.modified <= until and _name(e) not in kept)
                while entries := list(islice(old, _SWEPT_AT_ONCE)):
                    gone += filter(None, pool.map(drop, entries))
        for entry in self._bucket.list("pointers/"):
            if entry.size == len(_TOMBSTONE) and entry.modified <= until:
                found = self._bucket.get(entry.key)
                if found is not None and found.data == _TOMBSTONE:
                    self._bucket.delete(entry.key, found.tag)
        return total(gone)

    def _size(self, entry: Listed) -> StoreStats:
        if entry.key.startswith("blobs/"):
            return StoreStats(1, entry.size, 0, 0, 0)
        sizes = list(map(len, self._traces_at(entry.key)))
        return StoreStats(0, 0, len(sizes), sum(sizes), 0)

    def _traces_at(self, place: str) -> list[bytes]:
        found = self._bucket.get(place)
        return [] if found is None else _unpack(found.data)


def _quoted(name: str) -> str:
    # A dot would let `..` mean a folder to servers that keep objects as files.
    return quote(name, safe="").replace(".", "%2E")


def _name(entry: Listed) -> str:
    """Of the pointer, the key of the traces or the digest of the blob whose object that is."""
    return unquote(entry.key.partition("/")[2])


def _present(keys: list[str], read: Callable[[str], T | None]) -> dict[str, T]:
    """In the order asked, several at once."""
    if len(keys) <= 1:
        found = list(map(read, keys))
    else:
        with ThreadPoolExecutor(min(PARALLEL, len(keys))) as pool:
            found = list(pool.map(read, keys))
    return {key: value for key, value in zip(keys, found, strict=True) if value is not None}


def _pack(traces: Iterable[bytes]) -> bytes:
    return b"".join([struct.pack(">I", len(trace)) + hashlib.sha256(trace).digest() + trace for trace in traces])


def _unpack(data: bytes) -> list[bytes]:
    """The traces whose bytes are what they were; the rest is left out, and dropped with the next move."""
    traces: list[bytes] = []
    place = 0
    while place + 36 <= len(data):
        (size,) = struct.unpack_from(">I", data, place)
        seal, trace = data[place + 4 : place + 36], data[place + 36 : place + 36 + size]
        if hashlib.sha256(trace).digest() == seal:
            traces.append(trace)
        place += 36 + size
    return traces
