"""What each value file renders."""

from __future__ import annotations

import os
import re
import tarfile
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.chart.rendering import (
    CHART,
    NAMESPACE,
    RELEASE,
    VALUE_FILES,
    Object,
    helm,
    identity,
    render,
    rendered,
    text_of,
)

pytestmark = pytest.mark.chart

GOLDEN: Final = Path(__file__).parent / "golden"
IMMUTABLE: Final = GOLDEN / "immutable.yaml"
UPDATE: Final = bool(os.environ.get("AOP_UPDATE_GOLDEN"))


def test_there_are_ten_value_files() -> None:
    """Each way to install is one of them."""
    assert len(VALUE_FILES) == 10


@pytest.mark.parametrize("major", [3, 4])
@pytest.mark.parametrize("name", VALUE_FILES)
def test_lint(name: str, major: int) -> None:
    """Both Helms find nothing to say, warnings included."""
    said = helm(major, "lint", "--strict", str(CHART), "--values", str(CHART / "ci" / f"{name}.yaml"))
    assert "0 chart(s) failed" in said
    assert "WARNING" not in said


@pytest.mark.parametrize("name", VALUE_FILES)
def test_both_helms_render_the_same(name: str) -> None:
    """Helm 3 and Helm 4 give the same objects."""
    assert sorted(rendered(name, 3), key=identity) == sorted(rendered(name, 4), key=identity)


@pytest.mark.parametrize("name", VALUE_FILES)
def test_exactly_these_objects(name: str) -> None:
    """Nothing appears or vanishes unseen: kinds and names are on record."""
    found = "".join(f"{line}\n" for line in sorted(identity(found) for found in rendered(name)))
    path = GOLDEN / f"{name}.txt"
    if UPDATE:
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", VALUE_FILES)
def test_no_two_objects_are_one(name: str) -> None:
    """Every object is rendered once, in the release's namespace, with the release's labels."""
    names = [identity(found) for found in rendered(name)]
    assert len(names) == len(set(names))
    for found in rendered(name):
        assert found["metadata"]["namespace"] == "ns", identity(found)
        assert found["metadata"]["labels"]["app.kubernetes.io/instance"] == "r", identity(found)
        assert len(found["metadata"]["name"]) <= 63


def _immutable(found: Object) -> Object:
    """What a cluster lets nobody change in the object: an upgrade that changes it fails."""
    spec = found.get("spec", {})
    match found["kind"]:
        case "Deployment":
            return {"selector": spec["selector"]}
        case "StatefulSet":
            return {
                "selector": spec["selector"],
                "serviceName": spec["serviceName"],
                "volumeClaimTemplates": spec.get("volumeClaimTemplates"),
            }
        case "Service":
            return {"clusterIP": spec.get("clusterIP")}
        case _:
            return {}


def _all_immutable() -> dict[str, dict[str, Object]]:
    return {
        name: {identity(found): kept for found in rendered(name) if (kept := _immutable(found))} for name in VALUE_FILES
    }


def test_an_upgrade_changes_nothing_immutable() -> None:
    """Selectors, volumes' claims and headless services are what the first release had; see docs/versioning.md."""
    found = _all_immutable()
    if UPDATE:
        IMMUTABLE.write_text(yaml.safe_dump(found, sort_keys=True), encoding="utf-8")
    assert found == yaml.safe_load(IMMUTABLE.read_text(encoding="utf-8"))


def test_other_values_change_nothing_immutable() -> None:
    """From any value file to any other of the same names (a trial's volume aside): the same selectors."""
    kept: dict[str, Object] = {}
    for name, objects in _all_immutable().items():
        if name == "everything":
            continue  # it has names of its own
        for which, immutable in objects.items():
            if "claim" not in which:
                assert kept.setdefault(which, immutable) == immutable, f"{which} of {name}"


