"""Pods may do what they need, and reach whom they need, and nothing else."""

from __future__ import annotations

from typing import Final

import pytest

from tests.chart.rendering import VALUE_FILES, Object, identity, labels_of, ours, pod_of, pods, rendered

pytestmark = pytest.mark.chart


@pytest.mark.parametrize("name", VALUE_FILES)
def test_pods_are_restricted(name: str) -> None:
    """The Pod Security Standard `restricted`, a read-only root, and no token of the cluster."""
    for which, pod in pods(name):
        assert pod["automountServiceAccountToken"] is False, which
        assert pod["enableServiceLinks"] is False, which
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys(), which
        security = pod["securityContext"]
        assert security["runAsNonRoot"] is True, which
        assert security["runAsUser"] > 0, which
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, which
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, which
        for volume in pod.get("volumes", ()):
            assert not {"hostPath", "nfs", "iscsi"} & volume.keys(), which


@pytest.mark.parametrize("name", VALUE_FILES)
def test_pods_are_bounded(name: str) -> None:
    """Every container asks for what it needs and has a limit of memory; every scratch folder has a size."""
    for which, pod in pods(name):
        for container in pod["containers"]:
            if container["resources"] != {"requests": {"cpu": "1", "memory": "1Gi"}}:
                assert container["resources"]["limits"]["memory"], which
            assert container["resources"]["requests"]["cpu"], which
        for volume in pod.get("volumes", ()):
            if volume["name"] in ("scratch", "run"):
                assert volume["emptyDir"]["sizeLimit"], which


def test_each_process_has_its_account() -> None:
    """Server, workers, dispatcher, exporter and jobs can be given different rights."""
    accounts = {which: pod.get("serviceAccountName") for which, pod in pods("hooks-catalog") if ours(pod)}
    made = {found["metadata"]["name"] for found in rendered("hooks-catalog") if found["kind"] == "ServiceAccount"}
    assert set(accounts.values()) == made
    assert len(made) == 5


def test_no_account_is_made_where_one_exists() -> None:
    """serviceAccount.create=false: all pods of ours run as the named one."""
    assert {pod["serviceAccountName"] for _, pod in pods("everything") if ours(pod)} == {"procedures"}


# --------------------------------------------------------------------------------------------------------- flows


def _selects(selector: Object, labels: dict[str, str]) -> bool:
    for key, value in selector.get("matchLabels", {}).items():
        if labels.get(key) != value:
            return False
    for rule in selector.get("matchExpressions", ()):
        inside = labels.get(rule["key"]) in rule["values"]
        if inside is not (rule["operator"] == "In"):
            return False
    return True


Policies = tuple[Object, ...]


def _policies(name: str) -> Policies:
    return tuple(found for found in rendered(name) if found["kind"] == "NetworkPolicy")


def _rules(policies: Policies, labels: dict[str, str], direction: str) -> list[Object] | None:
    """What is allowed to or from the pod; None: nobody says anything, so everything is."""
    chosen = [found["spec"] for found in policies if _selects(found["spec"]["podSelector"], labels)]
    chosen = [spec for spec in chosen if direction.capitalize() in spec["policyTypes"]]
    return [rule for spec in chosen for rule in spec.get(direction, ())] if chosen else None


def _allows(rules: list[Object] | None, peers: str, other: dict[str, str] | None, ports: set[object]) -> bool:
    """`other`: the labels of a pod of the same namespace; None: someone outside of the cluster."""
    if rules is None:
        return True
    for rule in rules:
        if "ports" in rule and not ports & {port["port"] for port in rule["ports"]}:
            continue
        if peers not in rule:
            return True
        for peer in rule[peers]:
            if other is not None and "podSelector" in peer and _selects(peer["podSelector"], other):
                return True
            if other is not None and peer.get("namespaceSelector") == {}:
                return True
    return False


def _pods_of(name: str) -> dict[str, tuple[dict[str, str], dict[str, int]]]:
    """By component: labels, and ports by name."""
    found = {}
    for each in rendered(name):
        pod = pod_of(each)
        if pod is not None:
            labels = labels_of(each)
            ports = {port["name"]: port["containerPort"] for port in pod["containers"][0].get("ports", ())}
            found[labels["app.kubernetes.io/component"]] = (labels, ports)
    return found


