"""The start commands of the chart's pods, in the image, as a container runs them: probes, and the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

import pytest

from tests.chart.rendering import Object, changed, ours, pod_of, render
from tests.chart.test_settings import environment
from tests.container.confined import Built, wall
from tests.service.workers.documents import MULTI
from tests.service.workers.installation import Installation
from workers.ledger.records import STAGES
from workers.local.seaweedfs import SeaweedFS
from workers.local.servers import HOST, free_ports
from workers.local.valkey import Valkey
from workers.queues import queue_key

pytestmark = pytest.mark.container

WAIT_S: Final = 90.0
LONG: Final = "# 長い\n\n## フェーズ 1: 見る (使う道具: なし)\n\n" + "- slack を `見る` と **言う** [a](b)\n" * 300_000
"""Seconds of work in the first stage, which then says that it is more than a procedure may have."""


class Container:
    """A pod's container. `run`: the folder that stands for /run/aop."""

    def __init__(self, image: Built, spec: Object, variables: Mapping[str, str], folder: Path) -> None:
        self._image = image
        self._spec = spec
        self._variables = variables
        self.run = folder / "run"
        self.run.mkdir(parents=True)
        self.log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def _binds(self) -> dict[str, tuple[Path, bool]]:
        return {**self._image.binds(), "/run/aop": (self.run, True)}

    def start(self) -> None:
        reading, writing = os.pipe()
        options = ["--as-pid-1", "--info-fd", str(writing)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *wall(self._binds(), folder=self._image.workdir, options=options),
                    *self._image.entrypoint,
                    *self.arguments,
                ],
                env=self._image.variables(self._variables),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[writing],
            )
        os.close(writing)
        with os.fdopen(reading) as said:
            self._pid = json.load(said)["child-pid"]

    @property
    def port(self) -> int:
        return int(self._variables["AOP_PORT"])

    @property
    def arguments(self) -> list[str]:
        return list(self._spec["args"])

    def passes(self, probe: str) -> bool:
        """As a kubelet asks."""
        asked = self._spec[probe]
        if "exec" in asked:
            command = [*wall(self._binds()), *asked["exec"]["command"]]
            done = subprocess.run(command, env=self._image.variables({}), check=False, timeout=20)
            return done.returncode == 0
        connection = HTTPConnection(HOST, self.port, timeout=asked.get("timeoutSeconds", 1))
        try:
            connection.request("GET", asked["httpGet"]["path"])
            return connection.getresponse().status == HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()

    def until(self, probe: str, passes: bool) -> None:
        end = time.monotonic() + WAIT_S
        while self.passes(probe) is not passes:
            tail = self.log.read_text(errors="replace")[-3_000:]
            assert time.monotonic() < end, f"{self.arguments}: {probe} did not become {passes}\n{tail}"
            time.sleep(0.5)

    def end(self) -> tuple[int, float]:
        """Asked as a kubelet asks: its status, and after how many seconds."""
        assert self._process is not None
        begun = time.monotonic()
        os.kill(self._pid, signal.SIGTERM)
        status = self._process.wait(timeout=WAIT_S)
        return status, time.monotonic() - begun

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(timeout=10)


class Cluster:
    """What the chart renders for a trial, with a real Valkey and a real S3 server in place of the bundled ones."""

    def __init__(self, image: Built, folder: Path, resources: ExitStack) -> None:
        self._image = image
        self._folder = folder
        self._resources = resources
        self.valkey = resources.enter_context(Valkey(folder / "valkey", bound=True))
        weed = resources.enter_context(SeaweedFS(folder / "s3", bound=True))
        self.servers = {
            "AOP_REDIS_URL": self.valkey.url,
            "AOP_S3_ENDPOINT": weed.endpoint,
            "AOP_S3_ACCESS_KEY": weed.access_key,
            "AOP_S3_SECRET_KEY": weed.secret_key,
        }
        weed.make_bucket("aop")
        settings = {
            "settings": {"quietMs": 0, "longestWaitMs": 0, "softShutdownSeconds": 1, "maxDocumentBytes": 33_554_432}
        }
        drift = {"jobs": {"drift": {"enabled": True, "existingConfigMap": "mcp"}}}
        objects = render(changed("bundled", {**settings, **drift}))
        self._deployments = {
            found["metadata"]["name"].removeprefix("r-aop-"): found
            for found in objects
            if found["kind"] == "Deployment"
        }
        self.jobs = {
            found["metadata"]["name"].removeprefix("r-aop-"): pod_of(found) or {}
            for found in objects
            if found["kind"] in ("CronJob", "Pod")
        }

    def container(self, name: str) -> Container:
        spec = ours(pod_of(self._deployments[name]) or {})
        assert spec is not None
        ports = dict(zip(("AOP_PORT", "AOP_METRICS_PORT", "AOP_EXPORTER_PORT"), map(str, free_ports(3)), strict=True))
        variables = {**environment(spec), **self.servers, **ports, "AOP_HOST": HOST}
        made = Container(self._image, spec, variables, self._folder / f"{name}-{ports['AOP_PORT']}")
        self._resources.callback(made.close)
        return made

    def run_job(self, name: str, binds: dict[str, tuple[Path, bool]]) -> subprocess.CompletedProcess[str]:
        """The container of a job, to its end."""
        (spec,) = self.jobs[name]["containers"]
        folder = spec.get("workingDir", self._image.workdir)
        return subprocess.run(
            [*wall({**self._image.binds(), **binds}, folder=folder), *self._image.entrypoint, *spec["args"]],
            env=self._image.variables({**environment(spec), **self.servers}),
            capture_output=True,
            text=True,
            check=False,
            timeout=WAIT_S,
        )

    def grace(self, name: str) -> float:
        pod: Any = pod_of(self._deployments[name])
        return float(pod["terminationGracePeriodSeconds"])

    def installation(self) -> Installation:
        """For who saves and looks. No process is started by it."""
        spec = ours(pod_of(self._deployments["server"]) or {})
        assert spec is not None
        variables = {**environment(spec), **self.servers}
        found = Installation({**variables, "AOP_PROBE_FOLDER": str(self._folder / "no-probes")}, self._folder)
        self._resources.callback(found.stop)
        return found


