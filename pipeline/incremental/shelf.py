"""Artifacts in the store, by their digest: the canonical JSON of a value is its blob."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeVar

from pipeline import canonical
from pipeline.stores.protocol import DamagedBlob, Store

T = TypeVar("T")

LostReason = Literal["artifact-missing", "artifact-damaged"]


class Lost(LookupError):
    """A recorded artifact cannot be had any more; running its stage again restores it."""

    def __init__(self, reason: LostReason, digest: str) -> None:
        super().__init__(f"{reason}: {digest}")
        self.reason: LostReason = reason
        self.digest = digest


class Shelf:
    """Puts artifacts into a store and takes them out.

    `damaged`: digests of blobs that were found damaged, and dropped, just now: that is why they are missing.
    """

    def __init__(self, store: Store, damaged: Collection[str] = ()) -> None:
        self.store = store
        self._damaged = damaged

    def put(self, value: object) -> str:
        """Store a value and return its digest. Raises StoreError."""
        return self.store.put_blob(canonical.dumps(value))

    def load(self, digest: str, kind: type[T]) -> T:
        """The value of that digest. Raises Lost, StoreError."""
        try:
            data = self.store.get_blob(digest)
        except DamagedBlob:
            raise Lost("artifact-damaged", digest) from None
        if data is None:
            raise Lost("artifact-damaged" if digest in self._damaged else "artifact-missing", digest)
        try:
            return canonical.loads(data, kind)
        except canonical.UnreadableArtifact:
            # Whole, but not what its name promises: written by something else.
            raise Lost("artifact-damaged", digest) from None
