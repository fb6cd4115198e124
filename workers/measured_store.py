"""A store that tells the metrics how long each operation takes, and which failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator
from types import TracebackType
from typing import Self, TypeVar

from pipeline.stores.protocol import Store, StoreError, StoreStats
from workers.metrics import metrics

_Answer = TypeVar("_Answer")


class MeasuredStore:
    """Implements `Store` by another one. Listings, which take as long as who reads them, are not timed."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def _timed(self, operation: str, do: Callable[[], _Answer]) -> _Answer:
        begun = time.perf_counter()
        try:
            return do()
        except StoreError:
            metrics.store_errors.labels(operation).inc()
            raise
        finally:
            metrics.store_seconds.labels(operation).observe(time.perf_counter() - begun)

    def get_blob(self, digest: str) -> bytes | None:
        return self._timed("get_blob", lambda: self._store.get_blob(digest))

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        return self._timed("get_blobs", lambda: self._store.get_blobs(digests))

    def put_blob(self, data: bytes) -> str:
        return self._timed("put_blob", lambda: self._store.put_blob(data))

    def get_traces(self, key: str) -> list[bytes]:
        return self._timed("get_traces", lambda: self._store.get_traces(key))

    def get_traces_many(self, keys: Iterable[str]) -> dict[str, list[bytes]]:
        return self._timed("get_traces", lambda: self._store.get_traces_many(keys))

    def trace_keys(self) -> Iterator[str]:
        return self._store.trace_keys()

    def add_trace(self, key: str, trace: bytes) -> None:
        self._timed("add_trace", lambda: self._store.add_trace(key, trace))

    def get_pointer(self, name: str) -> bytes | None:
        return self._timed("get_pointer", lambda: self._store.get_pointer(name))

    def set_pointer(self, name: str, value: bytes, expected: bytes | None, *, lasting: bool = True) -> bool:
        return self._timed("set_pointer", lambda: self._store.set_pointer(name, value, expected, lasting=lasting))

    def delete_pointer(self, name: str, expected: bytes) -> bool:
        return self._timed("delete_pointer", lambda: self._store.delete_pointer(name, expected))

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        return self._timed("get_pointers", lambda: self._store.get_pointers(names))

    def pointer_names(self, prefix: str) -> Iterator[str]:
        return self._store.pointer_names(prefix)

    def flush(self) -> None:
        self._timed("flush", self._store.flush)

    def stats(self) -> StoreStats:
        return self._store.stats()

    def prune(self, max_bytes: int) -> StoreStats:
        return self._timed("prune", lambda: self._store.prune(max_bytes))

    def sweep(self, keep: Container[str], older_than_s: float, traces: Container[str] | None = None) -> StoreStats:
        return self._timed("sweep", lambda: self._store.sweep(keep, older_than_s, traces))

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
