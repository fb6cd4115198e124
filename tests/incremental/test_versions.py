"""R1: a stage has a version of its own; a new one runs that stage, and nothing behind it that is given the same."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from pipeline import canonical, compiler
from pipeline.incremental import keys, past, phases
from pipeline.stages import versions

from .world import World, everything, what_ran


@pytest.mark.parametrize("stage", ["parse", "resolve", "link", "verify"])
def test_a_new_version_of_a_stage_runs_that_stage_alone(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes to the same here, so that nothing behind it runs."""
    world = World()
    first = world.compile()
    monkeypatch.setitem(versions.BY_STAGE, stage, "next")
    monkeypatch.setattr(importlib.import_module(f"pipeline.stages.{stage}"), "VERSION", "next")
    planned = world.plan()
    second = world.compile()
    assert what_ran(second.stages) == {stage: "stage-version"}
    assert planned == second.stages
    assert everything(second) == everything(first)
    assert what_ran(world.compile().stages) == {}


@pytest.mark.parametrize("stage", ["parse", "resolve", "link", "verify"])
def test_stages_have_the_versions_that_are_listed_apart(stage: str) -> None:
    """A compile that runs no stage reads them there."""
    module: ModuleType = importlib.import_module(f"pipeline.stages.{stage}")
    assert versions.BY_STAGE[stage] == module.VERSION


def test_a_new_schema_of_the_artifacts_runs_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stored under the old one is not found, rather than misread."""
    world = World()
    world.compile()
    for module in (canonical, compiler, keys, phases, past):
        monkeypatch.setattr(module, "SCHEMA_VERSION", 999)
    second = world.compile()
    assert set(what_ran(second.stages).values()) == {"stage-version"}
    assert len(what_ran(second.stages)) == 7
