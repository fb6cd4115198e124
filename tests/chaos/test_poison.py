"""Given a document whose compile is killed every time, when it is saved, then it ends among the dead letters, and the
others hardly notice."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Final

import pytest

from workers.ledger.records import STAGES

from .installation import Installation
from .waiting import Client, p95

pytestmark = pytest.mark.chaos

POISON: Final = (
    "# 大きい\n\n## フェーズ 1: 見る (使う道具: なし)\n\n" + "- > slack を `見る` と **言う** [a](b)\n" * 450_000
)
"""Three seconds of work in one stage: several times what the limit below allows."""
ATTEMPTS: Final = 3
SAVES: Final = 60

LIMITS: Final = {
    # By the hard limit: the process is killed, so nobody can report it.
    "time": {"AOP_SOFT_TIME_LIMIT_S": "0.9", "AOP_TIME_LIMIT_S": "1"},
    "memory": {"AOP_MAX_MEMORY_MB": "128"},
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_poison_document(tmp_path: Path, limit: str, capfd: pytest.CaptureFixture[str]) -> None:
    """It dies after the cap; meanwhile others' p95 stays within twice what it was before."""
    settings = {
        "AOP_QUIET_MS": "0",
        "AOP_LONGEST_WAIT_MS": "0",
        "AOP_TICK_MS": "20",
        "AOP_LEASE_MS": "1500",
        "AOP_MESSAGE_LOST_MS": "3000",
        "AOP_MOST_ATTEMPTS": str(ATTEMPTS),
        "AOP_MAX_DOCUMENT_BYTES": str(32 << 20),
        "AOP_MAX_BODY_BYTES": str(64 << 20),
        **LIMITS[limit],
    }
    with Installation(tmp_path, settings=settings) as found:
        found.start(*STAGES, "dispatcher", "server")
        client, other = Client(found), Client(found)
        for number in range(10):
            client.latency_s(f"warm/{number}.md")
        idle = [client.latency_s(f"idle/{number}.md") for number in range(SAVES)]

        poison = client.save("poison.md", POISON)
        busy: list[float] = []
        begun = time.monotonic()
        ended = threading.Event()
        thread = threading.Thread(target=_until_dead, args=(found, poison.job, ended))
        thread.start()
        while not ended.is_set() or len(busy) < SAVES:
            busy.append(other.latency_s(f"busy/{len(busy)}.md"))
        thread.join()
        took = time.monotonic() - begun

        job = found.ledger.job(poison.job)
        assert job is not None
        letter = found.archive.dead(poison.job)
        assert (job.state, job.attempts, letter is not None) == ("dead", ATTEMPTS, True)
        assert found.processes.ended() == []
        # Before and after: a machine is not equally fast all the time.
        idle += [client.latency_s(f"idle/{number}.md") for number in range(SAVES, 2 * SAVES)]
        ratio = p95(busy) / p95(idle)
        with capfd.disabled():
            print(  # noqa: T201
                f"\npoison by {limit}: dead after {job.attempts} attempts in {took:.0f} s; {len(busy)} others, "
                f"p95 {p95(busy) * 1_000:.0f} ms, idle {p95(idle) * 1_000:.0f} ms: {ratio:.2f} times"
            )
        assert ratio <= 2
        client.close()
        other.close()


def _until_dead(found: Installation, job: str, ended: threading.Event) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        letter = found.new_archive().dead(job)
        if letter is not None:
            break
        time.sleep(0.2)
    ended.set()
