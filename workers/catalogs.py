"""The catalog that workers compile with: compiled once by a dispatcher, read from the store by everybody.

`catalog/current` says which one is current, and Redis says it faster (`P:catalog`). A job takes the current one when it
is parsed and keeps it to its end, so `catalog/DIGEST` keeps the earlier ones.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Final, cast

from pydantic import Field
from redis import Redis

from catalog.cache import LOADER_VERSION
from catalog.compile import encode
from catalog.compiled import Entry, decode
from catalog.errors import CatalogError
from catalog.load import load_layers
from catalog.lock import Lock, lock_of
from catalog.own import IMPORTED, LOCK_FILE, ORGANISATION, Own, find_own
from catalog.reading import read_if_there
from catalog.snapshot import Catalog
from pipeline.stores.protocol import Store
from workers.records import Digest, MaybeDigest, Record
from workers.settings import Settings

CURRENT: Final = "catalog/current"
KEPT: Final = 3
"""So many catalogs a process keeps loaded: the current one, and those that running jobs began with."""


class CatalogRecord(Record):
    """`digest`: of all that it says (`Catalog.digest`). `blob`: the compiled tools, which `loader` reads. `lock`: the
    blob of the lock as it was read, "" where there is none."""

    digest: Digest
    blob: Digest
    lock: MaybeDigest = ""
    loader: Annotated[str, Field(max_length=32)]


class CatalogMissing(Exception):
    """No catalog of that digest can be loaded from the store. The message says why, and what helps."""


def pointer_of(digest: str) -> str:
    return f"catalog/{digest}"


# ------------------------------------------------------------------------------------------------- who publishes


@dataclass(frozen=True, slots=True)
class Sources:
    """The files that an installation's catalog comes from. `folder` None: only what is shipped."""

    folder: Path | None
    cache: Path | None = None

    def own(self) -> Own:
        return Own() if self.folder is None else find_own(self.folder)

    def lock_file(self) -> Path | None:
        return None if self.folder is None else self.folder / LOCK_FILE

    def stamp(self) -> tuple[tuple[str, int, int, int], ...]:
        """Another one once a file came, went or changed."""
        if self.folder is None:
            return ()
        own = self.own()
        files = [*own.imported, *own.organisation, self.folder / ORGANISATION, self.folder / LOCK_FILE]
        found = []
        for path in (*files, self.folder / IMPORTED):
            try:
                status = path.stat()
            except OSError:
                continue
            found.append((os.fspath(path), status.st_mtime_ns, status.st_size, status.st_ino))
        return tuple(found)


def publish_catalog(sources: Sources, store: Store, redis: Redis, prefix: str) -> str:
    """Make what the files say the current catalog; the digest. Doing it again changes nothing.

    Raises CatalogError (a file is wrong: the earlier catalog stays the current one), StoreError, RedisError.
    """
    lock_file = sources.lock_file()
    locked = None if lock_file is None else read_if_there(lock_file)
    # Read once, so that what is stored is what has the digest.
    entries = [layered.entry for layered in load_layers(cache_dir=sources.cache, own=sources.own()).tools.values()]
    catalog = Catalog(entries, partial(list[Entry], entries))
    if locked is not None and lock_file is not None:
        catalog = catalog.with_lock(lock_of(lock_file, locked))
    digest = catalog.digest
    record = CatalogRecord(
        digest=digest,
        blob=store.put_blob(encode(entries)),
        lock="" if locked is None else store.put_blob(locked),
        loader=LOADER_VERSION,
    ).to_bytes()
    for name in (pointer_of(digest), CURRENT):
        _set(store, name, record)
    if redis.get(redis_key(prefix)) != digest:
        redis.set(redis_key(prefix), digest)
    return digest


def _set(store: Store, name: str, value: bytes) -> None:
    """Whatever it was before: who publishes at the same time has read the same files, or newer ones comes again."""
    before = store.get_pointer(name)
    while before != value and not store.set_pointer(name, value, before):
        before = store.get_pointer(name)


def redis_key(prefix: str) -> str:
    return f"{prefix}:catalog"


# ------------------------------------------------------------------------------------------------------ who uses


@dataclass(slots=True)
class Catalogs:
    """A process's loaded catalogs. May raise StoreError, RedisError."""

    store: Store
    redis: Redis
    prefix: str
    _loaded: OrderedDict[str, Catalog] = field(default_factory=OrderedDict)

    def current(self) -> str:
        """The digest of the catalog that a job begins with now. Raises CatalogMissing."""
        known = cast("str | None", self.redis.get(redis_key(self.prefix)))
        if known:
            return known
        pointer = self.store.get_pointer(CURRENT)
        if pointer is None:
            raise CatalogMissing("no catalog has been published: start a dispatcher (aop dispatcher)")
        return CatalogRecord.from_bytes(pointer, CURRENT).digest

    def is_known(self) -> bool:
        """Whether Redis says which catalog is current."""
        return bool(self.redis.exists(redis_key(self.prefix)))

    def get(self, digest: str) -> Catalog:
        """Raises CatalogMissing, RecordCorrupt."""
        found = self._loaded.get(digest)
        if found is None:
            found = self._loaded[digest] = self._load(digest)
            while len(self._loaded) > KEPT:
                self._loaded.popitem(last=False)
        self._loaded.move_to_end(digest)
        return found

    def _load(self, digest: str) -> Catalog:
        name = pointer_of(digest)
        pointer = self.store.get_pointer(name)
        if pointer is None:
            raise CatalogMissing(f"the store has no {name}: compile the document again with the current catalog")
        record = CatalogRecord.from_bytes(pointer, name)
        if record.loader != LOADER_VERSION:
            raise CatalogMissing(
                f"{name} was compiled by another version of aop (format {record.loader}, this one reads "
                f"{LOADER_VERSION}): the job goes on where that version runs, or once it runs everywhere"
            )
        compiled = self._blob(record.blob, name)
        entries = decode(lambda offset, size: compiled[offset : offset + size])
        if entries is None:
            raise CatalogMissing(f"{name}: blob {record.blob} is no compiled catalog")
        # Read and verified as one blob, so no entry can turn out to be damaged later.
        catalog = Catalog(entries, partial(list[Entry], entries))
        return catalog if not record.lock else catalog.with_lock(self._lock(record.lock, name))

    def _lock(self, digest: str, name: str) -> Lock:
        try:
            return lock_of(Path(LOCK_FILE), self._blob(digest, name))
        except CatalogError as error:
            raise CatalogMissing(f"{name}: {error}") from error

    def _blob(self, digest: str, name: str) -> bytes:
        found = self.store.get_blob(digest)
        if found is None:
            raise CatalogMissing(f"{name}: the store has lost blob {digest}; a dispatcher that starts restores it")
        return found


def sources_of(settings: Settings, cache: Path | None = None) -> Sources:
    return Sources(settings.catalog_folder, cache)
