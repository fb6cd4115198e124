"""Values, schema, README and templates tell of the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import pytest
import yaml

from tests.chart.rendering import CHART, ROOT, VALUE_FILES, Refused, changed, template

pytestmark = pytest.mark.chart

SCHEMA: Final[dict[str, Any]] = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
DEFAULTS: Final[dict[str, Any]] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def leaves(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every value, by its dotted path; what a worker may say is below a worker."""
    for name, inner in schema["properties"].items():
        place = f"{path}.{name}".removeprefix(".")
        if place == "global":
            continue
        if place == "workers":
            yield from leaves(inner["additionalProperties"], "workers.parse-bulk")
        elif "properties" in inner:
            yield from leaves(inner, place)
        else:
            yield place, inner


LEAVES: Final = dict(leaves(SCHEMA))

OTHERWISE: Final[dict[str, object]] = {
    "image.digest": "sha256:" + "1" * 64,
    "image.pullSecrets": ["another"],
    "redis.url": "redis://elsewhere:6379/1",
    "redis.ports": [6390],
    "store.encryption": "AES256",
    "settings.visibilityTimeoutSeconds": 400,
    "settings.softTimeLimitSeconds": 61,
    "webhooks.github.api": "https://other.example.com",
    "webhooks.github.repositories": ["an/other"],
    "server.autoscaling.minReplicas": 1,
    "workers.parse-bulk.stage": None,  # see MORE
    "workers.parse-bulk.class": "both",
    "workers.parse-bulk.enabled": None,
    "monitoring.interval": "7s",
    "pod.tolerations": [{"operator": "Exists"}],
    "pod.affinity": {"nodeAffinity": {}},
    "pod.initContainers": [{"name": "other", "image": "other"}],
    "server.allowFrom": [{"podSelector": {}}],
    "networkPolicy.metricsFrom": [{"podSelector": {}}],
    "networkPolicy.redisTo": [{"podSelector": {}}],
    "networkPolicy.storeTo": [{"podSelector": {}}],
    "networkPolicy.extraEgress": [{"to": [{"podSelector": {}}]}],
    "pod.extraEnv": [{"name": "A", "value": "b"}],
    "pod.extraVolumes": [{"name": "a", "emptyDir": {}}],
    "pod.extraVolumeMounts": [{"name": "a", "mountPath": "/a"}],
    "jobs.gc.schedule": "1 1 1 1 1",
    "jobs.drift.schedule": "1 1 1 1 1",
    "catalog.files": {"other.yaml": "tools: []\n"},
}
"""A value other than the default, where the schema alone does not say one. None: it takes more than itself."""

MORE: Final[dict[str, dict[str, object]]] = {
    "workers.parse-bulk.stage": {
        "workers": {"parse-bulk": {"stage": "resolve"}, "parse-interactive": {"class": "both"}}
    },
    "workers.parse-bulk.enabled": {
        "workers": {"parse-bulk": {"enabled": False}, "parse-interactive": {"class": "both"}}
    },
}
BESIDE: Final[dict[str, dict[str, object]]] = {
    "redis.bundled.storageClass": {"redis.bundled.size": "1Gi"},
    "store.bundled.enabled": {"store.existingSecret": {"name": "s3"}},
    "serviceAccount.create": {"serviceAccount.existingName": "ours"},
    "store.kmsKey": {"store.encryption": "aws:kms"},
    "server.ingress.enabled": {"server.ingress.host": "a.example.com"},
    "server.gateway.enabled": {"server.gateway.parentName": "a"},
    "jobs.drift.enabled": {"jobs.drift.existingConfigMap": "a"},
}
"""What has to be said beside a value, in both renderings."""


def otherwise(path: str, schema: dict[str, Any]) -> object:
    """Another value than the default, in the schema's bounds."""
    if path in OTHERWISE:
        return OTHERWISE[path]
    default = schema.get("default")
    if "enum" in schema:
        return next(value for value in schema["enum"] if value not in (default, ""))
    match schema["type"]:
        case "boolean":
            return not default
        case "integer":
            number = schema.get("minimum", 0) + 5 if default is None else default
            return number + 1 if number + 1 <= schema.get("maximum", number + 1) else number - 1
        case "array":
            return ["other"]
        case "object":
            return {"requests": {"cpu": "777m"}} if path.endswith("resources") else {"other": "other"}
        case _:
            return "https://other" if "http" in schema.get("pattern", "") else "9Gi" if "ize" in path else "other"


