"""A release's life on a real API server: what it holds, what an upgrade changes, what a rollback brings back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Final

import pytest

from tests.chart.apiserver.cluster import BEFORE, Cluster
from tests.chart.apiserver.comparing import replaced
from tests.chart.apiserver.releases import Release
from tests.chart.rendering import CHART, RELEASE, VALUE_FILES, Object, Refused, changed, identity, rendered, text_of
from tests.chart.test_guards import GUARDS

pytestmark = pytest.mark.apiserver

Releases = Callable[[int], Release]
HELM: Final = pytest.mark.parametrize("major", [3, 4])


def _is_hook(found: Object) -> bool:
    return "helm.sh/hook" in found["metadata"].get("annotations", {})


def _named(name: str) -> set[str]:
    """What the value file renders, but for hooks: those come later."""
    return {identity(found) for found in rendered(name) if not _is_hook(found)}


@HELM
def test_a_version_that_is_too_old_is_refused(cluster: Cluster, major: int) -> None:
    """The chart as it is says which versions it supports, and Helm holds it to that: nothing is made."""
    namespace = cluster.new_namespace()
    with pytest.raises(Refused, match=r"kubeVersion: >=1\.28\.0-0 which is incompatible with Kubernetes v1\.20"):
        Release(cluster, namespace, CHART, major).install(text_of("minimal"))
    assert cluster.holds(namespace) == BEFORE


@HELM
@pytest.mark.parametrize("name", VALUE_FILES)
def test_installed_and_uninstalled(name: str, major: int, cluster: Cluster, release: Releases) -> None:
    """The server holds exactly the objects that the value file renders, with every field that was sent; after uninstall
    nothing is left, Helm's own secrets included, in the namespace and outside of it."""
    of = release(major)
    before = cluster.holds()
    of.install(text_of(name))
    assert of.holds() == _named(name)
    assert of.differences() == []
    of.uninstall()
    assert cluster.holds(of.namespace) == BEFORE
    assert cluster.holds() == before


CHANGES: Final[dict[str, object]] = {
    "image": {"tag": "0.1.1"},
    "settings": {"quietMs": 4000},
    "server": {"replicas": 5, "service": {"port": 8080, "annotations": {"example.com/team": "operations"}}},
    "workers": {"generate-bulk": {"replicas": 4, "concurrency": 3}, "extra": {"stage": "verify", "class": "both"}},
    "commonLabels": {"team": "operations"},
    "networkPolicy": {"dnsNamespace": "dns"},
    "monitoring": {"dashboard": True},
    "jobs": {"gc": {"keepDays": 7}},
}


@HELM
def test_an_upgrade_changes_what_was_changed(major: int, release: Releases) -> None:
    """Each changed value is in what the server keeps; every object is the one that was there before, none was replaced;
    selectors and addresses, which nobody may change, are the same."""
    of = release(major)
    of.install(text_of("minimal"))
    before = of.kept()
    of.upgrade(changed("minimal", CHANGES))
    after = of.kept()
    assert of.differences() == []
    assert of.holds() == set(after)
    assert after.keys() - before.keys() == {
        "ConfigMap/r-aop-dashboard",
        "Deployment/r-aop-worker-extra",
        "PodDisruptionBudget/r-aop-worker-generate-bulk",
    }
    assert replaced(before, after) == []
    for name, found in before.items():
        assert after[name]["metadata"]["labels"]["team"] == "operations", name
        for fixed in ("selector", "clusterIP"):
            assert after[name].get("spec", {}).get(fixed) == found.get("spec", {}).get(fixed), name
    server, service = after["Deployment/r-aop-server"]["spec"], after["Service/r-aop-server"]
    assert server["replicas"] == 5
    assert service["spec"]["ports"][0]["port"] == 8080
    assert service["metadata"]["annotations"]["example.com/team"] == "operations"
    bulk = after["Deployment/r-aop-worker-generate-bulk"]["spec"]
    (container,) = bulk["template"]["spec"]["containers"]
    assert bulk["replicas"] == 4
    assert container["image"].endswith(":0.1.1")
    assert {"name": "AOP_CONCURRENCY", "value": "3"} in container["env"]
    assert {"name": "AOP_QUIET_MS", "value": "4000"} in container["env"]


@HELM
def test_an_upgrade_touches_nothing_else(major: int, release: Releases) -> None:
    """Of all that the server keeps, only what has the changed value in it is written; the same values write nothing."""
    of = release(major)
    of.install(text_of("minimal"))
    before = of.kept()
    of.upgrade(text_of("minimal"))
    assert of.kept() == before
    of.upgrade(changed("minimal", {"dispatcher": {"replicas": 3}}))
    after = of.kept()
    assert {name for name in before if after[name] != before[name]} == {"Deployment/r-aop-dispatcher"}


