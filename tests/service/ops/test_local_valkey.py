"""Given a local Valkey, when it is stopped, killed and started, then it keeps its data, its port and its door shut."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, ConnectionError, RedisError

from workers.local.servers import HOST, ServerNotStarted
from workers.local.valkey import Valkey


def test_what_was_written_survives_a_kill(tmp_path: Path) -> None:
    """Also one that comes without a word; the port stays, so that clients find it again."""
    with Valkey(tmp_path) as valkey:
        port = valkey.port
        with valkey.client() as client:
            client.set("a", "b")
        valkey.kill()
        assert valkey.pid is None
        valkey.start()
        assert valkey.port == port
        with valkey.client() as client:
            assert client.get("a") == "b"
        valkey.stop()
        valkey.stop()
        valkey.start()
        with valkey.client() as client:
            assert client.get("a") == "b"


def test_nobody_gets_in_without_the_password(tmp_path: Path) -> None:
    """It listens on the loopback interface only, and its password is in a file that only its owner can read."""
    with Valkey(tmp_path) as valkey:
        with Redis(host=HOST, port=valkey.port) as stranger, pytest.raises(AuthenticationError):
            stranger.get("a")
        with valkey.client() as client:
            assert client.config_get("bind")["bind"] == HOST
            assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
            with pytest.raises(RedisError):
                client.execute_command("DEBUG", "SLEEP", "0")
    assert stat.S_IMODE((tmp_path / "valkey.conf").stat().st_mode) == 0o600


def test_without_persistence_it_forgets(tmp_path: Path) -> None:
    """For tests that want to see what a wiped Redis does."""
    with Valkey(tmp_path, persistent=False) as valkey:
        with valkey.client() as client:
            client.set("a", "b")
        valkey.kill()
        with valkey.client() as client, pytest.raises(ConnectionError):
            client.get("a")
        valkey.start()
        with valkey.client() as client:
            assert client.get("a") is None


def test_one_that_does_not_start_shows_its_log(tmp_path: Path) -> None:
    """With where the log is: the port is taken."""
    with Valkey(tmp_path / "first") as first:
        second = Valkey(tmp_path / "second")
        second.port = first.port
        with pytest.raises(ServerNotStarted, match=r"(?s)valkey\.log:.*bind"):
            second.start()
        assert second.pid is None
