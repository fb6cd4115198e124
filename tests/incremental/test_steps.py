"""A job whose stages are taken by four workers, one after another, comes to what one process alone comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from pipeline.compilation import Compilation
from pipeline.compiler import Advance
from pipeline.generators.protocol import Generator
from pipeline.incremental.keys import Json
from pipeline.incremental.report import StageReport, Until
from pipeline.stores.memory import MemoryStore

from .test_incremental_equals_clean import EDITS, GENERATORS, Draw, Library, edit_project
from .world import Versioned, World, everything, files

STEPS: tuple[Until, ...] = ("parse", "resolve", "link")

MODELS: list[Callable[[], Generator]] = [
    *GENERATORS,
    lambda: Versioned("4", model="m"),
    lambda: Versioned("4", model="n"),
]


def receipt(compilation: Compilation) -> Json:
    """What publishing would hand back: that all files could be read."""
    return [compilation.status, sorted(files(compilation))]


def take_steps(
    world: World, path: str, store: MemoryStore, hand: Callable[[bytes], bytes | None] = lambda handed: handed
) -> tuple[Compilation, list[Advance]]:
    """Each step by a process of its own, which knows the store, and what the one before handed on. `hand`: what becomes
    of that on its way."""
    handed: bytes | None = None
    reported: Sequence[StageReport] = ()
    steps: list[Advance] = []
    for until in STEPS:
        compiler = world.compiler(store)
        step = compiler.advance(
            world.input(path), world.project(compiler, path), until=until, handed=handed, reported=reported
        )
        steps.append(step)
        handed, reported = hand(step.handed), step.compilation.stages
        if step.finished:
            break
    compiler = world.compiler(store)
    last = compiler.compile(
        world.input(path), world.project(compiler, path), publish=receipt, handed=handed, reported=reported
    )
    return last, steps


def in_one_go(world: World, path: str, store: MemoryStore) -> Compilation:
    compiler = world.compiler(store)
    return compiler.compile(world.input(path), world.project(compiler, path), publish=receipt)


def remembered(store: MemoryStore) -> object:
    """All that is in the store."""
    return store._traces, store._blobs, store._pointers


def edit_model(library: Library, draw: Draw) -> None:
    library.generator = MODELS[draw(st.integers(0, len(MODELS) - 1))]()


class Way:
    """What becomes of hand-offs on their way, at random."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._seen: list[bytes] = [b"", b"\n", b"0" * 64]

    def __call__(self, handed: bytes) -> bytes | None:
        self._seen.append(handed)
        match self._draw(st.integers(0, 5)):
            case 0:
                return None
            case 1:
                place = self._draw(st.integers(0, len(handed) - 1))
                return handed[:place] + bytes([handed[place] ^ self._draw(st.integers(1, 255))]) + handed[place + 1 :]
            case 2:
                return self._seen[self._draw(st.integers(0, len(self._seen) - 1))]
            case 3:
                return handed[: self._draw(st.integers(0, len(handed)))]
            case _:
                return handed


@given(st.data())
def test_four_steps_equal_one(data: st.DataObject) -> None:
    """Over any history of edits, under each policy of reuse, whatever becomes of hand-offs: the same files, findings,
    reports with their reasons and receipts, and byte for byte the same store."""
    library = Library()
    alone, together = MemoryStore(), MemoryStore()
    way = Way(data.draw)
    edit_project(library, data.draw)
    edit_project(library, data.draw)
    edits = [*EDITS, edit_model, edit_model]
    for _ in range(data.draw(st.integers(1, 6))):
        edits[data.draw(st.integers(0, len(edits) - 1))](library, data.draw)
        library.write()
        for path in library.files:
            one = in_one_go(library, path, alone)
            four, steps = take_steps(library, path, together, way)
            assert four.stages == one.stages
            assert everything(four) == everything(one)
            assert four.receipt == one.receipt
            assert four.recalled == one.recalled
            for step in steps:
                assert step.compilation.status in (one.status, "succeeded")
    assert remembered(together) == remembered(alone)
