"""The artifact store: where stages keep what they made. Memory, files and S3 implement this and pass one test-suite.

Three kinds of entry, each with its own rule:

* *blobs*: immutable bytes under the sha256 of their content. Written once, verified on every read.
* *traces*: for a key, the runs that were recorded under it, newest first. Each is small bytes; a reader takes the first
  whose recorded reads still hold. Adding an equal trace again changes nothing but its rank.
* *pointers*: small mutable bytes under a name (what is published of a document), moved by compare-and-set.

A digest is 64 lower-case hex digits; a trace's key and a pointer's name are `KEY_RULE`. Anything else is a ValueError.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from pipeline.diagnostics.lang import Lang
from pipeline.stores.texts import Fault, sentence

TRACES_PER_KEY = 8

KEY_RULE = "1 to 200 printable ASCII characters without white space"
_KEY = re.compile(r"[!-~]{1,200}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def check_key(key: str) -> str:
    """The key of a trace or name of a pointer, as it is. Raises ValueError unless it follows `KEY_RULE`."""
    if _KEY.fullmatch(key) is None:
        raise ValueError(f"not a key: {key[:80]!r}; a key is {KEY_RULE} (take the sha256 of anything else)")
    return key


def check_digest(digest: str) -> str:
    """The digest as it is. Raises ValueError unless it is 64 lower-case hex digits."""
    if _DIGEST.fullmatch(digest) is None:
        raise ValueError(f"not a digest: {digest[:80]!r}; a digest is the 64 lower-case hex digits of a sha256")
    return digest


def check_prefix(prefix: str) -> str:
    """The beginning of a pointer's name, or "". Raises ValueError unless names can begin so."""
    return prefix and check_key(prefix)


class StoreError(Exception):
    """The store could not be read or written: ours, not the user's. The message says what, where and what to do.

    `fault` is the kind of trouble, `where` the path as the user named it, `detail` the cause in the system's words.
    """

    def __init__(self, fault: Fault, where: str, detail: str = "") -> None:
        super().__init__(sentence(fault, "en", where, detail))
        self.fault: Fault = fault
        self.where = where
        self.detail = detail

    def text(self, lang: Lang) -> str:
        """The whole sentence in that language; `str(error)` is the English one."""
        return sentence(self.fault, lang, self.where, self.detail)


class DamagedBlob(StoreError):
    """A blob's bytes do not have its digest. The blob has been dropped; running the stage again restores it."""

    def __init__(self, where: str, digest: str) -> None:
        super().__init__("damaged-blob", where, digest)
        self.digest = digest


class StoreStats(NamedTuple):
    """Sizes in bytes, of content (not of the disk)."""

    blobs: int
    blob_bytes: int
    traces: int
    trace_bytes: int
    pointers: int


def dropped(before: StoreStats, after: StoreStats) -> StoreStats:
    """What is not there any more. Pointers are never dropped."""
    return StoreStats(
        before.blobs - after.blobs,
        before.blob_bytes - after.blob_bytes,
        before.traces - after.traces,
        before.trace_bytes - after.trace_bytes,
        pointers=0,
    )


def total(sizes: Iterable[StoreStats]) -> StoreStats:
    """All of them together."""
    columns = list(zip(*sizes, strict=True))
    return StoreStats(*map(sum, columns)) if columns else StoreStats(0, 0, 0, 0, 0)


class NothingToClose:
    """A store with nothing to release, and `with` for it."""

    def close(self) -> None:
        """Nothing happens."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Store(Protocol):
    """Safe for several processes and threads at once, each with an instance of its own. Writes may be gathered until
    `flush`; an instance reads its own writes at once."""

    def get_blob(self, digest: str) -> bytes | None:
        """The bytes of that sha256 hex digest, None if absent. Raises DamagedBlob, StoreError."""
        ...

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Several at once, in the order asked, for planning over a library. Raises StoreError.

        Absent and damaged ones are left out: `get_blob` tells which of the two."""
        ...

    def put_blob(self, data: bytes) -> str:
        """Store and return the sha256 hex digest. Raises StoreError (no space, no right …)."""
        ...

    def get_traces(self, key: str) -> list[bytes]:
        """All traces under the key, newest first; at most `TRACES_PER_KEY`. A damaged one is skipped and dropped."""
        ...

    def get_traces_many(self, keys: Iterable[str]) -> dict[str, list[bytes]]:
        """`get_traces` of several keys at once; keys without a trace are left out."""
        ...

    def trace_keys(self) -> Iterator[str]:
        """The keys that have traces, in no promised order; those added meanwhile may be missing."""
        ...

    def add_trace(self, key: str, trace: bytes) -> None:
        """Make `trace` the newest under the key; the oldest beyond `TRACES_PER_KEY` are dropped."""
        ...

    def get_pointer(self, name: str) -> bytes | None: ...

    def set_pointer(self, name: str, value: bytes, expected: bytes | None, *, lasting: bool = True) -> bool:
        """Move the pointer if it still is `expected` (None: absent). False if it was not.

        Takes effect for everybody at once, and never before what this instance wrote earlier. Over a network an answer
        may be lost and the move asked for again: then False is also said of a move that was made. Who minds looks.

        A store that outlives a power cut has it for good when this returns; not `lasting`: when the next move that is
        has returned, of whichever instance. For what can be made again from what was kept before it."""
        ...

    def delete_pointer(self, name: str, expected: bytes) -> bool:
        """Remove the pointer if it still is `expected`; afterwards it is absent. Else as `set_pointer`."""
        ...

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        """Several at once, for planning over a library; absent names are left out."""
        ...

    def pointer_names(self, prefix: str) -> Iterator[str]:
        """The pointers whose names begin so ("": all), in no promised order.

        They may be many: they are read a page at a time. One that is set or deleted meanwhile may be there or not."""
        ...

    def flush(self) -> None:
        """Make everything that was written so far durable and visible to others. Raises StoreError."""
        ...

    def stats(self) -> StoreStats: ...

    def prune(self, max_bytes: int) -> StoreStats:
        """Drop what was not used for longest until blobs and traces take at most `max_bytes`; pointers stay.

        Returns what was dropped.
        """
        ...

    def sweep(self, keep: Container[str], older_than_s: float, traces: Container[str] | None = None) -> StoreStats:
        """Drop the blobs whose digests are not in `keep` and, unless it is None, the traces whose keys are not in
        `traces`; but nothing that was stored, or stored again, in the last `older_than_s` seconds: who stores something
        names it only afterwards. Returns what was dropped.

        A store may know times by the day only; then what is a day younger still counts as stored just now.
        """
        ...

    def close(self) -> None:
        """Flush and release; the second time nothing. Raises StoreError, released all the same."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
