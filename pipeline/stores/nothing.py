"""The store that keeps nothing: for a check, which must leave nothing behind, of however many documents."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator
from typing import Final

from pipeline.stores.protocol import NothingToClose, StoreStats

_EMPTY: Final = StoreStats(blobs=0, blob_bytes=0, traces=0, trace_bytes=0, pointers=0)


class NoStore(NothingToClose):
    """A `Store` in which nothing is ever found. Its one difference from the contract: an instance does not read its own
    writes, so everything that is looked up is made again."""

    def get_blob(self, digest: str) -> bytes | None:
        return None

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        return {}

    def put_blob(self, data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    def get_traces(self, key: str) -> list[bytes]:
        return []

    def get_traces_many(self, keys: Iterable[str]) -> dict[str, list[bytes]]:
        return {}

    def trace_keys(self) -> Iterator[str]:
        return iter(())

    def add_trace(self, key: str, trace: bytes) -> None:
        """Forgotten at once."""

    def get_pointer(self, name: str) -> bytes | None:
        return None

    def set_pointer(self, name: str, value: bytes, expected: bytes | None, *, lasting: bool = True) -> bool:
        return expected is None

    def delete_pointer(self, name: str, expected: bytes) -> bool:
        return False

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        return {}

    def pointer_names(self, prefix: str) -> Iterator[str]:
        return iter(())

    def flush(self) -> None:
        """There is nothing to write."""

    def stats(self) -> StoreStats:
        return _EMPTY

    def prune(self, max_bytes: int) -> StoreStats:
        return _EMPTY

    def sweep(self, keep: Container[str], older_than_s: float, traces: Container[str] | None = None) -> StoreStats:
        return _EMPTY