def test_flows_between_pods_are_these() -> None:
    """With bundled servers: everybody reaches Valkey and SeaweedFS, the test reaches the server, nothing else."""
    policies, every = _policies("bundled"), _pods_of("bundled")
    flows = set()
    for source, (labels, _) in every.items():
        for target, (others, ports) in every.items():
            for port, number in ports.items():
                out = _allows(_rules(policies, labels, "egress"), "to", others, {port, number})
                if out and _allows(_rules(policies, others, "ingress"), "from", labels, {port, number}):
                    flows.add((source, f"{target}:{port}"))
    processes = set(every) - {"valkey", "seaweedfs", "test"}
    servers = {(source, target) for source in processes for target in ("valkey:redis", "seaweedfs:s3")}
    assert flows == servers | {("test", "server:http")}


OUTSIDE: Final = {"redis": 6379, "store": 443, "mail": 25, "github": 443, "mcp": 8000}


def _leaves(name: str, component: str, port: int) -> bool:
    labels, _ = _pods_of(name)[component]
    return _allows(_rules(_policies(name), labels, "egress"), "to", None, {port})


def test_flows_out_of_the_cluster_are_these() -> None:
    """Redis and the bucket at their ports, for our processes alone; any other port is closed."""
    for component in _pods_of("minimal"):
        ours_ = component != "test"
        assert _leaves("minimal", component, 6379) is ours_, component
        assert _leaves("minimal", component, 443) is ours_, component
        assert not _leaves("minimal", component, 25), component
        assert not _leaves("minimal", component, 80), component


def test_restricted_to_a_namespace_nothing_leaves() -> None:
    """With networkPolicy.redisTo and storeTo nobody reaches those ports anywhere else."""
    for component in _pods_of("tls-sentinel"):
        for port in (6379, 26379, 9000, 443):
            assert not _leaves("tls-sentinel", component, port), (component, port)


def test_only_the_drift_check_reaches_mcp_servers() -> None:
    """Their ports are anyone's guess, so the job that asks them may reach everything, and nobody else."""
    reach = {component for component in _pods_of("hooks-catalog") if _leaves("hooks-catalog", component, 8000)}
    assert reach == {"drift"}


def test_spans_leave_to_their_port() -> None:
    """settings.otlpEndpoint opens its port."""
    assert _leaves("everything", "server", 4318)
    assert not _leaves("minimal", "server", 4318)


def _entered(name: str, component: str, port: str, other: dict[str, str] | None) -> bool:
    labels, ports = _pods_of(name)[component]
    return _allows(_rules(_policies(name), labels, "ingress"), "from", other, {port, ports[port]})


def test_who_gets_in() -> None:
    """The server is open to whom it is meant for, metrics to the cluster's namespaces, nothing else to anybody."""
    assert _entered("minimal", "server", "http", None)
    assert not _entered("ingress-gateway", "server", "http", None)
    stranger = {"app": "stranger"}
    for component in _pods_of("minimal"):
        if "metrics" in _pods_of("minimal")[component][1]:
            assert not _entered("minimal", component, "metrics", None), component
            assert _entered("minimal", component, "metrics", stranger), component
            assert not _entered("everything", component, "metrics", stranger), component


def test_every_pod_of_ours_is_under_a_policy() -> None:
    """Whatever is rendered, both directions are closed first."""
    for name in VALUE_FILES:
        for component, (labels, _) in _pods_of(name).items():
            for direction in ("egress", "ingress"):
                assert _rules(_policies(name), labels, direction) is not None, (name, component)


def test_disruptions_leave_somebody() -> None:
    """Whoever has several replicas, or an autoscaler, has a budget that selects exactly its pods."""
    for name in VALUE_FILES:
        budgets = [found["spec"] for found in rendered(name) if found["kind"] == "PodDisruptionBudget"]
        for found in rendered(name):
            if found["kind"] == "Deployment" and found["spec"].get("replicas", 2) > 1:
                selecting = [spec for spec in budgets if _selects(spec["selector"], labels_of(found))]
                assert len(selecting) == 1, identity(found)
                assert selecting[0]["maxUnavailable"] == 1
