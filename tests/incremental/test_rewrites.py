"""I3: what the verifier finds in new code goes back to the generator, at most `rewrites` times; then the compile
fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.artifacts import Fault, FenceSlot, PhaseCode, Unit
from pipeline.compiler import Options
from pipeline.diagnostics.bind import bind
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.generators.template import TemplateGenerator

from .world import World, what_ran

Spoil = Callable[[PhaseCode], PhaseCode]


def without_fences(code: PhaseCode) -> PhaseCode:
    return PhaseCode(tuple('"（略）\\n"' if isinstance(piece, FenceSlot) else piece for piece in code.source))


def replacing(old: str, new: str) -> Spoil:
    def spoil(code: PhaseCode) -> PhaseCode:
        return PhaseCode(tuple(p.replace(old, new) if isinstance(p, str) else p for p in code.source))

    return spoil


class Careless:
    """Spoils the code of the phase with the title `title` in its first `times` attempts."""

    identity = GeneratorIdentity("careless", "1")

    def __init__(self, title: str, spoil: Spoil, times: int) -> None:
        self._title = title
        self._spoil = spoil
        self._times = times
        self.asked: list[tuple[str, tuple[Fault, ...]]] = []

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        self.asked.append((unit.title, faults))
        attempts = sum(title == unit.title for title, _ in self.asked)
        code = TemplateGenerator().generate(unit, faults)
        return self._spoil(code) if unit.title == self._title and attempts <= self._times else code


@pytest.mark.parametrize(
    ("title", "spoil", "kind"),
    [
        ("集める", without_fences, "fence"),
        ("数える", replacing('"run_query"', '"run_query", "post_entry"'), "tools"),
        ("数える", replacing('Mcp("ledger"', 'Mcp("crm"'), "tools"),
        ("数える", replacing("instructions=(", "instructions=str("), "form"),
    ],
)
@pytest.mark.parametrize("times", [1, 2])
def test_a_faulty_phase_is_written_again_with_its_faults(title: str, spoil: Spoil, kind: str, times: int) -> None:
    """Only that phase, each time with what was found in the last attempt; then nothing is left to say."""
    generator = Careless(title, spoil, times)
    compilation = World(generator=generator).compile()
    assert compilation.status == "succeeded"
    assert compilation.findings == ()
    again = [(asked, {fault.kind for fault in faults}) for asked, faults in generator.asked[3:]]
    assert again == [(title, {kind})] * times


@pytest.mark.parametrize(
    ("title", "spoil", "name", "line", "phase"),
    [
        ("集める", without_fences, "fence-lost", 13, 1),
        ("数える", replacing('"run_query"', '"run_query", "post_entry"'), "tools-mismatch", 17, 2),
        ("数える", replacing('Mcp("ledger"', 'Mcp("crm"'), "tools-mismatch", 17, 2),
    ],
)
@pytest.mark.parametrize("rewrites", [0, 1, 2])
def test_after_the_last_rewrite_the_compile_fails(
    title: str, spoil: Spoil, name: str, line: int, phase: int, rewrites: int
) -> None:
    """With what is wrong, where, and how often it was tried; there is no module."""
    generator = Careless(title, spoil, 99)
    compilation = World(generator=generator, options=Options(rewrites=rewrites)).compile()
    assert compilation.status == "failed"
    assert compilation.module is None
    bound = bind(compilation.findings, compilation.positions, "en")
    assert (name, line, phase) in [(entry.name, entry.line, entry.phase) for entry in bound]
    assert {entry.name for entry in bound} == {name}
    assert all(dict(finding.arguments)["attempts"] == rewrites + 1 for finding in compilation.findings)
    assert len(generator.asked) == 3 + rewrites


def test_the_good_phases_of_a_failed_compile_are_kept() -> None:
    """The next compile asks for the failed phase only, and a failure is never taken for a result."""
    world = World(generator=Careless("数える", replacing('"run_query"', '"run_query", "post_entry"'), 99))
    world.compile()
    generator = world.generator = Careless("数える", without_fences, 0)
    second = world.compile()
    assert second.status == "succeeded"
    assert [title for title, _ in generator.asked] == ["数える"]
    assert what_ran(second.stages) == {"generate 2": "new", "link": "new", "verify": "new"}
