"""A job whose stages are taken by four workers, one after another, comes to what one process alone comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.artifacts import (
    CodePiece,
    Fault,
    FenceSlot,
    ParsedDocument,
    PhaseCode,
    ResolvedDocument,
    Unit,
    Verdict,
)
from pipeline.compilation import Compilation
from pipeline.compiler import Advance, Options
from pipeline.generators.protocol import Generator
from pipeline.incremental import handoff
from pipeline.incremental.carry import Reuse
from pipeline.incremental.code import fits
from pipeline.incremental.code import pack as pack_code
from pipeline.incremental.keys import Json, encode
from pipeline.incremental.report import Reason, StageReport, Until
from pipeline.stages import verify as verify_stage
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import DamagedBlob

from .test_generation import Asked, as_it_is
from .test_incremental_equals_clean import EDITS, GENERATORS, Draw, Library, edit_project
from .test_rewrites import Spoil, replacing, without_fences
from .world import Versioned, World, everything, files, what_ran

STEPS: tuple[Until, ...] = ("parse", "resolve", "link")


class Sloppy(Versioned):
    """Spoils some phases until it is told, and others always."""

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        code = super().generate(unit, faults)
        spoils = not faults if "数える" in unit.title else "集める" in unit.title and "1" in str(unit.body)
        return replacing("title=", "titel=")(code) if spoils else code


MODELS: list[Callable[[], Generator]] = [
    *GENERATORS,
    lambda: Versioned("4", model="m"),
    lambda: Versioned("4", model="n"),
    lambda: Sloppy("5"),
    lambda: Sloppy("5", model="m"),
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


def test_a_step_goes_no_further_than_it_is_told() -> None:
    """What is behind it has not been looked at, and nothing is remembered before the last."""
    generator = Asked(as_it_is)
    world = World(generator=generator)
    last, steps = take_steps(world, "weekly.md", MemoryStore())
    assert [[report.stage for report in step.compilation.stages] for step in steps] == [
        ["parse"],
        ["parse", "resolve"],
        ["parse", "resolve", "generate", "generate", "generate", "generate", "link"],
    ]
    assert [step.finished for step in steps] == [False] * 3
    assert steps[0].compilation.parsed == last.parsed
    assert steps[1].compilation.resolved == last.resolved
    assert [step.compilation.module for step in steps] == [None] * 3
    assert sorted(generator.asked) == sorted(["集める", "数える", "知らせる"])


@pytest.mark.parametrize("model", ["", "m"])
@pytest.mark.parametrize("lost", [False, True])
def test_no_model_is_asked_twice(model: str, lost: bool) -> None:
    """Its code is handed on, and stored; one who asks no model makes its code again if the hand-off is lost."""
    generator = Asked(as_it_is, model)
    world = World(generator=generator)
    last, _ = take_steps(world, "weekly.md", MemoryStore(), (lambda _: None) if lost else (lambda it: it))
    assert last.status == "succeeded"
    assert {report.reason for report in last.stages if report.outcome == "ran"} == {"new"}
    assert len(generator.asked) == (6 if lost and not model else 3)


@pytest.mark.parametrize(
    ("change", "until"),
    [
        (lambda world: world.edit("# 週次報告", "\udcff"), "parse"),
        (lambda world: world.edit("drive の files", "driv の files"), "resolve"),
        (lambda world: world.edit("drive の files (read-only)", "drive の files (read-only"), "parse"),
    ],
    ids=["unreadable", "unknown tool", "not closed"],
)
def test_a_document_with_errors_is_finished_where_they_are_found(change: Callable[[World], None], until: str) -> None:
    """The last step tells all of them, and remembers them."""
    world = World()
    change(world)
    alone, together = MemoryStore(), MemoryStore()
    one = in_one_go(world, "weekly.md", alone)
    four, steps = take_steps(world, "weekly.md", together)
    assert (four.status, four.stages, everything(four)) == ("failed", one.stages, everything(one))
    assert [step.finished for step in steps] == [False] * (len(steps) - 1) + [True]
    assert len(steps) == ["parse", "resolve"].index(until) + 1
    assert remembered(together) == remembered(alone)


def test_an_unchanged_document_is_finished_at_once() -> None:
    """Also where an edit is taken back; only the last step makes that the document's last compile."""
    world = World()
    store = MemoryStore()
    take_steps(world, "weekly.md", store)
    world.edit("件数を数える。", "合計を出す。")
    take_steps(world, "weekly.md", store)
    world.edit("合計を出す。", "件数を数える。")
    before = [list(traces) for traces in store._traces.values()]
    compiler = world.compiler(store)
    step = compiler.advance(world.input("weekly.md"), world.project(compiler, "weekly.md"), until="parse")
    assert step.finished
    assert step.compilation.recalled
    assert [list(traces) for traces in store._traces.values()] == before
    last, steps = take_steps(world, "weekly.md", store)
    assert len(steps) == 1
    assert last.recalled
    assert [list(traces) for traces in store._traces.values()] != before


