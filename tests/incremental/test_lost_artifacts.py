"""What the store lost or damaged is made again, and nothing else (R3 `artifact-missing`, `artifact-damaged`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from pipeline.compilation import Compilation
from pipeline.compiler import Options
from pipeline.generators.protocol import Generator
from pipeline.generators.template import TemplateGenerator
from pipeline.incremental import carry, code
from pipeline.incremental.bundle import Bundle
from pipeline.incremental.record import record_key
from pipeline.stages.generate import units_of
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import DamagedBlob

from .world import Versioned, World, everything, what_ran

RECORD = record_key("weekly.md")

TEMPLATE = TemplateGenerator()

MODEL = Versioned("1", model="m")
"""Its code is kept apart from the bundle as well."""

GENERATED = ("generate 1", "generate 2", "generate 4")


class Shaky(MemoryStore):
    """A store on a bad disk: the blobs in `damaged` are found out when they are read, and dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.damaged: set[str] = set()

    def get_blob(self, digest: str) -> bytes | None:
        if digest in self.damaged:
            self.damaged.remove(digest)
            self.lose([digest])
            raise DamagedBlob("here", digest)
        return super().get_blob(digest)

    def digests(self) -> list[str]:
        return list(self._blobs)

    def lose(self, digests: Iterable[str]) -> None:
        for digest in digests:
            self._blobs.pop(digest, None)
            self._recent.pop((digest, None), None)

    def forget_traces(self, which: Callable[[str], bool]) -> None:
        self._traces = {key: traces for key, traces in self._traces.items() if not which(key)}
        self._recent = {entry: used for entry, used in self._recent.items() if entry[1] is None or not which(entry[0])}


Harm = Callable[[Shaky, Compilation], None]


def lose_bundles(store: Shaky, _: Compilation) -> None:
    store.lose(store.digests())


def damage_bundles(store: Shaky, _: Compilation) -> None:
    store.damaged.update(store.digests())


def replace_bundles(store: Shaky, _: Compilation) -> None:
    """Whole, and yet none: as another program would have written them."""
    for digest in store.digests():
        store._blobs[digest] = b"[1,2]\nwords"


def empty_bundles(store: Shaky, _: Compilation) -> None:
    for digest in store.digests():
        store._blobs[digest] = Bundle().to_bytes()


def code_key(compilation: Compilation, place: int) -> str:
    assert compilation.parsed is not None and compilation.resolved is not None
    unit = units_of(compilation.parsed, compilation.resolved)[place]
    assert unit is not None
    return carry.unit_key(carry.unit_digest(unit))


def lose_code(store: Shaky, compilation: Compilation) -> None:
    key = code_key(compilation, 0)
    store.forget_traces(lambda entry: entry == key)


def damage_code(store: Shaky, compilation: Compilation) -> None:
    """Under its key there is something else."""
    key = code_key(compilation, 0)
    store.forget_traces(lambda entry: entry == key)
    store.add_trace(key, code.signed(MODEL.identity, b"words"))


def replace_code(store: Shaky, compilation: Compilation) -> None:
    key = code_key(compilation, 0)
    store.forget_traces(lambda entry: entry == key)
    store.add_trace(key, b"words")


def another_size_limit(world: World) -> None:
    """Parses again, and nothing else."""
    world.options = Options(max_bytes=1 << 19)


def an_unused_operation(world: World) -> None:
    """Resolves again, and nothing else."""
    world.operation("chat", "search_messages")["description"] = "別の説明"


def a_word_in_phase_2(world: World) -> None:
    world.edit("件数を数える。", "件数を正しく数える。")


HARM_TO_BUNDLES = pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (lose_bundles, "artifact-missing"),
        (damage_bundles, "artifact-damaged"),
        (replace_bundles, "artifact-damaged"),
        (empty_bundles, "artifact-damaged"),
    ],
)

HARM_TO_CODE = pytest.mark.parametrize("harm", [lose_code, replace_code])


def compile_after(harm: Harm, edit: Callable[[World], None], generator: Generator = TEMPLATE) -> dict[str, str]:
    """What runs, and that it comes to what a clean compile comes to, after which nothing runs."""
    world = harmed(harm, edit, generator)
    second = world.compile()
    assert everything(second) == everything(world.compile(store=MemoryStore()))
    assert what_ran(world.compile().stages) == {}
    return what_ran(second.stages)


def harmed(harm: Harm, edit: Callable[[World], None], generator: Generator = TEMPLATE) -> World:
    store = Shaky()
    world = World(store=store, generator=generator)
    first = world.compile()
    edit(world)
    harm(store, first)
    return world


