"""The chart, for a server that is older than what the chart supports."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

from tests.chart.rendering import CHART, Object

EARLIER: Final = {
    ("policy/v1", "PodDisruptionBudget"): "policy/v1beta1",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "autoscaling/v2beta2",
    ("batch/v1", "CronJob"): "batch/v1beta1",
}
"""What the chart writes in a version that Kubernetes 1.20 has not -> the version before, which has all fields that the
chart uses."""


def earlier(found: Object) -> Object:
    """The object as 1.20 takes it: in a version that it has, and with the protocol of a Service's ports, which its
    server-side apply does not know to be TCP where nothing is said."""
    api = EARLIER.get((found["apiVersion"], found["kind"]), found["apiVersion"])
    if found["kind"] == "Service":
        ports = [{"protocol": "TCP", **port} for port in found["spec"]["ports"]]
        return {**found, "spec": {**found["spec"], "ports": ports}}
    return {**found, "apiVersion": api}


def chart_for_1_20(folder: Path) -> Path:
    """A copy of the chart, in the folder: its kubeVersion allows 1.20, its templates write what `earlier` makes of
    their objects. All else is the chart's."""
    copy = folder / "aop"
    shutil.copytree(CHART, copy, ignore=shutil.ignore_patterns("ci"))
    replace([copy / "Chart.yaml"], r'^kubeVersion: ">=1\.28\.0-0"$', 'kubeVersion: ">=1.20.0-0"')
    templates = [*(copy / "templates").glob("*.yaml")]
    for (api, kind), version in EARLIER.items():
        replace(templates, rf"^apiVersion: {api}\nkind: {kind}$", f"apiVersion: {version}\nkind: {kind}")
    replace(templates, r"^( +)targetPort: (\w+)$", r"\1targetPort: \2\n\1protocol: TCP")
    replace(templates, r"\btargetPort: (\w+)}$", r"targetPort: \1, protocol: TCP}")
    return copy


def replace(paths: list[Path], pattern: str, text: str) -> None:
    """In all of the files. AssertionError: none has it."""
    count = 0
    for path in paths:
        changed, times = re.subn(pattern, text, path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        count += times
        path.write_text(changed, encoding="utf-8")
    assert count, f"nowhere: {pattern}"
