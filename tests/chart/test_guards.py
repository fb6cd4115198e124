"""Values that contradict each other, or that nothing can be done with, are refused with a sentence."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.chart.rendering import CHART, Refused, changed, render

pytestmark = pytest.mark.chart

GUARDS: Final[dict[str, tuple[str, dict[str, object]]]] = {
    "redis: name a secret with the URL": ("minimal", {"redis.url": ""}),
    "redis: redis.existingSecret.name and redis.url both": ("minimal", {"redis.existingSecret": {"name": "redis"}}),
    "redis: redis.bundled.enabled runs": ("minimal", {"redis.bundled": {"enabled": True}}),
    "redis: redis.url holds credentials": ("minimal", {"redis.url": "redis://:password@redis:6379/0"}),
    "redis: Redis Cluster is not supported": ("minimal", {"redis.url": "redis+cluster://redis:6379"}),
    "redis: redis.url must begin with": ("minimal", {"redis.url": "http://redis:6379"}),
    "store: set store.bucket": ("minimal", {"store.bucket": ""}),
    "store: store.bundled.enabled needs the keys": ("bundled", {"store.existingSecret.name": ""}),
    "store: store.kmsKey goes with": ("workload-identity", {"store.encryption": "AES256"}),
    "catalog: catalog.existingConfigMap and catalog.files both": ("hooks-catalog", {"catalog.existingConfigMap": "a"}),
    "settings: longestWaitMs may not be shorter": ("minimal", {"settings.quietMs": 20_000}),
    "settings: timeLimitSeconds must be longer": ("minimal", {"settings.softTimeLimitSeconds": 75}),
    "settings: visibilityTimeoutSeconds must be at least 60 s": ("minimal", {"settings.visibilityTimeoutSeconds": 134}),
    "workerDefaults: terminationGraceSeconds must be longer": ("minimal", {"settings.softShutdownSeconds": 45}),
    "workerDefaults.autoscaling: keda needs": ("keda-redis", {"workerDefaults.autoscaling.redisAddress": ""}),
    "workers.%s: minReplicas is greater": ("hpa", {"workers": {"parse-bulk": {"minReplicas": 5}}}),
    "workers.%s: a HorizontalPodAutoscaler cannot go down": (
        "hpa",
        {"workerDefaults.autoscaling.bulkMinReplicas": 0},
    ),
    "workers.%s: the name is too long": (
        "minimal",
        {"workers": {"-".join(["parse"] * 10): {"stage": "parse", "class": "bulk"}}},
    ),
    "workers: nobody takes messages of": ("minimal", {"workers": {"verify-bulk": {"enabled": False}}}),
    "server.autoscaling: minReplicas is greater": ("hpa", {"server.autoscaling.maxReplicas": 2}),
    "server.ingress: set host": ("minimal", {"server": {"ingress": {"enabled": True}}}),
    "server.gateway: set parentName": ("minimal", {"server": {"gateway": {"enabled": True}}}),
    "jobs.drift: name the ConfigMap": ("minimal", {"jobs": {"drift": {"enabled": True}}}),
    "monitoring.serviceMonitor scrapes the exporter": (
        "everything",
        {"exporter": {"enabled": False}},
    ),
    "monitoring.rules need the exporter": (
        "everything",
        {"exporter": {"enabled": False}, "monitoring.serviceMonitor": False},
    ),
    "pod.extraEnv: %s is set by": ("everything", {"pod.extraEnv": [{"name": "AOP_STORE", "value": "file:/tmp"}]}),
    "serviceAccount.existingName is needed": ("everything", {"serviceAccount.existingName": ""}),
}
"""The beginning of what is said -> a value file that is in order, and what makes it contradict itself."""


@pytest.mark.parametrize("major", [3, 4])
@pytest.mark.parametrize("said", GUARDS)
def test_refused(said: str, major: int) -> None:
    """With the sentence of that guard, and not for another reason."""
    name, changes = GUARDS[said]
    with pytest.raises(Refused) as refused:
        render(changed(name, changes), major=major)
    assert re.search(re.escape(said).replace("%s", "[A-Za-z_-]+"), " ".join(str(refused.value).split()))


def test_every_guard_has_its_case() -> None:
    """No sentence of the templates is without one, and none is tried that no template has."""
    texts = "".join(path.read_text(encoding="utf-8") for path in (CHART / "templates").iterdir())
    sentences = re.findall(r'(?:fail|required) \(?(?:printf )?"([^"]+)"', texts)
    assert len(sentences) >= 25
    for sentence in sentences:
        assert [said for said in GUARDS if sentence.startswith(said)], sentence
    for said in GUARDS:
        assert [sentence for sentence in sentences if sentence.startswith(said)], said


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("settings.quietMS", 1),
        ("server.replica", 3),
        ("workers", {"parse-interactive": {"stages": "parse"}}),
        ("workers", {"extra": {"stage": "parse"}}),
        ("workers", {"extra": {"stage": "link", "class": "bulk"}}),
        ("settings.reuse", "always"),
        ("settings.leaseMs", "30000"),
        ("redis.prefix", "a b"),
        ("image.digest", "sha256:1"),
        ("server.service.port", 0),
        ("redis.ports", []),
        ("webhooks.github.repositories", ["procedures"]),
        ("unknown", True),
        # What an API server would refuse, with half of the objects made.
        ("fullnameOverride", "Procedures"),
        ("nameOverride", "a b"),
        ("workers", {"Parse_all": {"stage": "parse", "class": "both"}}),
        ("commonLabels", {"team": "a b"}),
        ("commonLabels", {"a team": "a"}),
        ("commonLabels", {"app.kubernetes.io/component": "a"}),
        ("pod", {"labels": {"app.kubernetes.io/name": "a"}}),
        ("pod", {"scratchSize": "1 GB"}),
        ("pod", {"runAsUser": 2**31}),
        ("monitoring", {"labels": {"team": "a" * 64}}),
        ("catalog", {"files": {"a/b.yaml": ""}}),
        ("server", {"ingress": {"enabled": True, "host": "AOP_1"}}),
        ("store.bundled", {"enabled": True, "size": "ten"}),
    ],
)
def test_the_schema_is_closed(path: str, value: object) -> None:
    """A value that is unknown, of the wrong type or out of bounds is refused by the schema."""
    changes: dict[str, object] = {path: value}
    for major in (3, 4):
        with pytest.raises(Refused, match="schema"):
            render(changed("minimal", changes), major=major)


def test_a_host_of_a_cluster_is_no_redis_cluster() -> None:
    """The usual names of services end with cluster.local."""
    assert render(changed("minimal", {"redis.url": "rediss://redis.data.svc.cluster.local:6379/0"}))
