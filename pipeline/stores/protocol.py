"""The artifact store: where stages keep what they made. Memory, files and S3 implement this and pass one conformance suite.

Three kinds of entry, each with its own rule:

* *blobs*: immutable bytes under the sha256 of their content. Written once, verified on every read.
* *traces*: for a key, the runs that were recorded under it, newest first. Each is small bytes; a reader takes the first whose
  recorded reads still hold. Adding an equal trace again changes nothing but its rank.
* *pointers*: small mutable bytes under a name (the last compile of a document), moved by compare-and-set.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self


class StoreError(Exception):
    """The store could not be read or written: ours, not the user's. The message says what, where and what to do."""


class DamagedBlob(StoreError):
    """A blob's bytes do not have its digest. The blob has been dropped; running the stage again restores it."""


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Sizes in bytes, of content (not of the disk)."""

    blobs: int
    blob_bytes: int
    traces: int
    trace_bytes: int
    pointers: int


class Store(Protocol):
    """Safe for several processes and threads at once, each with an instance of its own. Writes may be gathered until `flush`;
    an instance reads its own writes at once."""

    def get_blob(self, digest: str) -> bytes | None:
        """The bytes of that sha256 hex digest, None if absent. Raises DamagedBlob, StoreError."""
        ...

    def put_blob(self, data: bytes) -> str:
        """Store and return the sha256 hex digest. Raises StoreError (no space, no right …)."""
        ...

    def get_traces(self, key: str) -> list[bytes]:
        """All traces under the key, newest first; at most `TRACES_PER_KEY`."""
        ...

    def add_trace(self, key: str, trace: bytes) -> None:
        """Make `trace` the newest under the key; the oldest beyond `TRACES_PER_KEY` are dropped."""
        ...

    def get_pointer(self, name: str) -> bytes | None: ...

    def set_pointer(self, name: str, value: bytes, expected: bytes | None) -> bool:
        """Move the pointer if it still is `expected` (None: absent). False if it was not."""
        ...

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        """Several at once, for planning over a library; absent names are left out."""
        ...

    def flush(self) -> None:
        """Make everything that was written so far durable and visible to others. Raises StoreError."""
        ...

    def stats(self) -> StoreStats: ...

    def prune(self, max_bytes: int) -> StoreStats:
        """Drop what was not used for longest until blobs and traces take at most `max_bytes`. Returns what was dropped."""
        ...

    def close(self) -> None:
        """Flush and release. Raises StoreError."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


TRACES_PER_KEY = 8
