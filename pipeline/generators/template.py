"""The default generator: whole instructions without a language model, the prose as it is (I1). Never narrows (T7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.generators.protocol import GeneratorIdentity

if TYPE_CHECKING:
    from pipeline.artifacts import Fault, PhaseCode, Unit

_NAME = "template"
_VERSION = "1"
"""Raised whenever the same unit gets other code."""


class TemplateGenerator:
    """Implements `Generator`. The code depends on the unit alone: there is no choice that faults could change."""

    @property
    def identity(self) -> GeneratorIdentity:
        return GeneratorIdentity(_NAME, _VERSION)

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        # Loaded with the first phase: where nothing changed, only the identity is asked for.
        from pipeline.generators.instructions import instructions_of  # noqa: PLC0415
        from pipeline.generators.source import render_phase  # noqa: PLC0415

        return render_phase(unit, instructions_of(unit), unit.tools)
