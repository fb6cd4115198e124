"""What a real API server says of each object and of each pod: known, valid, allowed."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Final

import pytest

from tests.chart.apiserver.cluster import BEFORE, OPERATORS, RESTRICTED, Cluster, Rejected
from tests.chart.apiserver.comparing import differences
from tests.chart.apiserver.versions import EARLIER, earlier
from tests.chart.rendering import VALUE_FILES, Object, identity, labels_of, pod_of, rendered

pytestmark = pytest.mark.apiserver


@pytest.mark.parametrize("name", VALUE_FILES)
def test_every_object_is_valid(name: str, cluster: Cluster) -> None:
    """In a dry run the server knows every field of the ten value files' objects, finds every value valid, and would
    keep it as it is written. (Of the operators' kinds it checks the metadata only.)"""
    namespace = cluster.new_namespace()
    for found in map(earlier, rendered(name)):
        wanted = {**found, "metadata": {**found["metadata"], "namespace": namespace}}
        assert differences(wanted, cluster.try_to_apply(wanted, namespace)) == []
    assert cluster.holds(namespace) == BEFORE


def test_these_kinds_were_judged(cluster: Cluster) -> None:
    """Of all kinds that the value files render: which the server has itself, which in the version before, which it was
    taught."""
    own, before, taught = set(), set(), set()
    for found in (found for name in VALUE_FILES for found in rendered(name)):
        kind = (found["apiVersion"], found["kind"])
        if kind in EARLIER:
            before.add(kind)
        elif found["apiVersion"] in OPERATORS:
            taught.add(kind)
        else:
            own.add(found["kind"])
        assert cluster.resource(earlier(found)).namespaced
    assert own == {
        "ConfigMap",
        "Deployment",
        "Ingress",
        "NetworkPolicy",
        "Pod",
        "Service",
        "ServiceAccount",
        "StatefulSet",
    }
    assert before == set(EARLIER)
    assert taught == {(api, kind) for api, kinds in OPERATORS.items() for kind in kinds}
    assert cluster.version.startswith("v1.20.")


# ----------------------------------------------------------------------------------------------------------- pods


AWAY: Final = tuple(
    {"key": f"node.kubernetes.io/{why}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for why in ("not-ready", "unreachable")
)
"""What the server adds to the tolerations of every pod."""


def _pods(name: str) -> list[Object]:
    """What controllers would make of the value file's objects."""
    made = []
    for found in rendered(name):
        spec = pod_of(found)
        if spec is not None:
            mounts = {mount["name"] for each in spec["containers"] for mount in each.get("volumeMounts", ())}
            claimed = sorted(mounts - _volumes(spec))
            if claimed:
                claims = [{"name": volume, "persistentVolumeClaim": {"claimName": volume}} for volume in claimed]
                spec["volumes"] = [*spec.get("volumes", ()), *claims]
            metadata = {"name": found["metadata"]["name"], "labels": labels_of(found)}
            made.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    return made


def _volumes(spec: Object) -> set[str]:
    return {volume["name"] for volume in spec.get("volumes", ())}


def _with_accounts(cluster: Cluster, name: str) -> str:
    """A namespace that has the accounts which the value file's pods run as."""
    namespace = cluster.new_namespace()
    for account in sorted({pod["spec"].get("serviceAccountName", "") for pod in _pods(name)} - {""}):
        metadata = {"name": account}
        cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}, namespace)
    return namespace


@pytest.mark.parametrize("name", VALUE_FILES)
def test_pods_are_admitted_as_they_are(name: str, cluster: Cluster) -> None:
    """Every pod that would be made is admitted under the restricted policy, which has no security setting to add, and
    no token of the cluster is put into it."""
    namespace = _with_accounts(cluster, name)
    for pod in _pods(name):
        kept = cluster.create(pod, namespace, dryRun="All")
        tolerations = [*pod["spec"].get("tolerations", ()), *AWAY]
        assert differences({**pod, "spec": {**pod["spec"], "tolerations": tolerations}}, kept) == []
        assert kept["metadata"]["annotations"]["kubernetes.io/psp"] == RESTRICTED["metadata"]["name"]
        assert _security(kept) == _security(pod), identity(pod)
        assert _volumes(kept["spec"]) == _volumes(pod["spec"]), identity(pod)


def test_jobs_are_what_the_server_keeps(cluster: Cluster) -> None:
    """The jobs that the CronJobs' controller would make are valid, each with all of its fields."""
    namespace = cluster.new_namespace()
    crons = [found for found in rendered("hooks-catalog") if found["kind"] == "CronJob"]
    assert len(crons) == 2
    for found in crons:
        metadata = {"name": found["metadata"]["name"]}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, **found["spec"]["jobTemplate"]}
        assert differences(job, cluster.create(job, namespace, dryRun="All")) == []


def _security(pod: Object) -> list[Object]:
    spec = pod["spec"]
    containers = (*spec.get("initContainers", ()), *spec["containers"])
    return [spec["securityContext"], *(container["securityContext"] for container in containers)]


LOOSER: Final[dict[str, Callable[[Object], object]]] = {
    "runAsUser": lambda spec: spec["securityContext"].update(runAsUser=0),
    "seccomp": lambda spec: spec["securityContext"].pop("seccompProfile"),
    "hostNetwork": lambda spec: spec.update(hostNetwork=True),
    "allowPrivilegeEscalation": lambda spec: _container(spec).update(allowPrivilegeEscalation=True),
    "readOnlyRootFilesystem": lambda spec: _container(spec).update(readOnlyRootFilesystem=False),
    "capabilities": lambda spec: _container(spec)["capabilities"].update(add=["NET_ADMIN"]),
    "privileged": lambda spec: _container(spec).update(privileged=True, allowPrivilegeEscalation=True),
    "hostPath": lambda spec: spec["volumes"].append({"name": "host", "hostPath": {"path": "/"}}),
}


def _container(spec: Object) -> Object:
    security: Object = spec["containers"][0]["securityContext"]
    return security


@pytest.mark.parametrize("setting", LOOSER)
def test_a_looser_pod_is_not_admitted(setting: str, cluster: Cluster) -> None:
    """The policy does judge: a pod of the chart with one setting loosened is refused, for that setting."""
    namespace = _with_accounts(cluster, "minimal")
    pod = deepcopy(_pods("minimal")[0])
    LOOSER[setting](pod["spec"])
    with pytest.raises(Rejected, match=rf"PodSecurityPolicy: unable to admit pod: .*(?i:{setting})"):
        cluster.create(pod, namespace, dryRun="All")
