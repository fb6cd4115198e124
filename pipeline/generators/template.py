"""The default generator: whole instructions without a language model, the prose as it is (I1). Never narrows (T7)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from pipeline.generators.protocol import GeneratorIdentity

if TYPE_CHECKING:
    from pipeline.artifacts import Fault, PhaseCode, Unit

_NAME = "template"
_VERSION = "2"
"""Raised whenever the same unit gets other code."""


_IDENTITY = GeneratorIdentity(_NAME, _VERSION)


class TemplateGenerator:
    """Implements `Generator`. The code depends on the unit alone: there is no choice that faults could change."""

    @property
    def identity(self) -> GeneratorIdentity:
        return _IDENTITY

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        return self._code_of(unit)

    @cached_property
    def _code_of(self) -> Callable[[Unit], PhaseCode]:
        # Loaded with the first phase: where nothing changed, only the identity is asked for.
        from pipeline.generators.instructions import code_of  # noqa: PLC0415 - see above

        return code_of
