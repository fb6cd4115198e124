"""`aop check`: parse and resolve, and nothing behind them; it shares what it can with whole compiles."""

from __future__ import annotations

from pipeline.compiler import Options
from pipeline.incremental.report import StageReport

from .world import World, what_ran

CHECK = Options(check=True)


def behind(stages: tuple[StageReport, ...]) -> set[tuple[str, str]]:
    return {(report.outcome, report.reason) for report in stages if report.stage in ("generate", "link", "verify")}


def test_a_check_generates_nothing() -> None:
    """Every stage is listed all the same."""
    compilation = World(options=CHECK).compile()
    assert what_ran(compilation.stages) == {"parse": "new", "resolve": "new"}
    assert behind(compilation.stages) == {("skipped", "options")}
    assert (compilation.status, compilation.module) == ("succeeded", None)
    assert compilation.resolved is not None


def test_a_check_after_a_compile_runs_nothing() -> None:
    """And leaves the compile's record as it is."""
    world = World()
    world.compile()
    world.options = CHECK
    checked = world.compile()
    assert what_ran(checked.stages) == {}
    assert behind(checked.stages) == {("skipped", "options")}
    assert checked.module is None
    world.options = Options()
    assert what_ran(world.compile().stages) == {}


def test_a_compile_after_a_check_parses_nothing() -> None:
    """What the check found is there; the rest was never made."""
    world = World(options=CHECK)
    world.compile()
    world.options = Options()
    ran = what_ran(world.compile().stages)
    assert ran == dict.fromkeys(("generate 1", "generate 2", "generate 4", "link", "verify"), "new")


def test_a_second_check_runs_nothing() -> None:
    """Checks are remembered, too, with what they found."""
    world = World(options=CHECK)
    world.edit("ledger の query", "帳簿")
    first = world.compile()
    second = world.compile()
    assert what_ran(second.stages) == {}
    assert (second.status, second.findings) == ("failed", first.findings)


def test_a_failed_document_lists_every_stage_as_skipped_because_of_it() -> None:
    """Behind the errors nothing runs; an unreadable document has no phases to list."""
    world = World()
    world.edit("ledger の query", "帳簿")
    failed = world.compile()
    assert [report.phase for report in failed.stages if report.stage == "generate"] == [1, 2, 3, 4]
    assert behind(failed.stages) == {("skipped", "document")}
    world.files["weekly.md"] = "\0"
    unreadable = world.compile()
    assert (unreadable.status, unreadable.kind, unreadable.name) == ("failed", None, "weekly")
    assert [(report.stage, report.outcome) for report in unreadable.stages] == [
        ("parse", "ran"),
        ("resolve", "skipped"),
        ("generate", "skipped"),
        ("link", "skipped"),
        ("verify", "skipped"),
    ]
    assert what_ran(world.compile().stages) == {}
