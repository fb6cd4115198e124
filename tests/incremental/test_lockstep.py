"""Documents that take a stage in turn come to what each comes to alone."""

from __future__ import annotations

import pytest

from pipeline.incremental.lockstep import Steps, finish, together
from pipeline.stores.memory import MemoryStore

from .world import World, everything, what_ran


def counting(name: str, steps: int, order: list[str]) -> Steps[str]:
    for _ in range(steps):
        order.append(name)
        yield
    return name


def test_all_take_a_step_in_turn() -> None:
    """Those that are done drop out; results are in the order of the work."""
    order: list[str] = []
    assert together([counting("a", 3, order), counting("b", 1, order), counting("c", 2, order)]) == ["a", "b", "c"]
    assert order == ["a", "b", "c", "a", "c", "a"]


def test_one_alone_takes_all_its_steps() -> None:
    """Its result is what the generator returns."""
    order: list[str] = []
    assert finish(counting("a", 3, order)) == "a"
    assert order == ["a", "a", "a"]


def test_what_a_step_raises_is_raised() -> None:
    """Nothing is swallowed on the way."""

    def failing() -> Steps[None]:
        yield
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        together([failing(), failing()])


def test_documents_compiled_together_come_to_the_same() -> None:
    """Through one store, different documents and equal ones."""
    world = World()
    for n in range(6):
        world.files[f"{n}.md"] = world.files["weekly.md"].replace("件数を数える。", f"件数 {n % 3} を数える。")
    paths = sorted(world.files)
    compiler = world.compiler()
    project = world.project(compiler, "")
    made = together([compiler.compiling(world.input(path), project) for path in paths])
    for path, compilation in zip(paths, made, strict=True):
        assert everything(compilation) == everything(world.compile(path, MemoryStore()))
    assert [what_ran(world.compile(path).stages) for path in paths] == [{}] * len(paths)
