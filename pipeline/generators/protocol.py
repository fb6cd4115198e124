"""What a generator is: it turns one phase's unit into code, and proves nothing: the verifier reads the code (I3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from pipeline.artifacts import Fault, PhaseCode, Unit


class GeneratorIdentity(NamedTuple):
    """What distinguishes code of one generator from another's (R3). `model` is "" for a generator that asks none."""

    name: str
    version: str
    model: str = ""


class Generator(Protocol):
    """Deterministic for a unit as far as its identity promises.

    Called once a phase, and again for each rewrite, with the faults that the verifier found in the last attempt. One
    whose identity names a model is called by several threads at once, for several phases of a document.
    """

    @property
    def identity(self) -> GeneratorIdentity: ...

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode: ...
