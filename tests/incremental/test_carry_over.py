"""R3, I4: code that is kept although its generator is another one now, and code that does not fit any more."""

from __future__ import annotations

import pytest

from pipeline.artifacts import Fault, PhaseCode, Unit
from pipeline.compilation import Compilation
from pipeline.compiler import Options
from pipeline.diagnostics.bind import bind
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.generators.template import TemplateGenerator
from pipeline.incremental import carry, code
from pipeline.stores.memory import MemoryStore

from .world import Baking, Versioned, World, everything, what_ran


def warnings(compilation: Compilation) -> list[tuple[str, int | None, int | None]]:
    """Name, line and phase of each diagnostic."""
    bound = bind(compilation.findings, compilation.positions, "en")
    return [(entry.name, entry.line, entry.phase) for entry in bound]


def reasons(compilation: Compilation, name: str) -> set[tuple[str, ...]]:
    return {dict(f.arguments)["reasons"] for f in compilation.findings if f.name == name}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("older", "newer", "why"),
    [
        (Versioned("1"), Versioned("next"), ("stage-version",)),
        (Versioned("1", "small"), Versioned("1", "large"), ("model",)),
        (Versioned("1", "small"), Versioned("next", "large"), ("stage-version", "model")),
    ],
)
def test_code_of_another_version_or_model_is_kept_and_reported(
    older: Versioned, newer: Versioned, why: tuple[str, ...]
) -> None:
    """artifact-stale at each phase's heading, with the reasons; nothing is generated, and verify looks again."""
    world = World(generator=older)
    first = world.compile()
    world.generator = newer
    newer.asked.clear()
    second = world.compile()
    kept = {f"generate {n}": f"carried: {why[0]}" for n in (1, 2, 4)}
    assert what_ran(second.stages) == {**kept, "verify": why[0]}
    assert newer.asked == []
    assert warnings(second) == [("artifact-stale", 9, 1), ("artifact-stale", 17, 2), ("artifact-stale", 23, 4)]
    assert reasons(second, "artifact-stale") == {why}
    assert second.status == "succeeded"
    assert second.module == first.module


def test_kept_code_is_reported_and_verified_at_every_compile() -> None:
    """A warning is not lost because nothing changed since."""
    world = World(generator=Versioned("1"))
    world.compile()
    world.generator = Versioned("next")
    second = world.compile()
    third = world.compile()
    assert warnings(third) == warnings(second)
    assert what_ran(third.stages) == what_ran(second.stages)


def test_exact_generates_anew_what_compatible_keeps() -> None:
    """And what comes out is then a clean compile's."""
    world = World(generator=Versioned("1"))
    world.compile()
    world.generator, world.options = Versioned("next"), Options(reuse="exact")
    second = world.compile()
    run = dict.fromkeys(("generate 1", "generate 2", "generate 4", "link", "verify"), "stage-version")
    assert what_ran(second.stages) == run
    assert everything(second) == everything(world.compile(store=MemoryStore()))


def test_an_edited_phase_is_generated_by_the_present_version() -> None:
    """Only unchanged phases keep their code."""
    world = World(generator=Versioned("1"))
    world.compile()
    newer = world.generator = Versioned("next")
    world.edit("件数を数える。", "件数を正しく数える。")
    second = world.compile()
    assert newer.asked == ["数える"]
    assert what_ran(second.stages)["generate 2"] == "document"
    assert {phase for _, _, phase in warnings(second)} == {1, 4}


def test_own_code_is_preferred_to_newer_code_of_others() -> None:
    """Going back to a version that has code of its own leaves nothing to report."""
    world = World(generator=Versioned("1"))
    world.compile()
    world.generator, world.options = Versioned("next"), Options(reuse="exact")
    world.compile()
    world.generator, world.options = Versioned("1"), Options()
    third = world.compile()
    assert warnings(third) == []
    assert what_ran(third.stages) == {}


def test_code_of_another_generator_is_never_kept() -> None:
    """Which generator to use is an option."""
    world = World(generator=Versioned("1", name="other"))
    world.compile()
    world.generator = Versioned("1")
    second = world.compile()
    assert what_ran(second.stages)["generate 1"] == "options"
    assert warnings(second) == []


