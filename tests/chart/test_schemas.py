"""Every object is what its API server would take, of Kubernetes 1.28 to 1.37 and of the operators."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import pytest

from tests.chart.rendering import VALUE_FILES, Object, identity, rendered
from tests.chart.tools import NPM, kubernetes_schemas
from tests.npm.install import NODE

pytestmark = pytest.mark.chart

VERSIONS: Final = tuple(f"1.{minor}" for minor in range(28, 38))
OPERATORS: Final = {
    "keda.sh/v1alpha1": "@kubernetes-models/keda/keda.sh/v1alpha1",
    "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1",
    "gateway.networking.k8s.io/v1": "@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1",
}


class UnknownKind(Exception):
    """No version of Kubernetes here has it."""


@lru_cache
def _registry(version: str) -> tuple[Path, jsonschema_rs.Registry]:
    folder = kubernetes_schemas() / f"v{version}.0-local-strict"
    definitions: Any = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))
    return folder, jsonschema_rs.Registry([("file:///_definitions.json", definitions)], draft=jsonschema_rs.Draft202012)


@lru_cache
def _judge(version: str, api: str, kind: str) -> jsonschema_rs.Draft202012Validator:
    """Raises UnknownKind."""
    folder, registry = _registry(version)
    group, _, number = api.rpartition("/")
    name = f"{kind.lower()}-{group.split('.')[0] + '-' if group else ''}{number}.json"
    if not (folder / name).exists():
        raise UnknownKind(f"{api} {kind} in Kubernetes {version}")
    schema = {"$id": f"file:///{name}", **json.loads((folder / name).read_text(encoding="utf-8"))}
    return jsonschema_rs.Draft202012Validator(schema, registry=registry)


def problems(found: Object, version: str) -> list[str]:
    """Raises UnknownKind."""
    judge = _judge(version, found["apiVersion"], found["kind"])
    return [f"{identity(found)}: {'/'.join(map(str, e.instance_path))}: {e.message}" for e in judge.iter_errors(found)]


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_every_object(version: str) -> None:
    """No unknown field, kind or value in any of the versions that the chart says it supports."""
    wrong = [
        problem
        for name in VALUE_FILES
        for found in rendered(name)
        if found["apiVersion"] not in OPERATORS
        for problem in problems(found, version)
    ]
    assert wrong == []


def test_the_judge_refuses_what_is_wrong() -> None:
    """An unknown field is a problem, and an unknown kind stops everything."""
    (service,) = [found for found in rendered("minimal") if identity(found) == "Service/r-aop-server"]
    assert problems({**service, "spec": {**service["spec"], "prots": []}}, "1.37") != []
    assert problems({**service, "spec": {**service["spec"], "ports": [{"port": "eighty"}]}}, "1.28") != []
    with pytest.raises(UnknownKind):
        problems({**service, "kind": "Servise"}, "1.30")
    with pytest.raises(UnknownKind):
        problems({**service, "apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget"}, "1.30")


# ------------------------------------------------------------------------------------------------------ operators


def _of_operators() -> Iterator[Object]:
    for name in VALUE_FILES:
        yield from (found for found in rendered(name) if found["apiVersion"] in OPERATORS)


def _node(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NODE, *arguments], input=given, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def _judged(objects: list[Object]) -> list[str]:
    """What the operators' types say at run time: required fields, types, patterns, enumerations."""
    done = _node(NPM, "judge.mjs", given=json.dumps({"modules": OPERATORS, "objects": objects}))
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


def _compiled(objects: list[Object], folder: Path) -> str:
    """What TypeScript says of the objects as literals of the operators' types: it finds fields that are unknown."""
    kinds = sorted({(found["apiVersion"], found["kind"]) for found in objects})
    names = {kind: f"I{kind[1]}" for kind in kinds}
    lines = [f'import type {{ I{kind} }} from "{OPERATORS[api]}/{kind}";' for api, kind in kinds]
    lines += [
        f"export const o{index}: {names[found['apiVersion'], found['kind']]} = {json.dumps(found)};"
        for index, found in enumerate(objects)
    ]
    (folder / "objects.ts").write_text("\n".join(lines), encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "node_modules").symlink_to(NPM / "node_modules")
    options = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022")
    compiler = str(NPM / "node_modules/typescript/bin/tsc")
    return _node(folder, compiler, *options, "objects.ts").stdout


def test_operators_take_every_object(tmp_path: Path) -> None:
    """KEDA, the Prometheus operator and the Gateway API know every kind, field and value."""
    objects = list(_of_operators())
    assert {found["kind"] for found in objects} == {
        "HTTPRoute",
        "PodMonitor",
        "PrometheusRule",
        "ScaledObject",
        "ServiceMonitor",
        "TriggerAuthentication",
    }
    assert _judged(objects) == []
    assert _compiled(objects, tmp_path) == ""


def test_operators_refuse_what_is_wrong(tmp_path: Path) -> None:
    """An unknown field, a missing one, a wrong type, an unknown kind: each is said."""
    (monitor,) = [found for found in _of_operators() if found["kind"] == "PodMonitor"]
    spec = monitor["spec"]
    assert len(_judged([{**monitor, "spec": {**spec, "selector": 3}}])) == 1
    assert len(_judged([{**monitor, "spec": {k: v for k, v in spec.items() if k != "selector"}}])) == 1
    assert (
        "PodMonitors"
        in _node(
            NPM, "judge.mjs", given=json.dumps({"modules": OPERATORS, "objects": [{**monitor, "kind": "PodMonitors"}]})
        ).stderr
    )
    said = _compiled([{**monitor, "spec": {**spec, "podMetricEndpoints": []}}], tmp_path)
    assert re.search(r"error TS\d+.*podMetricEndpoints", said)
