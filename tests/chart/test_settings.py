"""What the chart tells our processes is what they understand."""

from __future__ import annotations

import os
from typing import Any, Final, get_args

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from cli.app import build_app
from tests.chart.rendering import (
    VALUE_FILES,
    Object,
    changed,
    identity,
    labels_of,
    ours,
    pod_of,
    pods,
    render,
    rendered,
)
from workers.probes import ALIVE, READY
from workers.queues import queue_key, queue_of
from workers.settings import Settings, load

pytestmark = pytest.mark.chart

SECRETS: Final = {
    "AOP_REDIS_URL": "rediss://user:password@redis.example.com:6380/0",
    "AOP_SENTINEL_PASSWORD": "password",
    "AOP_S3_ACCESS_KEY": "key",
    "AOP_S3_SECRET_KEY": "secret",
    "AOP_WEBHOOK_SECRETS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "AOP_GITHUB_SECRETS": "a secret of GitHub's".replace(" ", "-"),
    "AOP_GITHUB_TOKEN": "ghp_token",
}
"""What stands in the secrets that the value files name."""


def environment(container: Object) -> dict[str, str]:
    """As a kubelet sets it."""
    return {
        variable["name"]: SECRETS[variable["name"]] if "valueFrom" in variable else variable["value"]
        for variable in container["env"]
    }


