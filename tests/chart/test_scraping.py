"""A real Prometheus scrapes a running `aop dev`, with our rules, and is asked what the dashboard asks."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import pytest
import yaml

from tests.chart.rendering import ROOT
from tests.chart.test_alerts import ALERTS, DASHBOARD, RULES
from workers.local.servers import free_ports

pytestmark = pytest.mark.chart

WAIT_S: Final = 60.0
Found = TypeVar("Found")


def _until(look: Callable[[], Found | None], what: str) -> Found:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        found = look()
        if found is not None:
            return found
        time.sleep(0.3)
    raise AssertionError(f"not within {WAIT_S:.0f} s: {what}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def exporter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """HOST:PORT of the exporter of a service that has compiled a document."""
    folder = tmp_path_factory.mktemp("procedures")
    shutil.copy(ROOT / "examples" / "onboarding.md", folder)
    said = folder.parent / f"{folder.name}.log"
    with said.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli", "dev", str(folder), "--state", str(folder / ".aop"), "--lang", "en"],
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _until(lambda: re.search("published +onboarding", said.read_text()), f"a published document: {said}")
        found = re.search(r"metrics +http://(\S+)/metrics", said.read_text())
        assert found is not None
        yield found[1]
    finally:
        _end(process)


@pytest.fixture(scope="module")
def prometheus(exporter: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of its HTTP API."""
    folder = tmp_path_factory.mktemp("prometheus")
    program = shutil.which("prometheus")
    assert program is not None, "Debian's package prometheus"
    (port,) = free_ports(1)
    (folder / "prometheus.yml").write_text(
        yaml.safe_dump(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(RULES)],
                "scrape_configs": [
                    {"job_name": "aop", "static_configs": [{"targets": [exporter], "labels": {"namespace": "dev"}}]}
                ],
            }
        ),
        encoding="utf-8",
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                program,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield f"http://127.0.0.1:{port}/api/v1"
    finally:
        _end(process)


def _asked(url: str) -> dict[str, Any] | None:
    """None: it does not answer yet, or not so."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=5)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}")
        answer = connection.getresponse()
        found: dict[str, Any] | None = json.load(answer)["data"] if answer.status == HTTPStatus.OK else None
        return found
    except OSError:
        return None
    finally:
        connection.close()


def _values(prometheus: str, query: str) -> list[dict[str, Any]] | None:
    """None: nothing yet."""
    found = _asked(f"{prometheus}/query?query={quote(query)}")
    return (found or {}).get("result") or None


def test_prometheus_reads_what_is_exported(prometheus: str) -> None:
    """The scrape succeeds, and tells of the job that has ended and of the four stages that ran."""
    (ended,) = _until(lambda: _values(prometheus, 'aop_jobs_total{outcome="succeeded"} > 0'), "a job that succeeded")
    assert ended["metric"]["namespace"] == "dev"
    stages = _until(lambda: _values(prometheus, "sum by (stage) (aop_stage_seconds_count) > 0"), "stages that ran")
    assert {each["metric"]["stage"] for each in stages} == {"parse", "resolve", "generate", "verify"}
    consumers = _until(lambda: _values(prometheus, "aop_consumers >= 1"), "workers that take messages")
    assert len(consumers) == 8


def test_prometheus_evaluates_every_rule(prometheus: str) -> None:
    """Each is in order, and none fires or is about to where all is well."""

    def evaluated() -> list[dict[str, Any]] | None:
        groups = (_asked(f"{prometheus}/rules") or {}).get("groups", [])
        rules = [rule for group in groups for rule in group["rules"]]
        return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None

    _until(lambda: _values(prometheus, "aop_due_documents"), "a first scrape")
    time.sleep(2)  # an evaluation after it
    rules = _until(evaluated, "rules that were evaluated")
    assert {rule["name"]: rule["health"] for rule in rules} == {rule["alert"]: "ok" for rule in ALERTS}
    assert {rule["name"]: rule["state"] for rule in rules} == {rule["alert"]: "inactive" for rule in ALERTS}


def test_prometheus_answers_what_the_dashboard_asks(prometheus: str) -> None:
    """Each panel's question is one, and the panels of queues, stages and documents have an answer."""
    answered = set()
    _until(lambda: _values(prometheus, "rate(aop_stage_seconds_count[1m])"), "two scrapes")
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            query = target["expr"].replace("$__rate_interval", "1m").replace("$namespace", ".*")
            found = _asked(f"{prometheus}/query?query={quote(query)}")
            assert found is not None, target["expr"]
            if found["result"]:
                answered.add(panel["title"])
    assert {"Oldest due document", "Documents", "Messages", "Consumers", "Jobs that end", "Time of a stage"} <= answered
