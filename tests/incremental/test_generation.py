"""Generators that ask a model: a document's phases at once, and nothing that was made and proven is made again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from pipeline.artifacts import Fault, PhaseCode, Unit
from pipeline.compiler import Options
from pipeline.generators.protocol import Generator, GeneratorIdentity
from pipeline.generators.template import TemplateGenerator
from pipeline.incremental.generation import MAX_AT_ONCE
from pipeline.stores.memory import MemoryStore

from .test_rewrites import replacing, without_fences
from .world import Versioned, World, everything, what_ran

MORE = replacing('"run_query"', '"run_query", "post_entry"')


class Unreachable(Exception):
    """The model cannot be had."""


class Asked:
    """A model that answers as the template does. `answer`: what else happens to a unit's code, given the attempt."""

    def __init__(self, answer: Callable[[Unit, int, PhaseCode], PhaseCode], model: str = "m") -> None:
        self.identity = GeneratorIdentity("asked", "1", model)
        self.asked: list[str] = []
        self.faults: list[tuple[str, frozenset[str]]] = []
        self._answer = answer
        self._lock = threading.Lock()

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        with self._lock:
            self.asked.append(unit.title)
            attempt = self.asked.count(unit.title)
            if faults:
                self.faults.append((unit.title, frozenset(fault.kind for fault in faults)))
        return self._answer(unit, attempt, TemplateGenerator().generate(unit, faults))


def as_it_is(unit: Unit, attempt: int, code: PhaseCode) -> PhaseCode:
    return code


def wide(count: int) -> str:
    return "# 広い\n\n" + "".join(f"## フェーズ {i}: 仕事{i}\n\n{i} をする。\n\n" for i in range(1, count + 1))


def test_phases_are_generated_at_once() -> None:
    """All of them are under way together: each waits until the others have been asked for."""
    meeting = threading.Barrier(MAX_AT_ONCE)

    def answer(unit: Unit, attempt: int, code: PhaseCode) -> PhaseCode:
        meeting.wait(timeout=30)
        return code

    world = World(files={"wide.md": wide(MAX_AT_ONCE)}, generator=Asked(answer))
    assert world.compile("wide.md").status == "succeeded"


def test_no_more_are_asked_for_at_once_than_the_limit() -> None:
    """However many phases the document has."""
    lock = threading.Lock()
    now, most = [0], [0]

    def answer(unit: Unit, attempt: int, code: PhaseCode) -> PhaseCode:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.005)
        with lock:
            now[0] -= 1
        return code

    generator = Asked(answer)
    world = World(files={"wide.md": wide(5 * MAX_AT_ONCE)}, generator=generator)
    assert world.compile("wide.md").status == "succeeded"
    assert len(generator.asked) == 5 * MAX_AT_ONCE
    assert 1 < most[0] <= MAX_AT_ONCE


def test_the_order_of_answers_makes_no_difference() -> None:
    """The files are those that one answer after another gives."""
    turns = {f"仕事{i}": threading.Event() for i in range(1, 6)}
    titles: Sequence[str] = [*turns]
    turns[titles[-1]].set()

    def answer(unit: Unit, attempt: int, code: PhaseCode) -> PhaseCode:
        assert turns[unit.title].wait(timeout=30)
        place = titles.index(unit.title)
        if place:
            turns[titles[place - 1]].set()
        return code

    backwards, forwards = MemoryStore(), MemoryStore()
    world = World(files={"wide.md": wide(5)}, generator=Asked(answer), store=backwards)
    compiled = world.compile("wide.md")
    world.generator = Asked(as_it_is)
    assert everything(compiled) == everything(world.compile("wide.md", forwards))
    assert (backwards._traces, backwards._blobs) == (forwards._traces, forwards._blobs)


def test_what_was_proven_is_stored_although_another_phase_fails() -> None:
    """The model cannot be had for one phase: the error comes through, and the next compile asks for that phase only."""

    def answer(unit: Unit, attempt: int, code: PhaseCode) -> PhaseCode:
        if unit.title == "数える":
            raise Unreachable(unit.title)
        return code

    world = World(generator=Asked(answer))
    with pytest.raises(Unreachable, match="数える"):
        world.compile()
    generator = world.generator = Asked(as_it_is)
    second = world.compile()
    assert second.status == "succeeded"
    assert generator.asked == ["数える"]
    assert everything(second) == everything(world.compile(store=MemoryStore()))


def test_after_a_failure_no_further_phase_is_begun() -> None:
    """What is under way is waited for, and kept; what has not been begun is not."""
    all_begun = threading.Event()

    def answer(unit: Unit, attempt: int, code: PhaseCode) -> PhaseCode:
        if len(generator.asked) >= MAX_AT_ONCE:
            all_begun.set()
        assert all_begun.wait(timeout=30)
        raise Unreachable(unit.title)

    generator = Asked(answer)
    world = World(files={"wide.md": wide(10 * MAX_AT_ONCE)}, generator=generator)
    with pytest.raises(Unreachable, match=r"仕事1$"):
        world.compile("wide.md")
    assert len(generator.asked) <= 3 * MAX_AT_ONCE


@pytest.mark.parametrize("times", [1, 2])
def test_a_faulty_phase_is_written_again_at_once(times: int) -> None:
    """With what was found in it, without the others; the file is as if it had been right from the first."""

    def answer(unit: Unit, attempt: int, code: PhaseCode) -> PhaseCode:
        return MORE(code) if unit.title == "数える" and attempt <= times else code

    generator = Asked(answer)
    world = World(generator=generator)
    compilation = world.compile()
    assert (compilation.status, compilation.findings) == ("succeeded", ())
    assert sorted(generator.asked) == sorted(["集める", "知らせる", *["数える"] * (times + 1)])
    assert generator.faults == [("数える", frozenset({"tools"}))] * times
    assert what_ran(world.compile().stages) == {}


@pytest.mark.parametrize("rewrites", [0, 1, 2])
def test_what_stays_faulty_is_not_stored(rewrites: int) -> None:
    """It is tried as often as is allowed, and reported; the next compile asks for that phase only."""

    def answer(unit: Unit, attempt: int, code: PhaseCode) -> PhaseCode:
        return without_fences(code) if unit.title == "集める" else code

    generator = Asked(answer)
    world = World(generator=generator, options=Options(rewrites=rewrites))
    compilation = world.compile()
    assert compilation.status == "failed"
    assert {finding.name for finding in compilation.findings} == {"fence-lost"}
    assert all(dict(finding.arguments)["attempts"] == rewrites + 1 for finding in compilation.findings)
    assert generator.asked.count("集める") == rewrites + 1
    better = world.generator = Asked(as_it_is)
    assert world.compile().status == "succeeded"
    assert better.asked == ["集める"]


@pytest.mark.parametrize("generator", [Versioned("1"), Versioned("1", model="m")], ids=["none", "a model"])
def test_a_model_makes_no_difference_but_for_its_name(generator: Generator) -> None:
    """The same code comes to the same files, reports and findings, asked for one after another or at once."""
    world = World(generator=generator)
    first = world.compile()
    assert what_ran(first.stages) == {
        "parse": "new",
        "resolve": "new",
        "generate 1": "new",
        "generate 2": "new",
        "generate 4": "new",
        "link": "new",
        "verify": "new",
    }
    world.edit("件数を数える。", "件数と合計を数える。")
    assert what_ran(world.compile().stages) == {
        "parse": "document",
        "resolve": "document",
        "generate 2": "document",
        "link": "document",
        "verify": "document",
    }