@HELM
def test_a_rollback_brings_back_the_first_state(major: int, release: Releases) -> None:
    """Object by object, field by field, as it was after the first install; what the upgrade had added is gone."""
    of = release(major)
    of.install(text_of("minimal"))
    objects, first, before = of.holds(), of.states(), of.kept()
    of.upgrade(changed("minimal", CHANGES))
    assert of.states() != first
    of.rollback(1)
    assert of.holds() == objects
    assert of.states() == first
    assert replaced(before, of.kept()) == []
    assert of.revisions() == ["superseded", "superseded", "deployed"]


TRIALS: Final = ("minimal", "bundled")
"""Where the URL of Redis is a plain value. They come first: server-side apply of 1.20 cannot make one of a variable
that was taken from a secret (it leaves an empty `valueFrom`, which is invalid; later versions remove it)."""


@HELM
def test_from_one_value_file_to_the_next(major: int, cluster: Cluster, release: Releases) -> None:
    """One release goes through all ten ways to install, and back to the third: the server refuses no step, and holds
    after each of them what that one renders."""
    of = release(major)
    installed, *upgrades = (*TRIALS, *(name for name in VALUE_FILES if name not in TRIALS))
    of.install(text_of(installed))
    states = {}
    for name in upgrades:
        of.upgrade(text_of(name))
        assert of.holds() == _named(name), name
        assert of.differences() == [], name
        states[name] = of.states()
    third = upgrades[1]
    of.rollback(3)
    assert of.holds() == _named(third)
    assert of.states() == states[third]
    of.uninstall()
    assert cluster.holds(of.namespace) == BEFORE


def test_helm_4_takes_over_from_helm_3(cluster: Cluster, release: Releases) -> None:
    """What Helm 3 installed, Helm 4 upgrades, rolls back and uninstalls; no object is replaced."""
    of = release(3)
    of.install(text_of("minimal"))
    before, first = of.kept(), of.states()
    of = dataclasses.replace(of, major=4)
    of.upgrade(changed("minimal", CHANGES))
    assert of.differences() == []
    assert replaced(before, of.kept()) == []
    of.rollback(1)
    assert of.states() == first
    of.uninstall()
    assert cluster.holds(of.namespace) == BEFORE


@HELM
def test_values_that_contradict_each_other_make_nothing(major: int, cluster: Cluster, release: Releases) -> None:
    """Every guard refuses before anything is made, and an upgrade before anything is changed."""
    empty, running = release(major), release(major)
    running.install(text_of("minimal"))
    kept = running.kept()
    for said, (name, changes) in GUARDS.items():
        values = changed(name, changes)
        with pytest.raises(Refused, match=said.split("%s")[-1].split(": ")[-1]):
            empty.install(values)
        with pytest.raises(Refused):
            running.upgrade(values)
    with pytest.raises(Refused, match="schema"):
        empty.install(changed("minimal", {"server.replica": 3}))
    assert cluster.holds(empty.namespace) == BEFORE
    assert running.kept() == kept
    assert running.revisions() == ["deployed"]


# ------------------------------------------------------------------------------------------------------ helm test


def _test_pod(name: str) -> Object:
    (pod,) = (found for found in rendered(name) if _is_hook(found))
    return pod


def _helm_test(of: Release, phase: str) -> str:
    """`helm test`, with the test in the place of a kubelet: it says what became of the pod. Raises Refused."""
    pod = _test_pod("minimal")
    with ThreadPoolExecutor(1) as pool:
        said = pool.submit(of.helm, "test", RELEASE, "--timeout", "40s")
        while not said.done() and not of.cluster.finish(pod, of.namespace, phase):
            sleep(0.1)
        return said.result()


@HELM
def test_the_hook_of_helm_test(major: int, release: Releases) -> None:
    """It is not made with the release, but when it is asked for: the server takes the pod, Helm waits for its end and
    deletes it after a success; a failure is one of the release's test, and the next run replaces the pod.
    What the pod itself would find is not shown: nobody runs it here (`tests.chart.test_objects` has its command)."""
    of = release(major)
    of.install(text_of("minimal"))
    objects = of.holds()
    assert "Succeeded" in _helm_test(of, "Succeeded")
    assert of.holds() == objects
    with pytest.raises(Refused, match="failed"):
        _helm_test(of, "Failed")
    assert of.holds() == objects | {identity(_test_pod("minimal"))}
    assert "Succeeded" in _helm_test(of, "Succeeded")
    assert of.holds() == objects