def test_selectors_know_no_label_that_users_may_change() -> None:
    """commonLabels, pod.labels, the versions of chart and program are in labels, and in no selector."""
    for name in VALUE_FILES:
        for found in rendered(name):
            if found["kind"] in ("Deployment", "StatefulSet"):
                assert set(found["spec"]["selector"]["matchLabels"]) == {
                    "app.kubernetes.io/name",
                    "app.kubernetes.io/instance",
                    "app.kubernetes.io/component",
                }


def test_changed_settings_roll_the_pods() -> None:
    """Pods start again when their settings change, and do not when nothing of theirs does."""

    def sums(values: str) -> dict[str, str]:
        return {
            identity(found): found["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]
            for found in render(values)
            if found["kind"] == "Deployment"
        }

    before = sums(text_of("minimal"))
    assert sums(text_of("minimal") + "\nserver: {replicas: 5}\n") == before
    after = sums(text_of("minimal") + "\nsettings: {quietMs: 1}\n")
    assert after.keys() == before.keys()
    assert all(after[name] != before[name] for name in before)


def test_a_changed_catalog_rolls_the_pods() -> None:
    """The catalog's files are part of what a pod is."""
    base = text_of("hooks-catalog")

    def sums(values: str) -> set[str]:
        return {
            found["spec"]["template"]["metadata"]["annotations"]["checksum/catalog"]
            for found in render(values)
            if found["kind"] == "Deployment"
        }

    assert sums(base).isdisjoint(sums(base.replace("tools: []", "tools: [ ]")))


@pytest.mark.parametrize("name", VALUE_FILES)
def test_who_is_scaled_says_no_replicas(name: str) -> None:
    """Where an autoscaler owns the number, an upgrade does not set it back."""
    scaled = {
        found["spec"]["scaleTargetRef"]["name"]
        for found in rendered(name)
        if found["kind"] in ("HorizontalPodAutoscaler", "ScaledObject")
    }
    for found in rendered(name):
        if found["kind"] == "Deployment":
            assert ("replicas" in found["spec"]) is (found["metadata"]["name"] not in scaled), identity(found)


def test_bulk_workers_go_down_to_none() -> None:
    """With KEDA nothing runs for bulk work while there is none; one worker always waits for saved documents."""
    least = {
        found["metadata"]["name"]: found["spec"]["minReplicaCount"]
        for found in rendered("keda-prometheus")
        if found["kind"] == "ScaledObject"
    }
    assert least == {
        f"r-aop-worker-{stage}-{job_class}": {"interactive": 1, "bulk": 0}[job_class]
        if (stage, job_class) != ("generate", "interactive")
        else 2
        for stage in ("parse", "resolve", "generate", "verify")
        for job_class in ("interactive", "bulk")
    }


def _notes(name: str) -> str:
    """What Helm tells who installs. (Helm 3 shows it to who has a cluster only.)"""
    arguments = ("install", RELEASE, str(CHART), "--namespace", NAMESPACE, "--dry-run=client", "--values", "-")
    return helm(4, *arguments, given=text_of(name)).split("NOTES:\n", maxsplit=1)[1]


def test_notes_say_how_to_go_on() -> None:
    """The commands in them name objects that exist; a trial is told that it is one."""
    said = _notes("bundled")
    names = {identity(found).lower() for found in rendered("bundled")}
    (deployment,) = re.findall(r"exec deploy/(\S+)", said)
    assert f"deployment/{deployment}" in names
    (service,) = re.findall(r"at the service (\S+), port 80\.", said)
    assert f"service/{service}" in names
    assert "Bundled for trials, with nothing replicated: Valkey, SeaweedFS." in said
    assert "trials" not in _notes("minimal")


@pytest.mark.parametrize("major", [3, 4])
def test_what_is_packed(major: int, tmp_path: Path) -> None:
    """The package has what installs, and no examples."""
    helm(major, "package", str(CHART), "--destination", str(tmp_path))
    (packed,) = tmp_path.glob("aop-*.tgz")
    with tarfile.open(packed) as archive:
        names = set(archive.getnames())
    assert {"aop/Chart.yaml", "aop/values.schema.json", "aop/README.md", "aop/files/dashboard.json"} <= names
    assert not [name for name in names if "/ci/" in name]
