"""Whether an installation can work: everything it needs is looked at, before it is started or when something is wrong.

Nothing of the installation is changed: what is written to try it has names of its own, and is removed again.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast

from redis import Redis
from redis.exceptions import RedisError

from catalog.errors import CatalogError
from catalog.load import load_layers
from pipeline.diagnostics.lang import Lang
from pipeline.stores.protocol import Store, StoreError
from workers.archive import Archive
from workers.catalogs import Sources
from workers.connections import open_ledger, open_redis, open_store
from workers.ledger.records import LedgerLost, LedgerVersion
from workers.preflight_texts import text_of
from workers.settings import Settings

State: TypeAlias = Literal["ok", "warning", "problem"]
Subject: TypeAlias = Literal["settings", "redis", "clock", "store", "ledger", "catalog"]

LEAST_REDIS: Final = (6, 2)
LEAST_VALKEY: Final = (7, 2)
MOST_APART_MS: Final = 1_000
"""Times in the ledger are Redis' own; what people and stores see is the machines'."""
FAR_APART_MS: Final = 60_000
_LANGS: Final[tuple[Lang, ...]] = ("ja", "en")
_BYTES: Final = b"aop admin preflight"
_TRY: Final = "redis.call('SET', KEYS[1], ARGV[1], 'PX', 60000) return redis.call('GETDEL', KEYS[1])"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `texts`: the sentence in each language."""

    subject: Subject
    state: State
    key: str
    texts: dict[Lang, str]


def _check(subject: Subject, state: State, key: str, **arguments: object) -> Check:
    words = {name: str(value) for name, value in arguments.items()}
    return Check(subject, state, key, {lang: text_of(key, lang, words) for lang in _LANGS})


def preflight(settings: Settings) -> Iterator[Check]:
    """All checks, in the order in which one needs the other. Raises nothing of what it looks for."""
    yield _check("settings", "ok", "settings")
    redis = open_redis(settings)
    try:
        reached = True
        for check in _redis(redis, settings.redis_prefix):
            yield check
            reached = reached and check.key != "redis-unreachable"
        try:
            store = open_store(settings)
        except StoreError as error:
            yield _store_fails(error)
            yield _check("ledger", "problem", "skipped", needs="store")
        else:
            with store:
                yield _store(store, settings.store)
                yield (
                    _ledger(settings, redis, store)
                    if reached
                    else _check("ledger", "problem", "skipped", needs="Redis")
                )
    finally:
        redis.close()
    yield _catalog(settings)


# --------------------------------------------------------------------------------------------------------- redis


@dataclass(frozen=True, slots=True)
class _Server:
    """What INFO says."""

    facts: dict[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.facts.get("server_name", "redis")).capitalize()

    @property
    def version(self) -> str:
        return str(self.facts.get("valkey_version") or self.facts.get("redis_version", "0"))

    @property
    def least(self) -> tuple[int, int]:
        return LEAST_VALKEY if "valkey_version" in self.facts else LEAST_REDIS

    def number(self, name: str) -> int:
        return int(str(self.facts.get(name, 0)))


def _redis(redis: Redis, prefix: str) -> Iterator[Check]:
    try:
        server = _Server(cast("dict[str, object]", redis.info()))
        before = time.time()
        seconds, microseconds = redis.time()
        after = time.time()
    except RedisError as error:
        yield _check("redis", "problem", "redis-unreachable", detail=error)
        return
    yield _version(server)
    if server.number("cluster_enabled"):
        yield _check("redis", "problem", "redis-cluster")
    yield _writes(redis, prefix)
    yield _memory(server)
    lasting = server.number("aof_enabled")
    yield _check("redis", "ok", "redis-lasting") if lasting else _check("redis", "warning", "redis-forgets")
    apart = abs((before + after) / 2 - (seconds + microseconds / 1e6)) - (after - before) / 2
    yield _clock(max(0, round(apart * 1_000)))


def _version(server: _Server) -> Check:
    numbers = tuple(int(number) for number in re.findall(r"\d+", server.version)[:2])
    if numbers < server.least:
        least = ".".join(map(str, server.least))
        return _check("redis", "problem", "redis-old", server=server.name, version=server.version, least=least)
    return _check("redis", "ok", "redis", server=server.name, version=server.version)


def _writes(redis: Redis, prefix: str) -> Check:
    key, value = f"{prefix}:preflight:{secrets.token_hex(8)}", secrets.token_hex(8)
    try:
        read = redis.eval(_TRY, 1, key, value)
    except RedisError as error:
        return _check("redis", "problem", "redis-rights", prefix=prefix, detail=error)
    if read != value:
        return _check("redis", "problem", "redis-rights", prefix=prefix, detail="GETDEL")
    return _check("redis", "ok", "redis-writes", prefix=prefix)


def _memory(server: _Server) -> Check:
    policy, limit = str(server.facts.get("maxmemory_policy", "noeviction")), server.number("maxmemory")
    if policy != "noeviction":
        return _check("redis", "problem", "redis-evicts", policy=policy)
    if not limit:
        return _check("redis", "warning", "redis-unbounded")
    return _check("redis", "ok", "redis-memory", limit=limit)


def _clock(apart_ms: int) -> Check:
    if apart_ms > MOST_APART_MS:
        return _check("clock", "problem" if apart_ms > FAR_APART_MS else "warning", "clock-apart", ms=apart_ms)
    return _check("clock", "ok", "clock", ms=apart_ms)


# -------------------------------------------------------------------------------------------------- store, ledger


def _store_fails(error: StoreError) -> Check:
    return Check("store", "problem", "store-fails", {lang: error.text(lang) for lang in _LANGS})


def _store(store: Store, where: str) -> Check:
    """A pointer is moved as publishing moves it: what expects something else than is there must be refused."""
    name = f"preflight/{secrets.token_hex(16)}"
    try:
        digest = store.put_blob(_BYTES)
        store.flush()
        try:
            kept = (
                store.set_pointer(name, b"1", None)
                and not store.set_pointer(name, b"2", None)
                and not store.set_pointer(name, b"2", b"3")
                and store.set_pointer(name, b"4", b"1")
                and store.get_pointer(name) == b"4"
                and store.get_blob(digest) == _BYTES
            )
        finally:
            left = store.get_pointer(name)
            if left is not None:
                store.delete_pointer(name, left)
    except StoreError as error:
        return _store_fails(error)
    return _check("store", "ok" if kept else "problem", "store" if kept else "store-careless", where=where)


def _ledger(settings: Settings, redis: Redis, store: Store) -> Check:
    try:
        open_ledger(settings, redis).open()
    except LedgerLost:
        try:
            known = next(Archive(store).documents(), None)
        except StoreError as error:
            return _store_fails(error)
        if known is None:
            return _check("ledger", "ok", "ledger-new")
        return _check("ledger", "problem", "ledger-lost")
    except LedgerVersion as error:
        return _check("ledger", "problem", "ledger-version", detail=error)
    except RedisError as error:
        return _check("ledger", "problem", "redis-unreachable", detail=error)
    return _check("ledger", "ok", "ledger")


def _catalog(settings: Settings) -> Check:
    try:
        layers = load_layers(own=Sources(settings.catalog_folder).own())
    except CatalogError as error:
        return Check("catalog", "problem", "catalog-wrong", {lang: error.message(lang) for lang in _LANGS})
    return _check("catalog", "ok", "catalog", tools=len(layers.tools))
