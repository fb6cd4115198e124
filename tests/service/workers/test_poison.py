"""Given a document that no worker can take, when it is saved, then it ends among the dead letters and harms nobody."""

from __future__ import annotations

from collections.abc import Callable

from workers.ledger.records import Message

from .documents import MULTI, large
from .installation import Installation

Install = Callable[..., Installation]


def test_a_document_that_takes_too_long(install: Install) -> None:
    """Each attempt runs into the soft time limit; then it is dead, in the store too, and a replay compiles it."""
    found = install(AOP_SOFT_TIME_LIMIT_S="0.05", AOP_TIME_LIMIT_S="10").start("resolve", "generate", "verify")
    found.start_one("parse")
    text = large(2_000, 12)
    accepted = found.save("slow.md", text)
    others = [found.save(f"other-{number}.md", MULTI) for number in range(10)]
    assert [found.outcome(save).status for save in others] == ["succeeded"] * 10
    outcome = found.outcome(accepted)
    job = found.job(accepted.job)
    assert (outcome.status, job.state, job.attempts) == ("dead", "dead", 3)
    assert "AOP_SOFT_TIME_LIMIT_S" in outcome.cause
    letter = found.archive.dead(accepted.job)
    assert letter is not None
    assert (letter.document, letter.stage, letter.cause) == ("slow.md", job.stage, outcome.cause)

    for stage in ("parse", "resolve", "generate", "verify"):
        found.stop_one(stage)
        found.start_one(stage, AOP_SOFT_TIME_LIMIT_S="60", AOP_TIME_LIMIT_S="75")
    found.archive.remove_dead(accepted.job)
    message = found.context.ledger.replay(accepted.job)
    assert isinstance(message, Message)
    found.send(message, "")
    assert found.wait(accepted.job).state == "succeeded"
    found.until(lambda: (now := found.archive.outcome("slow.md", accepted.sequence)) and now.status == "succeeded")
    assert found.archive.dead(accepted.job) is None


def test_a_stage_that_is_killed_every_time(install: Install) -> None:
    """The hard limit ends the process, so nobody reports it; the ledger counts, and the reconciler ends it."""
    # Above the hard limit no soft one is felt: the child is killed in the middle of its work.
    found = install(AOP_SOFT_TIME_LIMIT_S="0.01", AOP_TIME_LIMIT_S="0.02").start()
    accepted = found.save("killed.md", large(3_000, 10))
    outcome = found.outcome(accepted, 60)
    assert outcome.status == "dead"
    assert found.archive.dead(accepted.job) is not None
    assert found.is_running("parse")


def test_a_document_that_takes_too_much_memory(install: Install) -> None:
    """Asking for more than is allowed is a fault of that attempt; the process goes on."""
    found = install(AOP_MAX_MEMORY_MB="128", AOP_MAX_DOCUMENT_BYTES=str(16 << 20)).start()
    other = found.save("other.md", MULTI)
    text = "".join(f"## フェーズ {n}: 仕事 (使う道具: slack の notify)\n\nA\n\n" for n in range(1, 9_000))
    accepted = found.save("greedy.md", "# 大きい\n\n" + text + "字" * (5 << 20))
    outcome = found.outcome(accepted, 90)
    assert found.outcome(other).status == "succeeded"
    assert outcome.status == "dead"
    assert "memory" in outcome.cause
    assert found.outcome(found.save("after.md", MULTI)).status == "succeeded"
