"""A store that forgets: reads go through, writes stay in memory. A plan must leave nothing behind (`aop why`)."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import TRACES_PER_KEY, NothingToClose, Store, StoreStats


class Overlay(NothingToClose):
    """A `Store` over another one, which it never changes, nor closes."""

    def __init__(self, below: Store) -> None:
        self._below = below
        self._above = MemoryStore()

    def get_blob(self, digest: str) -> bytes | None:
        above = self._above.get_blob(digest)
        return self._below.get_blob(digest) if above is None else above

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        wanted = list(digests)
        return {**self._below.get_blobs(wanted), **self._above.get_blobs(wanted)}

    def put_blob(self, data: bytes) -> str:
        return self._above.put_blob(data)

    def get_traces(self, key: str) -> list[bytes]:
        return list(dict.fromkeys((*self._above.get_traces(key), *self._below.get_traces(key))))[:TRACES_PER_KEY]

    def get_traces_many(self, keys: Iterable[str]) -> dict[str, list[bytes]]:
        found = ((key, self.get_traces(key)) for key in keys)
        return {key: traces for key, traces in found if traces}

    def add_trace(self, key: str, trace: bytes) -> None:
        self._above.add_trace(key, trace)

    def get_pointer(self, name: str) -> bytes | None:
        above = self._above.get_pointer(name)
        return self._below.get_pointer(name) if above is None else above

    def set_pointer(self, name: str, value: bytes, expected: bytes | None) -> bool:
        if self.get_pointer(name) != expected:
            return False
        return self._above.set_pointer(name, value, self._above.get_pointer(name))

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        wanted = list(names)
        return {**self._below.get_pointers(wanted), **self._above.get_pointers(wanted)}

    def flush(self) -> None:
        """There is nothing to make durable."""

    def stats(self) -> StoreStats:
        return self._below.stats()

    def prune(self, max_bytes: int) -> StoreStats:
        return self._above.prune(max_bytes)
