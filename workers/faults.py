"""Which exceptions are system faults: ours or our surroundings', to be tried again. Everything else is a bug."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from billiard.exceptions import SoftTimeLimitExceeded
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from catalog.errors import CatalogError
from pipeline.stores.protocol import StoreError
from workers.archive import ArchiveContended
from workers.catalogs import CatalogMissing
from workers.fetching.faults import FetchError
from workers.ledger.records import LedgerCorrupt, LedgerLost, LedgerVersion
from workers.records import RecordCorrupt

Kind = Literal["elsewhere", "limit", "bug"]


class SaveMissing(Exception):
    """The ledger names a save that the store has not got. The message says which, and what helps."""

    def __init__(self, document: str, sequence: int) -> None:
        super().__init__(
            f"the store has no save {sequence} of {document!r}: it was removed, or this is another store than that of "
            "the server (AOP_STORE)"
        )


WAITED_FOR: Final = (RedisError, LedgerLost, OperationalError)
"""The ledger or the queue does not answer: whoever needs it waits."""

SYSTEM: Final = (
    *WAITED_FOR,
    StoreError,
    ArchiveContended,
    RecordCorrupt,
    LedgerCorrupt,
    LedgerVersion,
    CatalogError,
    CatalogMissing,
    SaveMissing,
    FetchError,
    OSError,
)
"""Something elsewhere is at fault, and may be well again later."""


class Pause(NamedTuple):
    """How long until the next attempt: `first_ms` after the first one, `factor` times as long after each, at most
    `longest_ms`."""

    first_ms: int
    factor: int
    longest_ms: int

    def after(self, attempts: int) -> int:
        """In ms. `attempts`: how many there have been, from 1."""
        pause = self.first_ms
        for _ in range(min(attempts, 32) - 1):
            pause = min(self.longest_ms, pause * self.factor)
        return pause


PAUSES: Final[dict[Kind, Pause]] = {
    # An outage of the store or of another system: five attempts ride out minutes.
    "elsewhere": Pause(2_000, 4, 120_000),
    # Time or memory: waiting does not help, but the next worker may be less busy.
    "limit": Pause(1_000, 2, 30_000),
    # A bug comes again; it must not take workers away from others.
    "bug": Pause(1_000, 4, 120_000),
}


def kind_of(error: BaseException) -> Kind:
    if isinstance(error, SYSTEM):
        return "elsewhere"
    if isinstance(error, MemoryError | RecursionError | SoftTimeLimitExceeded):
        return "limit"
    return "bug"


def cause_of(error: BaseException) -> str:
    """For the ledger, dead letters and logs: one line, bounded."""
    if isinstance(error, SoftTimeLimitExceeded):
        return "the stage took longer than AOP_SOFT_TIME_LIMIT_S"
    if isinstance(error, MemoryError):
        return "the stage needed more memory than AOP_MAX_MEMORY_MB allows"
    text = " ".join(str(error).split())
    named = text if kind_of(error) == "elsewhere" and text else f"{type(error).__name__}: {text}"
    return named[:1_000]
