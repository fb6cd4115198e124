"""Given an installation, when Prometheus scrapes the exporter, then it gets figures, or sees that there are none."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from workers.connections import open_store
from workers.ledger.ledger import Ledger
from workers.local.servers import free_ports
from workers.settings import Settings
from workers.tokens import Tokens

from ..saving import wipe
from ..waiting import until


@contextmanager
def exporter(settings: Settings, folder: Path) -> Iterator[str]:
    """`aop exporter` as a process of its own; the address of its figures. It must end with status 0."""
    (port,) = free_ports(1)
    log = folder / "exporter.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli", "exporter"],
            env={
                **os.environ,
                "AOP_REDIS_URL": settings.redis_url.get_secret_value(),
                "AOP_REDIS_PREFIX": settings.redis_prefix,
                "AOP_STORE": settings.store,
                "AOP_EXPORTER_PORT": str(port),
                "AOP_METRICS_FOLDER": str(folder / "metrics"),
                "AOP_PROBE_FOLDER": str(folder / "probes"),
            },
            stderr=output,
        )
    try:
        until(lambda: b"/metrics" in log.read_bytes(), told=log.read_text)
        yield f"http://127.0.0.1:{port}/metrics"
    finally:
        process.terminate()
        status = process.wait(timeout=120)
    assert status == 0, log.read_text()
    assert "Traceback" not in log.read_text()


def scrape(url: str) -> dict[str, float]:
    """Value by name and labels."""
    answer = httpx2.get(url, timeout=120).raise_for_status()
    return {
        f"{sample.name}{sorted(sample.labels.values())}": sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_a_lost_ledger_fails_the_scrape_until_it_is_there_again(
    service_settings: Settings, redis: Redis, tmp_path: Path
) -> None:
    """`up` is 0 then. The exporter goes on by itself, and is alive and ready all the while: Redis answers."""
    ledger = Ledger(redis, service_settings.redis_prefix)
    ledger.open(fresh=True)
    with exporter(service_settings, tmp_path) as url:
        assert scrape(url)["aop_dead_letters[]"] == 0
        wipe(redis, ledger)
        assert httpx2.get(url, timeout=120).status_code == 503
        assert {path.name for path in (tmp_path / "probes").iterdir()} == {"alive", "ready"}
        ledger.open(fresh=True)
        assert scrape(url)["aop_dead_letters[]"] == 0
    assert list((tmp_path / "probes").iterdir()) == []


def test_the_expiry_of_tokens_is_shown_by_their_names(service_settings: Settings, redis: Redis, tmp_path: Path) -> None:
    """Those that expire and were not revoked; a token's id and secret are not shown."""
    Ledger(redis, service_settings.redis_prefix).open(fresh=True)
    with open_store(service_settings) as store:
        tokens = Tokens(store, redis, service_settings.redis_prefix)
        soon = int(time.time() * 1_000) + 3_600_000
        tokens.create(name="ci", scopes=("documents:read",), expires_ms=soon)
        tokens.create(name="for ever", scopes=("documents:read",))
        revoked, _ = tokens.create(name="gone", scopes=("documents:read",), expires_ms=soon)
        tokens.revoke(revoked.id)
    with exporter(service_settings, tmp_path) as url:
        found = {name: value for name, value in scrape(url).items() if name.startswith("aop_token_expiry_seconds")}
    assert list(found) == ["aop_token_expiry_seconds['ci']"]
    assert 3_000 < found["aop_token_expiry_seconds['ci']"] <= 3_600


@pytest.mark.parametrize(
    ("command", "variable"),
    [("exporter", "AOP_EXPORTER_PORT"), ("dispatcher", "AOP_METRICS_PORT"), ("server", "AOP_PORT")],
)
def test_a_port_that_is_taken_is_named(command: str, variable: str, service_settings: Settings) -> None:
    """Exit status 2 and the address, not only that one is in use."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "cli", command],
            env={
                **os.environ,
                "AOP_REDIS_URL": service_settings.redis_url.get_secret_value(),
                "AOP_STORE": service_settings.store,
                variable: port,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert f"127.0.0.1:{port}: " in done.stderr
    assert "Traceback" not in done.stderr
