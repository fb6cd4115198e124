"""Given a document that no worker can take, when it is saved, then it ends among the dead letters and harms nobody."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from workers.ledger.records import Message

from .documents import MULTI
from .installation import Installation

Install = Callable[..., Installation]

MOST_BYTES: Final = str(32 << 20)
GREEDY: Final = (
    "# 大きい\n\n## フェーズ 1: 見る (使う道具: なし)\n\n" + "- > slack を `見る` と **言う** [a](b)\n" * 300_000
)
"""Two seconds of work and half a gigabyte of memory, in one stage: several times what the limits below allow, so that
it is too much on a faster machine as well."""


def test_a_document_that_takes_too_long(install: Install) -> None:
    """Each attempt runs into the soft time limit; then it is dead, in the store too, and a replay compiles it."""
    limits = {"AOP_SOFT_TIME_LIMIT_S": "100", "AOP_TIME_LIMIT_S": "120", "AOP_LEASE_MS": "10000"}
    found = install(**limits, AOP_MAX_DOCUMENT_BYTES=MOST_BYTES).start("resolve", "generate", "verify")
    found.start_one("parse", AOP_SOFT_TIME_LIMIT_S="0.4")
    accepted = found.save("slow.md", GREEDY)
    others = [found.save(f"other-{number}.md", MULTI) for number in range(10)]
    assert [found.outcome(save).status for save in others] == ["succeeded"] * 10
    outcome = found.outcome(accepted)
    job = found.job(accepted.job)
    assert (outcome.status, job.state, job.attempts) == ("dead", "dead", 3)
    assert "AOP_SOFT_TIME_LIMIT_S" in outcome.cause
    letter = found.archive.dead(accepted.job)
    assert letter is not None
    assert (letter.document, letter.stage, letter.cause) == ("slow.md", job.stage, outcome.cause)

    found.stop_one("dispatcher")  # which would tell the store of the death again, had it not yet done so
    found.stop_one("parse")
    found.start_one("parse")
    found.archive.remove_dead(accepted.job)
    message = found.context.ledger.replay(accepted.job)
    assert isinstance(message, Message)
    # It asks for more than a procedure may be: the user's fault at last, and no longer ours.
    assert found.wait(accepted.job).state == "failed"
    outcome = found.outcome(accepted)
    assert (outcome.status, outcome.errors) == ("failed", 1)
    assert found.archive.dead(accepted.job) is None


def test_a_stage_that_is_killed_every_time(install: Install) -> None:
    """The hard limit ends the process, so nobody reports it; the ledger counts, and the reconciler ends it."""
    limits = {"AOP_SOFT_TIME_LIMIT_S": "0.4", "AOP_TIME_LIMIT_S": "0.5"}
    found = install(**limits, AOP_MAX_DOCUMENT_BYTES=MOST_BYTES).start("resolve", "generate", "verify")
    # Deaf to all that it is asked before it is killed, as a child is that does not come back from a library's call.
    with blocked(signal.SIGUSR1, signal.SIGTERM, signal.SIGQUIT):
        found.start_one("parse")
    accepted = found.save("killed.md", GREEDY)
    outcome = found.outcome(accepted)
    job = found.job(accepted.job)
    assert (outcome.status, job.stage, job.attempts) == ("dead", "parse", 3)
    assert "fell silent" in outcome.cause
    assert found.archive.dead(accepted.job) is not None
    assert found.is_running("parse")
    found.kill_one("parse")


@contextmanager
def blocked(*signals: signal.Signals) -> Iterator[None]:
    """Processes that are started meanwhile never get those signals, nor do their children."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_a_document_that_takes_too_much_memory(install: Install) -> None:
    """Asking for more than is allowed is a fault of that attempt; the process goes on."""
    found = install(AOP_MAX_MEMORY_MB="128", AOP_MAX_DOCUMENT_BYTES=MOST_BYTES, AOP_LEASE_MS="10000").start()
    other = found.save("other.md", MULTI)
    accepted = found.save("greedy.md", GREEDY)
    outcome = found.outcome(accepted)
    assert found.outcome(other).status == "succeeded"
    assert outcome.status == "dead"
    assert "AOP_MAX_MEMORY_MB" in outcome.cause
    assert found.outcome(found.save("after.md", MULTI)).status == "succeeded"
