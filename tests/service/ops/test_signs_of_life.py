"""Given a process, when it is well or not, then its probe files and the list of consumers say so."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr
from redis import Redis

from workers import pulse as pulse_module
from workers.connections import open_redis
from workers.local.valkey import Valkey
from workers.probes import ALIVE, READY, Probe, age_s
from workers.pulse import FORGOTTEN_S, Consumers, Pulse
from workers.queues import QUEUES
from workers.settings import Settings


@pytest.fixture
def consumers(redis: Redis) -> Consumers:
    return Consumers(redis, f"test-{uuid4().hex}")


def test_a_probe_is_as_old_as_its_last_touch(tmp_path: Path) -> None:
    """None before the first one and after it was cleared; its folder is made."""
    folder = tmp_path / "run" / "probes"
    probe = Probe(folder, ALIVE)
    assert age_s(folder, ALIVE) is None
    probe.touch()
    fresh = age_s(folder, ALIVE)
    assert fresh is not None
    assert fresh < 30
    os.utime(folder / ALIVE, (0, (folder / ALIVE).stat().st_mtime - 60))
    old = age_s(folder, ALIVE)
    assert old is not None
    assert old >= 60
    probe.touch()
    again = age_s(folder, ALIVE)
    assert again is not None
    assert again < 30
    probe.clear()
    probe.clear()
    assert age_s(folder, ALIVE) is None


def test_a_clock_that_was_set_back_makes_no_probe_old(tmp_path: Path) -> None:
    """An age below zero would be taken for a mistake."""
    Probe(tmp_path, READY).touch()
    os.utime(tmp_path / READY, (4_000_000_000, 4_000_000_000))
    assert age_s(tmp_path, READY) == 0


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a developer's machine, where nobody asks."""
    monkeypatch.chdir(tmp_path)
    probe = Probe(None, ALIVE)
    probe.touch()
    probe.clear()
    assert list(tmp_path.iterdir()) == []


def test_consumers_are_counted_by_queue(consumers: Consumers) -> None:
    """Also the queues that nobody takes from: that is what an alert looks for."""
    consumers.beat("a", ("parse.interactive", "parse.bulk"))
    consumers.beat("b", ("parse.interactive",))
    consumers.beat("b", ("parse.interactive",))
    assert consumers.count(QUEUES) == {**dict.fromkeys(QUEUES, 0), "parse.interactive": 2, "parse.bulk": 1}
    consumers.leave("a")
    assert consumers.count(("parse.interactive", "parse.bulk")) == {"parse.interactive": 1, "parse.bulk": 0}


def test_a_silent_consumer_is_forgotten(consumers: Consumers, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Redis's clock, whoever asks; its entry goes, so that killed workers do not pile up."""
    consumers.beat("killed", ("parse.bulk",))
    monkeypatch.setattr(pulse_module, "FORGOTTEN_S", -1.0)
    assert consumers.count(("parse.bulk",)) == {"parse.bulk": 0}
    monkeypatch.setattr(pulse_module, "FORGOTTEN_S", FORGOTTEN_S)
    assert consumers.redis.hlen(consumers._key) == 0


def test_a_process_lives_and_leaves(consumers: Consumers, tmp_path: Path) -> None:
    """Alive and ready while it beats, neither when it has ended; its name is its own."""
    pulse = Pulse(consumers, tmp_path, "worker-parse", ("parse.bulk",))
    pulse.beat()
    assert {path.name for path in tmp_path.iterdir()} == {ALIVE, READY}
    assert consumers.redis.hkeys(consumers._key) == [pulse.name]
    assert pulse.name.endswith(f":{os.getpid()}")
    pulse.end()
    assert list(tmp_path.iterdir()) == []
    assert consumers.redis.hkeys(consumers._key) == []


def test_without_redis_a_process_is_alive_and_not_ready(tmp_path: Path) -> None:
    """It must not be restarted for an outage elsewhere, and is ready again by itself."""
    with Valkey(tmp_path / "redis") as valkey:
        redis = open_redis(Settings(redis_url=SecretStr(valkey.url)))
        pulse = Pulse(Consumers(redis, "p"), tmp_path / "probes", "dispatcher")
        pulse.beat()
        assert age_s(tmp_path / "probes", READY) is not None
        valkey.kill()
        os.utime(tmp_path / "probes" / ALIVE, (0, 0))
        pulse.beat()
        assert age_s(tmp_path / "probes", READY) is None
        alive = age_s(tmp_path / "probes", ALIVE)
        assert alive is not None
        assert alive < 30
        valkey.start()
        pulse.beat()
        assert age_s(tmp_path / "probes", READY) is not None
        valkey.kill()
        pulse.end()
        assert list((tmp_path / "probes").iterdir()) == []
        redis.close()
