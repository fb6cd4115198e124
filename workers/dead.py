"""Dead letters: jobs that used up their attempts and wait for a person, who replays or drops them.

The ledger decides; the store keeps a copy that outlives Redis, and gives it up after the ledger has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workers.archive import Archive
from workers.ledger.ledger import Ledger
from workers.ledger.records import Job, Message

_ID: Final = re.compile(r"[0-9a-f]{27}")


def dead_jobs(ledger: Ledger, most: int) -> Iterator[Job]:
    """The newest deaths first. Raises RedisError, LedgerLost, LedgerCorrupt."""
    for identity in ledger.dead(most):
        job = ledger.job(identity)
        if job is not None:
            yield job


def dead_job(ledger: Ledger, identity: str) -> Job | None:
    """None: it is not among the dead. `identity`: as somebody typed it. Raises what `dead_jobs` does."""
    job = ledger.job(identity) if _ID.fullmatch(identity) else None
    return job if job is not None and job.state == "dead" else None


def replay(ledger: Ledger, archive: Archive, identity: str) -> Message | None:
    """The job again, from the stage where it died. None: it is not among the dead.

    Raises RedisError, LedgerLost, StoreError, ArchiveContended."""
    message = ledger.replay(identity)
    if message is not None:
        archive.remove_dead(identity)
    return message


def drop(ledger: Ledger, archive: Archive, identity: str) -> bool:
    """Give the job up: its save keeps the outcome *dead*. False: it is not among the dead. Raises what `replay`
    does."""
    dropped = ledger.drop(identity)
    if dropped:
        archive.remove_dead(identity)
    return dropped
