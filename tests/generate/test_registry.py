"""Generators by name and version (R3)."""

from __future__ import annotations

import pytest

from pipeline.artifacts import Fault, PhaseCode, Unit
from pipeline.generators.protocol import Generator, GeneratorIdentity
from pipeline.generators.registry import Registry, UnknownGenerator, default_registry
from pipeline.generators.template import TemplateGenerator


class Older(TemplateGenerator):
    """The template, in a version before the current one."""

    @property
    def identity(self) -> GeneratorIdentity:
        return GeneratorIdentity("template", "0")

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        return super().generate(unit, faults)


def test_the_template_is_the_default() -> None:
    """It needs neither network nor settings."""
    assert default_registry().find().identity.name == "template"


def test_an_older_version_is_found_beside_the_current_one() -> None:
    """The one that was registered last is current."""
    older: Generator = Older()
    registry = Registry([older, TemplateGenerator()])
    assert registry.find("template", "0") is older
    assert registry.find("template").identity == TemplateGenerator().identity
    registry.register(older)
    assert registry.find() is older


def test_an_unknown_generator_is_an_error_that_names_the_known() -> None:
    """By name, and by version."""
    with pytest.raises(UnknownGenerator, match="there are: template"):
        default_registry().find("modell")
    with pytest.raises(UnknownGenerator, match=r"has no version '9'"):
        default_registry().find("template", "9")
    with pytest.raises(UnknownGenerator, match="there are: none"):
        Registry().find()
