"""Given a server, when one document is saved 500 times, or a message comes again or is forged, then there is no more to
do than there should be."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import httpx2
import pytest

from workers.ledger.records import STAGES

from .checks import Judge
from .installation import PREFIX, Installation
from .processes import until
from .senders import signed
from .waiting import Client, Saved

pytestmark = pytest.mark.chaos

BURST: Final = 500
BURST_S: Final = 5.0
MOST_COMPILES: Final = 3
HOOK: Final = "/v1/hooks/document-saved"


def test_a_burst_of_saves_is_compiled_at_most_three_times(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """500 saves of one document in 5 s, with the quiet time as it is shipped; the last one is published."""
    with Installation(tmp_path, settings={"AOP_QUIET_MS": "2000", "AOP_LONGEST_WAIT_MS": "10000"}) as found:
        found.start(*STAGES, "dispatcher", "server")
        local = threading.local()

        def save(number: int) -> Saved:
            time.sleep(max(0.0, begun + number * BURST_S / BURST - time.monotonic()))
            if not hasattr(local, "client"):
                local.client = Client(found)
            client: Client = local.client
            return client.save("burst.md")

        begun = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            saves = list(pool.map(save, range(BURST)))
        took = time.monotonic() - begun
        last = max(saves, key=lambda saved: saved.sequence)
        Client(found).wait(last)
        until(lambda: not any(found.ledger.depths().values()), 30, "nothing is under way")
        until(lambda: not found.ledger.unrecorded(), 30, "every end is recorded")

        outcomes = [found.archive.outcome("burst.md", saved.sequence) for saved in saves]
        counts = Counter("none" if outcome is None else outcome.status for outcome in outcomes)
        published = found.archive.published("burst.md")
        assert published is not None
        with capfd.disabled():
            print(f"\na burst of {BURST} saves in {took:.1f} s: {dict(counts)}")  # noqa: T201
        assert counts.keys() <= {"succeeded", "superseded"}
        assert counts["succeeded"] <= MOST_COMPILES
        assert published.sequence == last.sequence
        output = found.archive.output(published.output)
        assert output is not None
        assert output.files == Judge().compile("burst.md", last.text.encode()).files


def test_replays_make_no_second_job_and_forgeries_none(tmp_path: Path) -> None:
    """The same message twenty times, also at once, is one job; what is not signed as it should be is none."""
    with Installation(tmp_path) as found:
        found.start("server")

        def event(document: str) -> str:
            data = {"document_id": document, "revision": 1, "content": "# 文書\n"}
            return json.dumps({"type": "document.saved", "data": data})

        def post(body: str, headers: dict[str, str]) -> httpx2.Response:
            return httpx2.post(f"{found.url}{HOOK}", content=body.encode(), headers=headers, timeout=30)

        body = event("replayed.md")
        headers = signed("msg_1", body)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: post(body, headers), range(20)))
        answers.append(post(body, signed("msg_1", body)))
        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["job_id"] for answer in answers}) == 1
        assert _jobs(found) == {"replayed.md": 1}

        other, now = event("forged.md"), time.time()
        wrong = "whsec_" + "QUJD" * 8
        forgeries = {
            "another secret": signed("msg_2", other, secret=wrong),
            "a replayed signature": headers,
            "another id": {**signed("msg_2", other), "webhook-id": "msg_3"},
            "an old time": signed("msg_2", other, at=now - 3_600),
            "a time to come": signed("msg_2", other, at=now + 3_600),
            "no signature": {"content-type": "application/json"},
            "another time": {**signed("msg_2", other), "webhook-timestamp": str(int(now) - 1)},
        }
        assert {what: post(other, given).status_code for what, given in forgeries.items()} == dict.fromkeys(
            forgeries, 401
        )
        assert _jobs(found) == {"replayed.md": 1}


def _jobs(found: Installation) -> dict[str, int]:
    keys = found.redis.scan_iter(f"{PREFIX}:job:*")
    # A replay that came while the first one was being accepted was stored, and has no job.
    return dict(Counter(str(found.redis.hget(key, "document")) for key in keys))
