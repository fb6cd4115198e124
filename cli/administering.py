"""What `aop admin` works on, and its faults in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from cli.messages import say
from cli.service import load_settings
from cli.trouble import OutputFault
from workers import logs
from workers.archive import Archive, ArchiveContended
from workers.audit import Audit
from workers.connections import open_ledger, open_redis, open_store
from workers.ledger.ledger import Ledger
from workers.ledger.records import LedgerCorrupt, LedgerLost, LedgerVersion
from workers.records import RecordCorrupt
from workers.settings import Settings

_KEYS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (LedgerLost, "admin.ledger-lost"),
    (LedgerVersion, "admin.ledger-version"),
    (LedgerCorrupt, "admin.record-corrupt"),
    (RecordCorrupt, "admin.record-corrupt"),
    (ArchiveContended, "admin.contended"),
    (RedisError, "admin.redis"),
)


@dataclass(frozen=True, slots=True)
class Administered:
    """The installation that the environment names."""

    settings: Settings
    redis: Redis
    ledger: Ledger
    archive: Archive
    audit: Audit


@contextmanager
def administered() -> Iterator[Administered]:
    """Raises OutputFault for all that Redis and the ledger may do, also from what is done inside; StoreError."""
    settings = load_settings()
    logs.configure(settings, "admin")
    redis = open_redis(settings)
    try:
        with open_store(settings) as store:
            ledger = open_ledger(settings, redis)
            yield Administered(settings, redis, ledger, Archive(store), Audit(store))
    except tuple(kind for kind, _ in _KEYS) as error:
        raise in_words(error) from error
    finally:
        redis.close()


def in_words(error: Exception) -> OutputFault:
    """What is wrong, where, and what to do."""
    key = next(key for kind, key in _KEYS if isinstance(error, kind))
    detail = str(error)
    return OutputFault(say(key, "ja", detail=detail), say(key, "en", detail=detail))


def moment(ms: int | None) -> str:
    """ISO 8601 in UTC, to the second; "" for none."""
    return "" if ms is None else datetime.fromtimestamp(ms / 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