@pytest.mark.parametrize("gone", ["blobs", "damaged"])
@pytest.mark.parametrize("edited", [False, True])
def test_what_the_store_has_lost_is_reported_as_in_one_go(gone: str, edited: bool) -> None:
    """The first step finds it out and the store drops what is damaged; the others know it from the hand-off."""
    stores = []
    compilations = []
    for go in (in_one_go, lambda world, path, store: take_steps(world, path, store)[0]):
        world = World()
        store = DamagingStore()
        in_one_go(world, "weekly.md", store)
        store.harm(gone)
        if edited:
            world.edit("## フェーズ 2: 数える", "<!-- 注 -->\n\n## フェーズ 2: 数える")
        compilations.append(go(world, "weekly.md", store))
        stores.append(remembered(store))
    assert compilations[0].stages == compilations[1].stages
    assert everything(compilations[0]) == everything(compilations[1])
    assert stores[0] == stores[1]


class DamagingStore(MemoryStore):
    """A store that can lose or damage all its blobs; what is damaged is reported once, and dropped."""

    def __init__(self) -> None:
        super().__init__()
        self._harmed: set[str] = set()

    def harm(self, how: str) -> None:
        if how == "damaged":
            self._harmed = set(self._blobs)
        self._blobs.clear()

    def get_blob(self, digest: str) -> bytes | None:
        if digest in self._harmed:
            self._harmed.discard(digest)
            raise DamagedBlob("memory", digest)
        return super().get_blob(digest)

    def put_blob(self, data: bytes) -> str:
        digest = super().put_blob(data)
        self._harmed.discard(digest)
        return digest


