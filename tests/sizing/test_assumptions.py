"""What the simulation takes for granted is so: settings, limits and sizes of the service and of its chart."""

from __future__ import annotations

from pathlib import Path

import yaml

from bench.sizing import loads, simulation
from server.rest import recompiles
from workers.bulk import duties
from workers.settings import Settings

VALUES = yaml.safe_load((Path(__file__).parents[2] / "helm" / "aop" / "values.yaml").read_text(encoding="utf-8"))
WANTED = loads.load()


def test_settings_are_the_defaults_of_the_service() -> None:
    """Whoever changes one has the table computed anew."""
    defaults = {name: field.default for name, field in Settings.model_fields.items()}
    found = WANTED.settings
    assert (found.quiet_s * 1_000, found.tick_s * 1_000) == (defaults["quiet_ms"], defaults["tick_ms"])
    assert (found.bulk_window, found.keep_jobs_s) == (defaults["bulk_window"], defaults["keep_jobs_s"])


def test_pods_are_those_of_the_chart() -> None:
    """Processes of a pod, a dispatcher's memory, how often gc runs."""
    assert WANTED.settings.concurrency == VALUES["workerDefaults"]["concurrency"]
    assert VALUES["dispatcher"]["resources"]["limits"]["memory"] == f"{WANTED.limits.dispatcher_mb:.0f}Mi"
    minute, hour, *days = VALUES["jobs"]["gc"]["schedule"].split()
    assert minute.isdigit() and hour.isdigit() and days == ["*", "*", "*"]
    assert WANTED.use.gc_runs == 30


def test_limits_are_those_of_the_code() -> None:
    """Recompiles that one look begins, the time for a plan."""
    assert simulation.FEED_AT_ONCE == duties._AT_ONCE
    assert WANTED.limits.plan_s == recompiles._PLAN_S
