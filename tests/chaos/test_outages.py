"""Given saves that are under way, when Redis restarts twice in a row, or is away for a minute, then all go on by
themselves."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from workers.ledger.records import STAGES

from .installation import Installation
from .processes import until
from .waiting import Client

pytestmark = pytest.mark.chaos

OUTAGE_S = 60


def test_redis_restarts_twice_and_is_away_for_a_minute(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No process is started again; what was accepted before is published, and so is what comes after."""
    names = (*STAGES, "dispatcher", "server")
    with Installation(tmp_path) as found:
        found.start(*names)
        client = Client(found)
        client.wait(client.save("first.md"))
        saves = [client.save(f"twice/{number}.md") for number in range(20)]
        for _ in range(2):
            found.valkey.kill()
            found.valkey.start()
        for saved in saves:
            client.wait(saved)
        saves = [client.save(f"outage/{number}.md") for number in range(20)]
        found.valkey.kill()
        time.sleep(OUTAGE_S)
        found.valkey.start()
        back = time.monotonic()
        for saved in saves:
            client.wait(saved)
        waited = time.monotonic() - back
        client.wait(client.save("after.md"))
        assert found.processes.ended() == []
        until(lambda: not any(found.ledger.depths().values()), 30, "nothing is under way")
        with capfd.disabled():
            print(f"\nan outage of {OUTAGE_S} s: 20 documents were published {waited:.1f} s after it")  # noqa: T201
        client.close()
