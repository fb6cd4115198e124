"""The store that lives as long as the process: for tests, and for compiles that must leave nothing behind."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator

from pipeline.stores.protocol import (
    TRACES_PER_KEY,
    NothingToClose,
    StoreStats,
    check_digest,
    check_key,
    check_prefix,
    dropped,
)


class MemoryStore(NothingToClose):
    """A `Store` in dictionaries, which stands for one that is opened several times: threads share it, and closing it
    loses nothing. `clock` gives seconds since the epoch."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._blobs: dict[str, bytes] = {}
        self._traces: dict[str, list[bytes]] = {}  # newest last
        self._pointers: dict[str, bytes] = {}
        # When each was used, least recently first: a blob is (digest, None), a trace (key, its bytes).
        self._recent: dict[tuple[str, bytes | None], float] = {}

    def _use(self, entry: tuple[str, bytes | None]) -> None:
        self._recent.pop(entry, None)
        self._recent[entry] = self._clock()

    def get_blob(self, digest: str) -> bytes | None:
        with self._lock:
            data = self._blobs.get(check_digest(digest))
            if data is not None:
                self._use((digest, None))
            return data

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        found = ((digest, self.get_blob(digest)) for digest in digests)
        return {digest: data for digest, data in found if data is not None}

    def put_blob(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            self._blobs[digest] = data
            self._use((digest, None))
        return digest

    def get_traces(self, key: str) -> list[bytes]:
        with self._lock:
            traces = self._traces.get(check_key(key), [])
            for trace in traces:
                self._use((key, trace))
            return traces[::-1]

    def get_traces_many(self, keys: Iterable[str]) -> dict[str, list[bytes]]:
        found = ((key, self.get_traces(key)) for key in keys)
        return {key: traces for key, traces in found if traces}

    def trace_keys(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._traces))

    def add_trace(self, key: str, trace: bytes) -> None:
        with self._lock:
            traces = self._traces.setdefault(check_key(key), [])
            if trace in traces:
                traces.remove(trace)
            traces.append(trace)
            self._use((key, trace))
            while len(traces) > TRACES_PER_KEY:
                del self._recent[key, traces.pop(0)]

    def get_pointer(self, name: str) -> bytes | None:
        return self._pointers.get(check_key(name))

    def set_pointer(self, name: str, value: bytes, expected: bytes | None, *, lasting: bool = True) -> bool:
        with self._lock:
            if self._pointers.get(check_key(name)) != expected:
                return False
            self._pointers[name] = value
            return True

    def delete_pointer(self, name: str, expected: bytes) -> bool:
        with self._lock:
            if self._pointers.get(check_key(name)) != expected:
                return False
            del self._pointers[name]
            return True

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        with self._lock:
            return {name: self._pointers[name] for name in map(check_key, names) if name in self._pointers}

    def pointer_names(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        with self._lock:
            return iter([name for name in self._pointers if name.startswith(prefix)])

    def flush(self) -> None:
        """Everything is visible already."""

    def stats(self) -> StoreStats:
        with self._lock:
            traces = [trace for kept in self._traces.values() for trace in kept]
            return StoreStats(
                blobs=len(self._blobs),
                blob_bytes=sum(map(len, self._blobs.values())),
                traces=len(traces),
                trace_bytes=sum(map(len, traces)),
                pointers=len(self._pointers),
            )

    def prune(self, max_bytes: int) -> StoreStats:
        with self._lock:
            before = self.stats()
            excess = before.blob_bytes + before.trace_bytes - max_bytes
            while excess > 0 and self._recent:
                entry = next(iter(self._recent))
                excess -= self._drop(entry)
            return dropped(before, self.stats())

    def sweep(self, keep: Container[str], older_than_s: float, traces: Container[str] | None = None) -> StoreStats:
        with self._lock:
            before = self.stats()
            until = self._clock() - older_than_s
            for entry in [entry for entry, used in self._recent.items() if used <= until]:
                name, trace = entry
                if not (name in keep if trace is None else traces is None or name in traces):
                    self._drop(entry)
            return dropped(before, self.stats())

    def _drop(self, entry: tuple[str, bytes | None]) -> int:
        del self._recent[entry]
        key, trace = entry
        if trace is None:
            return len(self._blobs.pop(key))
        kept = self._traces[key]
        kept.remove(trace)
        if not kept:
            del self._traces[key]
        return len(trace)