@HARM_TO_BUNDLES
@pytest.mark.parametrize(
    ("edit", "ran", "because"),
    [
        (another_size_limit, {"parse": "options"}, ["resolve", "link"]),
        (an_unused_operation, {"resolve": "tool-schema"}, ["parse", "link"]),
    ],
)
def test_a_lost_bundle_runs_the_stages_that_need_it(
    edit: Callable[[World], None], ran: dict[str, str], because: list[str], harm: Harm, reason: str
) -> None:
    """`ran` is what the edit asks for; what is gone runs besides, says so, and gives what it gave before: so the module
    is known to be proven. What a model made is still there, apart from the bundle."""
    expected = {**ran, **dict.fromkeys(because, reason)}
    assert what_ran(harmed(harm, edit, MODEL).plan()) == expected
    assert compile_after(harm, edit, MODEL) == expected
    expected |= dict.fromkeys(GENERATED, reason)
    assert compile_after(harm, edit) == expected
    # A plan generates nothing, and cannot know that it will come to the same.
    assert what_ran(harmed(harm, edit).plan()) == {**expected, "verify": reason}


@HARM_TO_BUNDLES
def test_an_edited_document_does_not_miss_what_it_does_not_need(harm: Harm, reason: str) -> None:
    """Only reasons compare with the lost bundle, where a model's code is kept apart: a phase that cannot be compared is
    a new one."""
    assert reason not in compile_after(harm, a_word_in_phase_2, MODEL).values()
    assert compile_after(harm, a_word_in_phase_2, MODEL)["generate 2"] == "new"


@HARM_TO_BUNDLES
def test_an_edited_document_misses_the_code_of_its_other_phases(harm: Harm, reason: str) -> None:
    """That of no model goes with the bundle."""
    expected = {
        "parse": "document",
        "resolve": "document",
        "generate 1": reason,
        "generate 2": "new",
        "generate 4": reason,
        "link": reason,
        "verify": reason,
    }
    assert what_ran(harmed(harm, a_word_in_phase_2).plan()) == expected
    assert compile_after(harm, a_word_in_phase_2) == expected


@HARM_TO_CODE
@pytest.mark.parametrize("edit", [a_word_in_phase_2, another_size_limit])
def test_a_models_code_is_not_missed_while_it_is_in_the_bundle(harm: Harm, edit: Callable[[World], None]) -> None:
    """It is kept twice, so that neither loss costs the model's time."""
    ran = compile_after(harm, edit, MODEL)
    assert ran == compile_after(lambda store, first: None, edit, MODEL)
    assert "generate 1" not in ran


def test_code_that_is_none_is_generated_again() -> None:
    """And what comes to the same again is not linked again."""
    assert compile_after(damage_code, another_size_limit, MODEL) == {
        "parse": "options",
        "generate 1": "artifact-damaged",
    }


@HARM_TO_BUNDLES
def test_an_unchanged_document_misses_what_is_gone_when_it_is_looked_at(harm: Harm, reason: str) -> None:
    """Its record answers without a look at the bundle; if it is asked for and gone, what it held is made again."""
    store = Shaky()
    world = World(store=store)
    first = world.compile()
    before = everything(first)
    harm(store, first)
    second = world.compile()
    assert what_ran(second.stages) == {}
    assert everything(second) == before
    assert what_ran(second.stages) == dict.fromkeys(["parse", "resolve", *GENERATED, "link"], reason)
    assert what_ran(world.compile().stages) == {}
    assert everything(world.compile()) == before


def test_a_store_that_lost_everything_begins_anew() -> None:
    """Without records and code, every document is a new one."""
    store = Shaky()
    world = World(store=store)
    first = world.compile()
    store.forget_traces(lambda _: True)
    second = world.compile()
    assert set(what_ran(second.stages).values()) == {"new"}
    assert everything(second) == everything(first)


def test_a_document_whose_record_was_pruned_keeps_its_code() -> None:
    """What may have cost a model's time is found by the phases alone, at another path, too."""
    store = Shaky()
    world = World(store=store, generator=Versioned("1", model="m"))
    world.compile()
    world.files["moved.md"] = world.files["weekly.md"]
    assert what_ran(world.compile("moved.md").stages) == dict.fromkeys(("parse", "resolve", "link", "verify"), "new")
    store.forget_traces(lambda key: key == RECORD)
    assert what_ran(world.compile().stages) == dict.fromkeys(("parse", "resolve", "link", "verify"), "new")


def test_everything_but_the_record_was_pruned() -> None:
    """The document is known, what its stages made is not."""
    store = Shaky()
    world = World(store=store)
    world.compile()
    store.forget_traces(lambda key: key != RECORD)
    store.lose(store.digests())
    world.generator = Versioned("next")
    assert what_ran(world.compile().stages) == {
        "parse": "artifact-missing",
        "resolve": "artifact-missing",
        "generate 1": "artifact-missing",
        "generate 2": "artifact-missing",
        "generate 4": "artifact-missing",
        "link": "artifact-missing",
        "verify": "artifact-missing",
    }