@pytest.fixture
def cluster(image: Built, tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as resources:
        yield Cluster(image, tmp_path, resources)


KINDS: Final = ("server", "worker-parse-interactive", "dispatcher", "exporter")


def test_probes_turn(cluster: Cluster) -> None:
    """Of each kind of process: failing before it is up, passing, not ready without Redis but alive, ready again, and
    failing when it is asked to end, which it does within its grace period."""
    cluster.installation()
    containers = {name: cluster.container(name) for name in KINDS}
    for container in containers.values():
        assert not container.passes("readinessProbe")
        container.start()
    for container in containers.values():
        container.until("startupProbe", True)
        container.until("readinessProbe", True)
        assert container.passes("livenessProbe")
    cluster.valkey.stop()
    for container in containers.values():
        container.until("readinessProbe", False)
        assert container.passes("livenessProbe")
    cluster.valkey.start()
    for container in containers.values():
        container.until("readinessProbe", True)
    for name, container in containers.items():
        status, seconds = container.end()
        assert status == 0, container.log.read_text(errors="replace")[-3_000:]
        assert seconds < cluster.grace(name)
        assert not container.passes("readinessProbe")
        assert not container.passes("livenessProbe")


def test_a_document_is_compiled(cluster: Cluster) -> None:
    """From what is saved to what is published, by the processes of the image alone."""
    found = cluster.installation()
    for name in (
        "dispatcher",
        *(f"worker-{stage}-interactive" for stage in ("parse", "resolve", "generate", "verify")),
    ):
        cluster.container(name).start()
    accepted = found.save("a.md", MULTI)
    assert found.outcome(accepted, WAIT_S).status == "succeeded"
    assert "procedure.py" in found.output("a.md").files


def test_sigterm_during_a_compile_hands_the_job_back(cluster: Cluster) -> None:
    """The worker is gone within its grace period, the job is free at once and not after its lease, and another worker
    ends it."""
    found = cluster.installation()
    worker, dispatcher = cluster.container("worker-parse-interactive"), cluster.container("dispatcher")
    worker.start()
    dispatcher.start()
    worker.until("readinessProbe", True)
    accepted = found.save("long.md", LONG)
    key = f"{found.settings.redis_prefix}:job:{accepted.job}"
    found.until(lambda: found.redis.hget(key, "token"), WAIT_S)
    status, seconds = worker.end()
    assert status == 0
    assert seconds < cluster.grace("worker-parse-interactive")
    assert not found.redis.hget(key, "token"), "the lease is still held"
    assert found.job(accepted.job).stage == "parse"
    assert found.redis.llen(queue_key(found.settings.redis_prefix, "parse.interactive")) >= 1, "nobody gets it"
    for stage in STAGES:
        cluster.container(f"worker-{stage}-interactive").start()
    assert found.outcome(accepted, WAIT_S).status == "failed"


def test_jobs_run(cluster: Cluster, tmp_path: Path) -> None:
    """What the CronJobs run does its work and ends: the sweep of the store, and the look for drift."""
    cluster.installation()
    (tmp_path / "run").mkdir()
    binds = {"/run/aop": (tmp_path / "run", True)}
    swept = cluster.run_job("gc", binds)
    assert swept.returncode == 0, swept.stderr
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "mcp.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    looked = cluster.run_job("drift", {**binds, "/etc/aop/mcp": (tmp_path / "mcp", False)})
    assert looked.returncode == 0, looked.stderr


def test_the_charts_test_asks_the_server(cluster: Cluster, image: Built) -> None:
    """`helm test` passes with a server that is ready, and fails without one."""
    cluster.installation()
    server = cluster.container("server")
    (spec,) = cluster.jobs["test"]["containers"]
    *code, url = spec["args"]
    assert url == "http://r-aop-server:80/readyz"

    def asks() -> int:
        here = f"http://{HOST}:{server.port}/readyz"
        command = [*wall(image.binds()), *spec["command"], *code, here]
        return subprocess.run(command, env=image.variables({}), capture_output=True, check=False, timeout=60).returncode

    assert asks() != 0
    server.start()
    server.until("readinessProbe", True)
    assert asks() == 0
