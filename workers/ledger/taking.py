"""What a worker begins, as the ledger answers it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from workers.ledger.records import Begun, Lease, Refusal, Stage, job_of


@dataclass(slots=True)
class Taking:
    """What a worker would begin next: what the first message on one of the `queues` is for, which is taken from there;
    the first of them that has a message counts. `answer`: of the ledger, () before it was asked."""

    worker: str
    queues: Sequence[str] = ()
    answer: Sequence[str] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(16))

    def begun(self, stage: Stage) -> Begun | None:
        """None: there was none, or one that Celery must look at. Raises LedgerCorrupt."""
        nothing = not self.answer or self.answer[0] == "none"
        return None if nothing else begun_of(self.answer, stage, self.token)


def begun_of(answer: Sequence[str], stage: Stage, token: str) -> Begun:
    """Raises LedgerCorrupt."""
    if answer[0] != "run":
        return cast("Refusal", answer[0])
    _, job, catalog, *fields = answer
    return Lease(job_of(job, dict(zip(fields[::2], fields[1::2], strict=True))), stage, token, catalog)
