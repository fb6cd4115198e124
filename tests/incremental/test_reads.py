"""What resolve read is recorded in as much room as was asked for, however much stands behind an answer (R1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.incremental import keys
from pipeline.incremental.reads import Inquiry, Recorder, reads_from_json
from pipeline.project import Project, ProjectDocument
from pipeline.stages.parse import parse

from .world import World, catalog_of

CATALOG = catalog_of('{"version": 1, "tools": []}')
TEXT = parse(b"# x\n", "x", 1 << 20).artifact


def document(path: str, name: str, *calls: str) -> ProjectDocument:
    return ProjectDocument(path, name, calls)


def calls_much(size: int) -> list[ProjectDocument]:
    """One document with very many calls."""
    return [document("big.md", "大", *(f"手順{n}" for n in range(size)))]


def share_a_name(size: int) -> list[ProjectDocument]:
    return [document(f"{n}.md", "大") for n in range(size)]


def call_in_a_ring(size: int) -> list[ProjectDocument]:
    ring = [document(f"{n}.md", f"手順{n}", f"手順{(n + 1) % size}") for n in range(1, size)]
    return [document("big.md", "大", "手順1"), *ring, document("last.md", "手順0", "大")]


def have_long_names(size: int) -> list[ProjectDocument]:
    return [document(f"{n}.md", f"大{'事' * size}{n}") for n in range(3)]


def asked(project: Project, spellings: int) -> Recorder:
    """A run of resolve that calls the document in so many spellings."""
    recorder = Recorder(Inquiry(CATALOG, project))
    for n in range(spellings):
        target = "大" + " " * n
        found = recorder.project.find(target, "caller.md")
        if found:
            recorder.project.cycle(found[0], "caller.md")
        recorder.project.suggest(f"{'大' + '事' * 2000}{n % 3}")
    return recorder


@pytest.mark.parametrize("project", [calls_much, share_a_name, call_in_a_ring, have_long_names])
def test_an_answer_takes_no_more_room_the_more_it_says(project: Callable[[int], list[ProjectDocument]]) -> None:
    """A hundred questions about documents with much to say take what they take about such with little."""
    assert TEXT is not None
    little, much = (keys.encode(asked(Project(project(size)), 100).reads(TEXT)) for size in (1, 2000))
    assert len(much) < len(little) + 100 * 400


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([document("a.md", "大", "甲")], [document("a.md", "大", "乙")]),
        ([document("a.md", "大", "甲")], [document("a.md", "大", "甲", "甲")]),
        ([document("a.md", "大")], [document("b.md", "大")]),
        ([document("a.md", "大")], [document("a.md", "大"), document("b.md", "大")]),
        ([document("a.md", "大")], []),
        (
            [document("a.md", "大", "乙"), document("b.md", "乙")],
            [document("a.md", "大", "乙"), document("b.md", "乙", "大")],
        ),
    ],
    ids=["other calls", "a call more", "another path", "a second one", "gone", "a cycle further down"],
)
def test_what_a_caller_depends_on_is_noticed(before: list[ProjectDocument], after: list[ProjectDocument]) -> None:
    """A document that appears, vanishes, or changes its name or calls re-resolves its callers."""
    assert TEXT is not None
    reads = asked(Project(before), 2).reads(TEXT)
    assert Inquiry(CATALOG, Project(after)).changes(reads, str)
    other = document("other.md", "別", *(call for entry in before for call in entry.calls))
    assert not Inquiry(CATALOG, Project([*before, other])).changes(reads, str)


def test_what_is_recorded_of_a_library_grows_with_its_text() -> None:
    """Every document calls one that calls them all."""

    def recorded(size: int) -> float:
        world = World()
        phases = (f"## フェーズ {n}: 回す (呼び出す AOP: d{n})" for n in range(1, size + 1))
        world.files = {"big.md": "\n\n".join(["# 大", *phases])}
        world.files |= {f"d{n}.md": f"# d{n}\n\n(呼び出す AOP: 大)\n" for n in range(1, size + 1)}
        compiler = world.compiler()
        project = world.project(compiler, "")
        for path in world.files:
            compiler.compile(world.input(path), project)
        return world.store.stats().trace_bytes / sum(len(text.encode()) for text in world.files.values())

    assert recorded(80) < 1.3 * recorded(20)


def test_reads_are_what_was_written_of_them() -> None:
    """As they come back from the store."""
    assert TEXT is not None
    reads = asked(Project(calls_much(3)), 3).reads(TEXT)
    assert reads_from_json(keys.decode(keys.encode(reads))) == reads
