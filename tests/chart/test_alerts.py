"""Alerts fire when they should, tell what to do, and look at figures that exist, as the dashboard does."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from tests.chart.rendering import CHART, ROOT, rendered
from workers.connections import open_ledger, open_redis
from workers.local.valkey import Valkey
from workers.metrics import dispatching, metrics
from workers.metrics.ledger_figures import LedgerFigures
from workers.settings import Settings

pytestmark = pytest.mark.chart

RULES: Final = CHART / "files" / "rules.yaml"
CASES: Final = tuple(sorted((Path(__file__).parent / "alerts").glob("*.yaml")))
ALERTS: Final[list[dict[str, Any]]] = [
    rule for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]
]
DASHBOARD: Final[dict[str, Any]] = json.loads((CHART / "files" / "dashboard.json").read_text(encoding="utf-8"))
OF_PROMETHEUS: Final = {"namespace", "pod", "le"}
"""Labels that come from where a figure is scraped, or from histograms."""


def promtool(*arguments: str) -> str:
    program = shutil.which("promtool")
    assert program is not None, "promtool is part of Debian's package prometheus"
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_rules_are_rules() -> None:
    """Prometheus itself reads them."""
    assert f"{len(ALERTS)} rules found" in promtool("check", "rules", str(RULES))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_alerts_fire_when_they_should(case: Path) -> None:
    """Each fires after its time, for what it is about alone, with its words, and ends."""
    promtool("test", "rules", str(case))


def test_every_alert_has_a_case() -> None:
    """It fires in one, and is silent in another, or for another series of the same."""
    tests = [test for case in CASES for test in yaml.safe_load(case.read_text(encoding="utf-8"))["tests"]]
    fired = {each["alertname"] for test in tests for each in test["alert_rule_test"] if each.get("exp_alerts")}
    assert fired == {rule["alert"] for rule in ALERTS}


def test_the_chart_has_the_same_rules() -> None:
    """What the operator is given is the file, with the runbooks where the values say they are."""
    (found,) = [each for each in rendered("everything") if each["kind"] == "PrometheusRule"]
    rules = found["spec"]["groups"][0]["rules"]
    assert [(rule["alert"], rule["expr"]) for rule in rules] == [(rule["alert"], rule["expr"]) for rule in ALERTS]
    for rule in rules:
        assert rule["annotations"]["runbook_url"].startswith("https://wiki.example.com/aop/runbooks#aop")


@pytest.mark.parametrize("page", ["runbooks.md", "runbooks.ja.md"])
def test_every_alert_has_its_runbook(page: str) -> None:
    """In both languages, at the anchor that the alert names, and there is no chapter without an alert."""
    chapters = re.findall(r"^## (\w+)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(chapters) == sorted(rule["alert"] for rule in ALERTS)
    for rule in ALERTS:
        assert rule["annotations"]["runbook_url"] == f"docs/runbooks.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in ("critical", "warning")


# ------------------------------------------------------------------------------------------------------- figures


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What the exporter, workers and servers really show: name -> labels."""
    with Valkey(tmp_path_factory.mktemp("valkey"), persistent=False, bound=True) as valkey:
        settings = Settings(redis_url=valkey.url)
        redis = open_redis(settings)
        ledger = open_ledger(settings, redis)
        ledger.open(fresh=True)
        shown = LedgerFigures(redis, ledger, settings.redis_prefix, lambda: [("token", 2e9)], lambda: [("redis", 2e9)])
        found: dict[str, set[str]] = {}
        for family in shown.collect():
            for sample in family.samples:
                found.setdefault(sample.name, set()).update(sample.labels)
        redis.close()
    for name, labels in _counted():
        found.setdefault(name, set()).update(labels)
    return found


def _counted() -> Iterator[tuple[str, set[str]]]:
    """What `workers.metrics.metrics` and `dispatching` show once each of them has counted something."""
    registry = CollectorRegistry()
    for metric in (*vars(metrics).values(), *vars(dispatching).values()):
        if isinstance(metric, Counter | Gauge | Histogram):
            _count_one(metric)
            registry.register(metric)
    for family in registry.collect():
        for sample in family.samples:
            yield sample.name, set(sample.labels)


def _count_one(metric: Counter | Gauge | Histogram) -> None:
    for labels in range(1, 4):
        try:
            metric.labels(*["test"] * labels)
        except ValueError:
            continue  # it has another number of labels, or none
        return


_WORDS: Final = re.compile(r"\baop_[a-z_]+\b(?:\{([^}]*)\})?")
_LABELS: Final = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_BY: Final = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")


def _expressions() -> Iterator[tuple[str, str]]:
    """Of alerts, of the dashboard, of what KEDA asks: where it stands, and what it asks."""
    yield from ((rule["alert"], rule["expr"]) for rule in ALERTS)
    for panel in DASHBOARD["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel.get("targets", ()))
    for found in rendered("keda-prometheus"):
        if found["kind"] == "ScaledObject":
            for trigger in found["spec"]["triggers"]:
                yield found["metadata"]["name"], trigger["metadata"]["query"]


def test_every_figure_exists(figures: dict[str, set[str]]) -> None:
    """What is asked for is shown by a process of ours, with the labels that it is chosen or grouped by."""
    asked = list(_expressions())
    assert len(asked) > 40
    for where, expression in asked:
        grouped = {label.strip() for labels in _BY.findall(expression) for label in labels.split(",")}
        names = [found[0].split("{")[0] for found in _WORDS.finditer(expression)]
        assert names, where
        known = set().union(*(figures.get(name, set()) for name in names)) | OF_PROMETHEUS
        assert set(names) <= figures.keys(), where
        assert grouped <= known, where
        for found in _WORDS.finditer(expression):
            chosen = set(_LABELS.findall(found[1] or ""))
            assert chosen <= figures[found[0].split("{")[0]] | OF_PROMETHEUS, where


def test_the_dashboard_shows_every_figure(figures: dict[str, set[str]]) -> None:
    """Nothing that we measure is left out of it."""
    shown = " ".join(expression for _, expression in _expressions())
    for name in figures:
        family = re.sub(r"_(bucket|sum|count|created|total)$", "", name)
        assert family in shown, name


def test_the_dashboard_can_be_imported() -> None:
    """Panels have ids of their own and do not lie on each other; everything asks the chosen data source."""
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels)
    for panel in panels:
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}"
    (found,) = [each for each in rendered("everything") if each["kind"] == "ConfigMap"]
    assert json.loads(found["data"]["aop.json"]) == DASHBOARD
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
