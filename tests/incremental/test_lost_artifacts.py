"""What the store lost or damaged is made again, and nothing else (R3 `artifact-missing`, `artifact-damaged`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from pipeline import canonical
from pipeline.compilation import Compilation
from pipeline.compiler import Options
from pipeline.incremental.record import record_key
from pipeline.stages.generate import units_of
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import DamagedBlob

from .world import Versioned, World, everything, what_ran


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

    def lose(self, digests: Iterable[str]) -> None:
        for digest in digests:
            self._blobs.pop(digest, None)
            self._recent.pop((digest, None), None)

    def forget_traces(self, but: str = "") -> None:
        self._traces = {key: traces for key, traces in self._traces.items() if key == but}
        self._recent = {entry: None for entry in self._recent if entry[1] is None or entry[0] == but}


Which = Callable[[Compilation], str]


def parsed(compilation: Compilation) -> str:
    assert compilation.parsed is not None
    return canonical.digest(compilation.parsed)


def resolved(compilation: Compilation) -> str:
    assert compilation.resolved is not None
    return canonical.digest(compilation.resolved)


def module(compilation: Compilation) -> str:
    assert compilation.module is not None
    return canonical.digest(compilation.module)


def code(place: int) -> Which:
    def which(compilation: Compilation) -> str:
        assert compilation.parsed is not None and compilation.resolved is not None
        unit = units_of(compilation.parsed, compilation.resolved)[place]
        assert unit is not None
        return canonical.digest(World().generator.generate(unit, ()))

    return which


def lose(store: Shaky, digest: str) -> None:
    store.lose([digest])


def damage(store: Shaky, digest: str) -> None:
    store.damaged.add(digest)


HARM = pytest.mark.parametrize(("harm", "reason"), [(lose, "artifact-missing"), (damage, "artifact-damaged")])


def another_size_limit(world: World) -> None:
    """Parses again, and nothing else."""
    world.options = Options(max_bytes=1 << 19)


def an_unused_operation(world: World) -> None:
    """Resolves again, and nothing else."""
    world.operation("chat", "search_messages")["description"] = "別の説明"


def a_word_in_phase_2(world: World) -> None:
    world.edit("件数を数える。", "件数を正しく数える。")


@HARM
@pytest.mark.parametrize(
    ("edit", "gone", "ran", "because"),
    [
        (an_unused_operation, [parsed], {"resolve": "tool-schema"}, ["parse"]),
        (another_size_limit, [resolved], {"parse": "options"}, ["resolve"]),
        (another_size_limit, [module], {"parse": "options"}, ["link"]),
        (another_size_limit, [module, code(0)], {"parse": "options"}, ["generate 1", "link"]),
        (
            a_word_in_phase_2,
            [code(0)],
            {"parse": "document", "resolve": "document", "generate 2": "document"},
            ["generate 1", "link", "verify"],
        ),
    ],
    ids=["parsed", "resolved", "module", "module and code", "code"],
)
def test_a_lost_artifact_runs_its_own_stage(
    edit: Callable[[World], None],
    gone: list[Which],
    ran: dict[str, str],
    because: list[str],
    harm: Callable[[Shaky, str], None],
    reason: str,
) -> None:
    """`ran` is what the edit asks for; what is gone runs besides, says so, and gives what it gave before."""
    store = Shaky()
    world = World(store=store)
    first = world.compile()
    digests = [which(first) for which in gone]
    edit(world)
    for digest in digests:
        harm(store, digest)
    second = world.compile()
    assert what_ran(second.stages) == {**ran, **dict.fromkeys(because, reason)}
    assert everything(second) == everything(world.compile(store=MemoryStore()))
    assert what_ran(world.compile().stages) == {}


@HARM
@pytest.mark.parametrize(
    ("which", "stage"),
    [(parsed, "parse"), (resolved, "resolve"), (module, "link")],
    ids=["parsed", "resolved", "module"],
)
def test_an_unchanged_document_misses_what_is_gone_when_it_is_looked_at(
    which: Which, stage: str, harm: Callable[[Shaky, str], None], reason: str
) -> None:
    """Its record answers without a look at the artifacts; one that is asked for and gone is made again."""
    store = Shaky()
    world = World(store=store)
    first = world.compile()
    before = everything(first)
    harm(store, which(first))
    second = world.compile()
    assert what_ran(second.stages) == {}
    assert everything(second) == before
    assert what_ran(second.stages) == {stage: reason}


def test_a_store_that_lost_everything_begins_anew() -> None:
    """Without records, every document is a new one."""
    store = Shaky()
    world = World(store=store)
    first = world.compile()
    store.forget_traces()
    second = world.compile()
    assert set(what_ran(second.stages).values()) == {"new"}
    assert everything(second) == everything(first)


def test_a_trace_that_was_pruned_is_missed() -> None:
    """The document is known, what its stages recorded is not."""
    store = Shaky()
    world = World(store=store)
    world.compile()
    store.forget_traces(but=record_key("weekly.md", check=False))
    world.generator = Versioned("2")
    second = world.compile()
    assert what_ran(second.stages) == {
        "parse": "artifact-missing",
        "resolve": "artifact-missing",
        "generate 1": "artifact-missing",
        "generate 2": "artifact-missing",
        "generate 4": "artifact-missing",
        "link": "artifact-missing",
        "verify": "artifact-missing",
    }
