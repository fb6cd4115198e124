"""The chart as Helm renders it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from tests.chart.tools import HELMS

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "helm" / "aop"
VALUE_FILES: Final = tuple(sorted(path.stem for path in (CHART / "ci").glob("*.yaml")))
RELEASE: Final = "r"
NAMESPACE: Final = "ns"

Object: TypeAlias = dict[str, Any]
"""A Kubernetes object, whatever its kind."""


class Refused(Exception):
    """Helm's words."""


def helm(major: int, *arguments: str, given: str = "", home: str = "/nonexistent") -> str:
    """`home`: where it keeps what it learned of a cluster. Raises Refused."""
    done = subprocess.run(
        [HELMS[major], *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": home},
    )
    if done.returncode:
        raise Refused(done.stderr)
    return done.stdout


def template(values: str, *, major: int = 4, release: str = RELEASE) -> str:
    """What `helm template` writes for the values (YAML)."""
    return helm(major, "template", release, str(CHART), "--namespace", NAMESPACE, "--values", "-", given=values)


def render(values: str, *, major: int = 4, release: str = RELEASE) -> list[Object]:
    return [found for found in yaml.load_all(template(values, major=major, release=release), yaml.CSafeLoader) if found]


@lru_cache
def text_of(name: str) -> str:
    return (CHART / "ci" / f"{name}.yaml").read_text(encoding="utf-8")


@lru_cache
def rendered(name: str, major: int = 4) -> tuple[Object, ...]:
    """Of one of the value files. Not to be changed."""
    return tuple(render(text_of(name), major=major))


def changed(name: str, changes: Mapping[str, object]) -> str:
    """The value file with some values of `changes` (dotted paths) in it, as YAML."""
    values: Object = yaml.safe_load(text_of(name))
    for path, value in changes.items():
        *folders, last = path.split(".")
        place = values
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = value
    return json.dumps(values)


def identity(found: Object) -> str:
    return f"{found['kind']}/{found['metadata']['name']}"


def pod_of(found: Object) -> Object | None:
    """The pod's spec that the object holds; None: it holds none."""
    spec = found.get("spec", {})
    if found["kind"] == "Pod":
        return dict(spec)
    if found["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    pod = spec.get("template", {}).get("spec")
    return None if pod is None else dict(pod)


def labels_of(found: Object) -> dict[str, str]:
    """Of the object's pods."""
    spec = found.get("spec", {})
    if found["kind"] == "Pod":
        return dict(found["metadata"]["labels"])
    if found["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return dict(spec["template"]["metadata"]["labels"])


def pods(name: str) -> Iterator[tuple[str, Object]]:
    """Of the value file's objects: identity and pod."""
    for found in rendered(name):
        pod = pod_of(found)
        if pod is not None:
            yield identity(found), pod


def ours(pod: Object) -> Object | None:
    """Our container of the pod; None: the pod runs something else."""
    return next((container for container in pod["containers"] if container["name"] == "aop"), None)