def settings_of(container: Object, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Raises SettingsError."""
    for name in [name for name in os.environ if name.startswith("AOP_")]:
        monkeypatch.delenv(name)
    for name, value in environment(container).items():
        monkeypatch.setenv(name, value)
    return load()


def _is_secret(name: str) -> bool:
    kind: Any = Settings.model_fields[name].annotation
    return SecretStr in (kind, *get_args(kind), *(inner for part in get_args(kind) for inner in get_args(part)))


@pytest.mark.parametrize("name", VALUE_FILES)
def test_every_variable_is_a_setting(name: str) -> None:
    """No process is told something that it does not listen to, and nothing twice."""
    for which, pod in pods(name):
        container = ours(pod)
        if container is not None:
            names = [variable["name"] for variable in container["env"]]
            assert len(names) == len(set(names)), which
            unknown = {
                name for name in names if name.startswith("AOP_") and name[4:].lower() not in Settings.model_fields
            }
            assert unknown == set(), which


def test_every_setting_has_its_value() -> None:
    """Whatever a process can be told, some value of the chart says, but for what pod.extraEnv is enough for."""
    rare = {"tick_ms", "log_format", "catalog_refresh_s"}  # the chart mounts the catalog read-only
    said = {
        variable["name"].removeprefix("AOP_").lower()
        for name in VALUE_FILES
        for _, pod in pods(name)
        for container in pod["containers"]
        for variable in container.get("env", ())
        if variable["name"].startswith("AOP_")
    }
    assert said | rare == set(Settings.model_fields)
    assert not said & rare


@pytest.mark.parametrize("name", VALUE_FILES)
def test_settings_accept_every_value(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of our processes starts with what its pod is given."""
    for _, pod in pods(name):
        container = ours(pod)
        if container is not None:
            settings_of(container, monkeypatch)


def test_values_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in a value file is what the process has, numbers that are large included."""
    deployments = {identity(found): pod for found in rendered("everything") if (pod := pod_of(found))}

    def settings(name: str) -> Settings:
        container = ours(deployments[f"Deployment/{name}"])
        assert container is not None
        return settings_of(container, monkeypatch)

    server = settings("procedures-server")
    assert server.rate_per_minute == 12_000_000
    assert server.max_body_bytes == 67_108_864
    assert server.quiet_ms == 5_000
    assert server.github_repositories == ("example/procedures",)
    assert server.s3_buckets == ("incoming",)
    assert server.store == "s3://documents/aop"
    assert server.redis_prefix == "procedures"
    worker = settings("procedures-worker-verify-interactive")
    assert (worker.concurrency, worker.max_memory_mb) == (2, 2_048)
    assert worker.soft_shutdown_s == 30


@pytest.mark.parametrize("name", VALUE_FILES)
def test_secrets_stand_nowhere_in_clear(name: str) -> None:
    """What is secret comes from secrets that exist; the chart makes none, and no URL in it has credentials."""
    assert not [found for found in rendered(name) if found["kind"] == "Secret"]
    for which, pod in pods(name):
        for container in pod["containers"]:
            for variable in container.get("env", ()):
                known = variable["name"].removeprefix("AOP_").lower()
                if known in Settings.model_fields and _is_secret(known) and "value" in variable:
                    assert known == "redis_url", which
                    assert "@" not in variable["value"], which


def test_secrets_go_to_who_needs_them() -> None:
    """Webhooks' secrets are the server's alone, the token for contents the parse workers' alone."""
    holders: dict[str, set[str]] = {}
    for found in rendered("hooks-catalog"):
        container = ours(pod_of(found) or {"containers": []})
        for variable in () if container is None else container["env"]:
            if "valueFrom" in variable:
                holders.setdefault(variable["name"], set()).add(labels_of(found)["app.kubernetes.io/component"])
    assert holders["AOP_WEBHOOK_SECRETS"] == {"server"}
    assert holders["AOP_GITHUB_SECRETS"] == {"server"}
    assert holders["AOP_GITHUB_TOKEN"] == {"worker-parse-interactive", "worker-parse-bulk"}


@pytest.mark.parametrize("name", VALUE_FILES)
def test_every_command_exists(name: str) -> None:
    """`aop` knows the arguments of every pod: its help is asked with them, after they were read."""
    for which, pod in pods(name):
        container = ours(pod)
        if container is not None:
            answer = CliRunner().invoke(build_app("en"), [*container["args"], "--help"])
            assert answer.exit_code == 0, f"{which}: {answer.output}"


@pytest.mark.parametrize("prefix", ["aop", "other"])
def test_keda_looks_at_our_queues(prefix: str) -> None:
    """The lists that KEDA measures are those that hold the messages, for each class that the worker takes."""
    scaled = {
        found["metadata"]["name"].removeprefix("r-aop-worker-"): [
            trigger["metadata"]["listName"] for trigger in found["spec"]["triggers"]
        ]
        for found in render(changed("keda-redis", {"redis.prefix": prefix}))
        if found["kind"] == "ScaledObject"
    }
    assert scaled["parse-interactive"] == [
        queue_key(prefix, queue_of("parse", job_class)) for job_class in ("interactive", "bulk")
    ]
    assert scaled["verify-bulk"] == [queue_key(prefix, queue_of("verify", "bulk"))]


@pytest.mark.parametrize("name", VALUE_FILES)
def test_probes_look_at_the_files_that_are_touched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process but the server's and the jobs' has its files asked for, in the folder that it writes them to."""
    for which, pod in pods(name):
        container = ours(pod)
        if container is None or which.startswith(("CronJob/", "Pod/")):
            continue
        if container["args"][0] == "server":
            assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
            assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
            continue
        folder = settings_of(container, monkeypatch).probe_folder
        for probe, file in (("startupProbe", ALIVE), ("livenessProbe", ALIVE), ("readinessProbe", READY)):
            assert f"{folder}/{file} " in container[probe]["exec"]["command"][2], which
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert "emptyDir" in volumes[mounts[str(folder)]], which


@pytest.mark.parametrize("name", VALUE_FILES)
def test_grace_is_longer_than_what_a_process_takes_to_end(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is killed before its soft shutdown has ended, and no server before its requests have."""
    for which, pod in pods(name):
        container = ours(pod)
        if container is not None and container["args"][0] == "worker":
            soft = settings_of(container, monkeypatch).soft_shutdown_s
            assert pod["terminationGracePeriodSeconds"] > soft, which
        if container is not None and container["args"][0] == "server":
            from server.serve import GRACE_S

            assert pod["terminationGracePeriodSeconds"] > GRACE_S, which