def test_handed_code_is_read_although_its_module_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record says so; but the bytes came from another process. It is reported as in one go."""
    world = World()
    store = MemoryStore()
    in_one_go(world, "weekly.md", store)
    store._blobs.clear()
    world.edit("## フェーズ 2: 数える", "<!-- 注 -->\n\n## フェーズ 2: 数える")
    read: list[str] = []
    verify = verify_stage.verify

    def watched(source: str, parsed: ParsedDocument, resolved: ResolvedDocument) -> Verdict:
        read.append(source)
        return verify(source, parsed, resolved)

    monkeypatch.setattr(verify_stage, "verify", watched)
    last, steps = take_steps(world, "weekly.md", store)
    assert not steps[-1].finished
    assert what_ran(last.stages).keys() == {"parse", "resolve", "generate 1", "generate 2", "generate 4", "link"}
    assert last.module is not None
    assert read == [last.module.source]


@pytest.mark.parametrize(
    "spoil",
    [without_fences, replacing('"run_query"', '"run_query", "post_entry"'), replacing("instructions=(", "exec((")],
)
@pytest.mark.parametrize("proven", [False, True])
def test_code_that_was_handed_on_is_verified(spoil: Spoil, proven: bool) -> None:
    """Whoever put it into the hand-off, and whatever was proven before: it is refused, and made again."""
    world = World()
    store = MemoryStore()
    if proven:
        take_steps(world, "weekly.md", store)
        store._blobs.clear()
        world.edit("担当者に知らせる。", "担当者に知らせる。<!-- 注 -->")
    _, steps = take_steps(World(files=dict(world.files)), "weekly.md", MemoryStore())
    compiler = world.compiler(store)
    known = compiler.records(["weekly.md"])["weekly.md"]
    job = compiler._job("weekly.md", steps[-1].compilation.sha256, known)
    link = compiler.advance(world.input("weekly.md"), world.project(compiler, "weekly.md"), until="link")
    honest = handoff.unpack(link.handed, job)
    assert len(honest.made) == 3
    forged = handoff.Handoff((), tuple(forge(made, spoil) for made in honest.made))
    last = compiler.compile(
        world.input("weekly.md"), world.project(compiler, "weekly.md"), handed=handoff.pack(forged, job)
    )
    assert last.status == "succeeded"
    assert everything(last) == everything(World(files=dict(world.files)).compile(store=MemoryStore()))


def forge(made: handoff.HandedCode, spoil: Spoil) -> handoff.HandedCode:
    code = spoil(made.code)
    return made._replace(code=code, packed=pack_code(code))


def numbers() -> st.SearchStrategy[int]:
    return st.integers(-3, 3) | st.sampled_from([10**6, 10**30, -(10**30)])


PIECES: st.SearchStrategy[CodePiece] = st.one_of(
    st.text(max_size=5),
    st.builds(
        FenceSlot,
        st.sampled_from(["own", "shared"]),
        numbers(),
        st.sampled_from(["text", "instructions"]),
        numbers(),
    ),
)


@given(st.lists(PIECES, max_size=5), st.integers(0, 5), st.integers(1, 3), st.sampled_from(["document", "forced", "x"]))
def test_hostile_code_comes_to_nothing(pieces: list[CodePiece], place: int, attempts: int, reason: str) -> None:
    """Well sealed, for this very job and unit: no crash, no endless text, and the same files."""
    world = World()
    compiler = world.compiler()
    path, document, project = "weekly.md", world.input("weekly.md"), world.project(world.compiler(), "weekly.md")
    job = compiler._job(path, sha256(document.data).hexdigest(), [])
    honest = handoff.unpack(compiler.advance(document, project, until="link").handed, job)
    code = PhaseCode(tuple(pieces))
    forged = tuple(
        made._replace(place=place, code=code, packed=pack_code(code), reason=cast("Reason", reason), attempts=attempts)
        for made in honest.made
    )
    last = compiler.compile(document, project, handed=handoff.pack(handoff.Handoff((), forged), job))
    clean = World().compile(store=MemoryStore())
    assert last.status in ("succeeded", "failed")
    assert last.status == "failed" or files(last) == files(clean)


HEADS = st.recursive(
    st.none() | st.booleans() | numbers() | st.text(max_size=3) | st.sampled_from(["0" * 64, "document"]),
    lambda inner: st.lists(inner, max_size=5),
    max_leaves=12,
)


@given(st.binary(max_size=200) | HEADS.map(lambda head: encode(head).encode()), st.binary(max_size=20), st.booleans())
def test_any_bytes_are_a_handoff_or_none(head: bytes, rest: bytes, named: bool) -> None:
    """Sealed as ours are, or not."""
    job = "1" * 64
    body = (f'[{handoff.FORMAT},"{job}",'.encode() + head + b",[]]" if named else head) + b"\n" + rest
    for data in (body, sha256(body).hexdigest().encode() + body):
        taken = handoff.unpack(data, job)
        assert isinstance(taken, handoff.Handoff)
        assert taken == handoff.unpack(handoff.pack(taken, job), job)


def test_a_handoff_is_bounded() -> None:
    """Code that would be too much is made again; longer bytes are not read."""
    code = PhaseCode(("x" * (handoff.MAX_BYTES // 2),))
    made = handoff.HandedCode(0, "0" * 64, code, pack_code(code), "new", 1)
    packed = handoff.pack(handoff.Handoff(("1" * 64,), (made,)), "job")
    assert len(packed) < 1000
    assert handoff.unpack(packed, "job") == handoff.Handoff(("1" * 64,), ())
    body = b"x" * handoff.MAX_BYTES
    assert handoff.unpack(sha256(body).hexdigest().encode() + body, "job") == handoff.NOTHING


def test_a_handoff_is_good_for_its_job_only() -> None:
    """Not for another document, catalog, option, generator, or after another compile."""
    world = World()
    compiler = world.compiler()
    document, project = world.input("weekly.md"), world.project(world.compiler(), "weekly.md")
    handed = compiler.advance(document, project, until="link").handed
    jobs = {compiler._job("weekly.md", sha256(document.data).hexdigest(), [])}
    assert handoff.unpack(handed, *jobs).made
    others: list[Callable[[World], None]] = [
        lambda world: world.edit("件数", "合計"),
        lambda world: world.operation("chat", "post_message").update(effect="read"),
        lambda world: setattr(world, "generator", Versioned("9")),
        lambda world: setattr(world, "options", Options(reuse="exact")),
        lambda world: setattr(world, "options", Options(rewrites=1)),
        lambda world: setattr(world, "options", Options(max_bytes=1 << 19)),
    ]
    for change in others:
        other = world.copy()
        change(other)
        text = other.input("weekly.md").data
        jobs.add(other.compiler()._job("weekly.md", sha256(text).hexdigest(), []))
    jobs.add(compiler._job("other.md", sha256(document.data).hexdigest(), []))
    compiler.compile(document, project)
    known = compiler.records(["weekly.md"])["weekly.md"]
    jobs.add(compiler._job("weekly.md", sha256(document.data).hexdigest(), known))
    assert len(jobs) == len(others) + 3
    assert sum(bool(handoff.unpack(handed, job).made) for job in jobs) == 1


def test_a_fence_that_is_asked_for_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handed code may not say how much memory link takes: what is too much is made again."""
    monkeypatch.setattr("pipeline.incremental.code.MAX_INSTRUCTIONS", 1000)
    parsed = World().compile().parsed
    assert parsed is not None
    slots = [FenceSlot("own", 0, "text", 0), FenceSlot("shared", 0, "text", 4), FenceSlot("own", 9, "text", 10**9)]
    assert fits(PhaseCode(tuple(slots)), parsed.phases[0], parsed)
    assert not fits(PhaseCode(tuple(slots * 100)), parsed.phases[0], parsed)
    assert not fits(PhaseCode((FenceSlot("own", 0, "text", 10**9),)), parsed.phases[0], parsed)
    assert not fits(PhaseCode((FenceSlot("own", 0, "text", -(10**30)),)), parsed.phases[0], parsed)


@pytest.mark.parametrize("reuse", ["compatible", "exact"])
def test_reports_tell_of_the_whole_job(reuse: str) -> None:
    """Code that an earlier step had made and stored counts as made in this job, although the hand-off was lost."""
    world = World(generator=Asked(as_it_is), options=Options(reuse=cast("Reuse", reuse)))
    store = MemoryStore()
    take_steps(world, "weekly.md", store)
    world.edit("件数を数える。", "合計を出す。")
    last, _ = take_steps(world, "weekly.md", store, lambda _: None)
    assert what_ran(last.stages) == {
        "parse": "document",
        "resolve": "document",
        "generate 2": "document",
        "link": "document",
        "verify": "document",
    }
