"""Bundles in the store, by their digest, and what is said where the store has not got one any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pipeline.incremental import bundle
from pipeline.incremental.bundle import Bundle
from pipeline.stores.protocol import DamagedBlob, Store

LostReason = Literal["artifact-missing", "artifact-damaged"]


class Lost(LookupError):
    """A recorded artifact cannot be had any more; running its stage again restores it."""

    def __init__(self, reason: LostReason, digest: str) -> None:
        super().__init__(f"{reason}: {digest}")
        self.reason: LostReason = reason
        self.digest = digest


class Shelf:
    """Puts bundles into a store and takes them out. It remembers which ones were found damaged: the store has dropped
    them, and that is why they are missing."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._damaged: set[str] = set()

    @property
    def damaged(self) -> frozenset[str]:
        """The digests of those that were found damaged, and not stored again since."""
        return frozenset(self._damaged)

    def know_damaged(self, digests: Iterable[str]) -> None:
        """Others have found these damaged."""
        self._damaged.update(digests)

    def put(self, made: Bundle) -> str:
        """Store a bundle and return its digest, "" for an empty one. Raises StoreError."""
        if not any(made):
            return ""
        digest = self.store.put_blob(made.to_bytes())
        self._damaged.discard(digest)
        return digest

    def load(self, digest: str) -> Bundle:
        """The bundle of that digest. Raises Lost, StoreError."""
        if not digest:
            return Bundle()
        try:
            data = self.store.get_blob(digest)
        except DamagedBlob:
            self._damaged.add(digest)
            raise Lost("artifact-damaged", digest) from None
        if data is None:
            raise Lost("artifact-damaged" if digest in self._damaged else "artifact-missing", digest)
        try:
            return bundle.from_bytes(data)
        except (ValueError, TypeError):
            # Whole, but not what its name promises: written by something else.
            raise Lost("artifact-damaged", digest) from None