# ------------------------------------------------------------------------------------------------- I4


def test_a_fence_that_an_older_version_wrote_itself_is_stale_when_it_changes() -> None:
    """The compile succeeds; fence-stale stands at the fence, with its phase."""
    world = World(generator=Baking("1", own=("select 1\n",), shared=("社外秘\n",)))
    world.compile()
    world.generator = Versioned("next")
    world.edit("select 1", "select 2")
    second = world.compile()
    assert second.status == "succeeded"
    assert ("fence-stale", 13, 1) in warnings(second)
    assert reasons(second, "fence-stale") == {("stage-version",)}
    assert [entry for entry in warnings(second) if entry[0] == "fence-stale"] == [("fence-stale", 13, 1)]


def test_a_shared_fence_is_stale_once_a_phase() -> None:
    """Every phase whose kept code lacks it is named."""
    world = World(generator=Baking("1", own=("select 1\n",), shared=("社外秘\n",)))
    world.compile()
    world.generator = Versioned("next")
    world.edit("社外秘", "社内限り")
    second = world.compile()
    stale = [entry for entry in warnings(second) if entry[0] == "fence-stale"]
    assert stale == [("fence-stale", 5, 1), ("fence-stale", 5, 2), ("fence-stale", 5, 4)]


def test_fences_that_are_placed_by_link_are_never_stale() -> None:
    """Kept code that leaves the places of fences open gets the changed text (ours)."""
    world = World(generator=Versioned("1"))
    world.compile()
    world.generator = Versioned("next")
    world.edit("select 1", "select 2")
    second = world.compile()
    assert {name for name, _, _ in warnings(second)} == {"artifact-stale"}
    assert second.module is not None
    assert "select 2" in second.module.source


@pytest.mark.parametrize("reuse", ["exact", "never"])
def test_what_makes_a_stale_fence_arrive(reuse: str) -> None:
    """Generating anew does."""
    world = World(generator=Baking("1", own=("select 1\n",), shared=("社外秘\n",)))
    world.compile()
    world.generator, world.options = Versioned("next"), Options(reuse=reuse)  # type: ignore[arg-type]
    world.edit("select 1", "select 2")
    second = world.compile()
    assert warnings(second) == []
    assert everything(second) == everything(world.compile(store=MemoryStore()))


def test_code_that_was_edited_in_the_store_is_stale_where_it_lacks_a_fence() -> None:
    """Somebody stored other code under our generator's name: kept under `compatible`, made again under `exact`."""
    world = World(generator=Versioned("1", model="m"))
    first = world.compile()
    replace_code(world, Baking("1", own=("select 0\n",), shared=("社外秘\n",)).generate)
    world.edit("件数を数える。", "件数を正しく数える。")
    second = world.compile()
    assert second.status == "succeeded"
    assert ("fence-stale", 13, 1) in warnings(second)
    world.options = Options(reuse="exact")
    third = world.compile()
    assert warnings(third) == []
    assert what_ran(third.stages)["generate 1"] == "artifact-damaged"
    assert first.module != third.module


def replace_code(world: World, generate: object) -> None:
    """Put other code in the place of phase 1's, as somebody with an editor could."""
    parsed, resolved = world.compile().parsed, world.compile().resolved
    assert parsed is not None and resolved is not None
    from pipeline.stages.generate import units_of

    unit = units_of(parsed, resolved)[0]
    assert unit is not None
    made = code.pack(generate(unit, ()))  # type: ignore[operator]
    world.store.add_trace(carry.unit_key(carry.unit_digest(unit)), code.signed(world.generator.identity, made))


class Withholding:
    """An older version that attached no tools at all."""

    identity = GeneratorIdentity("template", "0")

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        return TemplateGenerator().generate(unit._replace(tools=()), faults)


def test_tools_are_never_kept_wrong() -> None:
    """Kept code with other tools than declared is generated again, whoever made it."""
    world = World(generator=Versioned("1", model="m"))
    world.compile()
    replace_code(world, Withholding().generate)
    world.edit("件数を数える。", "件数を正しく数える。")
    second = world.compile()
    assert what_ran(second.stages)["generate 1"] == "artifact-damaged"
    assert warnings(second) == []
    assert everything(second) == everything(world.compile(store=MemoryStore()))
