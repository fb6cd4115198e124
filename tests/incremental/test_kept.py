"""What is kept for documents to come stays small, whatever one of them declares."""

from __future__ import annotations

import random
import tracemalloc

from catalog.load import load_catalog
from pipeline.generators.template import TemplateGenerator
from pipeline.incremental.carry import unit_digest
from pipeline.incremental.lookups import ItemLookups
from pipeline.incremental.reads import Inquiry, Recorder
from pipeline.project import Project
from pipeline.stages.generate import units_of
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve

CATALOG = load_catalog()


def compile_all(inquiry: Inquiry, text: str) -> None:
    parsed = parse(text.encode(), "x", 1 << 20).artifact
    assert parsed is not None
    recorder = Recorder(inquiry)
    outcome = resolve(
        parsed, recorder.catalog, recorder.project, "x.md", ItemLookups(inquiry, recorder.catalog).read_item
    )
    assert not outcome.findings
    for unit in units_of(parsed, outcome.artifact):
        assert unit is not None
        unit_digest(unit)
        TemplateGenerator().generate(unit, ())


def declaring_everything(chosen: random.Random, tools: int) -> str:
    """Ten phases that have the largest connectors, each in another order."""
    connectors = [tool for tool in CATALOG.tools() if tool.kind != "standard" and tool.operations]
    names = [tool.name for tool in sorted(connectors, key=lambda tool: -len(tool.operations or ()))[:tools]]
    phases = []
    for number in range(1, 11):
        chosen.shuffle(names)
        phases.append(f"## フェーズ {number}: 一 (使う道具: {', '.join(names)})\n\n文。\n")
    return "\n".join(phases)


def test_phases_that_have_most_of_the_catalog_are_not_kept() -> None:
    """Each time in another order; what would be kept of one is a megabyte. The last few texts are kept anyway."""
    chosen = random.Random(1)  # noqa: S311 - the same orders in every run of the test
    inquiry = Inquiry(CATALOG, Project(()))
    compile_all(inquiry, declaring_everything(chosen, 32))  # so that what all of them share is there
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for tools in (8, 16, 32) * 3:
        compile_all(inquiry, declaring_everything(chosen, tools))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 16 << 20


def test_an_item_with_a_long_group_is_not_kept() -> None:
    """The blanks in a group are its own, however many: the item's text has one of them."""
    inquiry = Inquiry(CATALOG, Project(()))
    compile_all(inquiry, f"## フェーズ 1: 一 (使う道具: browser (profile: a{'　' * 100_000}b))\n\n文。\n")
    assert not inquiry.lookups
    compile_all(inquiry, "## フェーズ 1: 一 (使う道具: browser (profile: a b))\n\n文。\n")
    assert len(inquiry.lookups) == 1