@lru_cache
def _outcome(values: str) -> tuple[bool, str]:
    """Whether it renders, and what, or the sentence of a guard. Another refusal is a fault of this test."""
    try:
        return True, template(values)
    except Refused as refused:
        assert "schema" not in str(refused)
        assert "aop/templates/guards.yaml" in str(refused)
        return False, str(refused)


@pytest.mark.parametrize("path", LEAVES)
def test_every_value_is_used(path: str) -> None:
    """Some value file renders otherwise, or is refused for what it contradicts, when the value changes."""
    changes = MORE.get(path, {path: otherwise(path, LEAVES[path])})
    beside = BESIDE.get(path, {})
    for name in sorted(VALUE_FILES, key="bundled everything hooks-catalog".find, reverse=True):
        before, after = _outcome(changed(name, beside)), _outcome(changed(name, {**beside, **changes}))
        if before != after and (before[0] or after[0]):
            return
    pytest.fail(f"{path} changes nothing")


_ACTION: Final = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_PATH: Final = re.compile(r"(?<![\w.)])(\$[\w.]*|\.[A-Za-z][\w.]*)")


def _uses(text: str) -> Iterator[str]:
    """Dotted paths of values that a template reads, as far as variables and `with` tell where a path begins."""
    variables: dict[str, str] = {}
    dots: list[str | None] = [None]

    def whole(path: str) -> str | None:
        if found := re.search(r"\.Values\.([\w.]+)$", path):
            return found[1]
        if path.startswith("$"):
            head, _, rest = path.partition(".")
            base = variables.get(head)
        else:
            base, rest = dots[-1], path[1:]
        return None if base is None else f"{base}.{rest}".strip(".")

    for action in _ACTION.findall(text):
        if action.startswith("/*"):
            continue
        paths = [found for path in _PATH.findall(action) if (found := whole(path)) is not None]
        yield from (path for path in paths if path)
        if assigned := re.fullmatch(r"(\$\w+) := (\$?[\w.]*\.Values(?:\.[\w.]+)?|\$\w+\.[\w.]+)", action):
            place = assigned[2]
            variables[assigned[1]] = "" if place.endswith(".Values") else whole(place) or ""
        word = action.split()[0]
        if word == "with":
            dots.append(whole(action.split()[1]) if len(action.split()) == 2 else None)
        elif word in ("range", "define"):
            dots.append(None)
        elif word == "if":
            dots.append(dots[-1])
        elif word == "end":
            dots.pop()


def _declared(path: str) -> bool:
    place: dict[str, Any] = SCHEMA
    for name in path.split("."):
        if "properties" not in place:
            return True  # what is in a free object or in a list, or a method of what was found
        if name not in place["properties"]:
            return False
        place = place["properties"][name]
    return True


def test_every_used_value_is_declared() -> None:
    """Templates read no value that the schema does not know: it would be nil, without a word."""
    used = {path for file in (CHART / "templates").iterdir() for path in _uses(file.read_text(encoding="utf-8"))}
    assert len(used) > 100
    assert {path for path in used if not _declared(path)} == set()


def test_defaults_are_the_schemas() -> None:
    """Every value has a description and, a worker's own aside, a default that values.yaml gives as well."""
    for path, schema in LEAVES.items():
        assert schema["description"], path
        if path.startswith("workers."):
            continue
        place: Any = DEFAULTS
        for name in path.split("."):
            place = place[name]
        assert place == schema["default"], path


def test_files_are_as_generated() -> None:
    """values.yaml, values.schema.json and the README's table are what `make chart` writes."""
    done = subprocess.run(
        [sys.executable, ROOT / "helm" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_readme_names_every_value() -> None:
    """One row a value."""
    rows = set(re.findall(r"^\| `([^`]+)` \|", (CHART / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    expected = {path.replace("workers.parse-bulk.", "workers.*.") for path in LEAVES} | {"workers"}
    assert rows == expected


def test_the_charts_version_is_the_programs() -> None:
    """appVersion is the version of the package that the image holds."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{chart["appVersion"]}"' in project
    assert chart["kubeVersion"].startswith(">=1.28")
