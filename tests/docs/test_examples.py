"""The examples compile, together use the whole language, and the broken one shows its mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from catalog.load import load_catalog
from pipeline.artifacts import ParsedDocument, ResolvedDocument
from pipeline.project import Project, ProjectDocument
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve

from .snippets import ROOT, check

FOLDER = ROOT / "examples"
TEXTS = {
    path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(FOLDER.rglob("*.md"))
    if not path.name.startswith("README")
}
SIX = [name for name in TEXTS if "/" not in name]
BROKEN = "broken/monthly-close.md"


@pytest.fixture(scope="module")
def catalog_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("catalog")


@pytest.fixture(scope="module")
def compiled(catalog_folder: Path) -> dict[str, tuple[ParsedDocument, ResolvedDocument]]:
    """Each of the six, parsed and resolved as one project."""
    parsed: dict[str, ParsedDocument] = {}
    for name in SIX:
        artifact = parse(TEXTS[name].encode(), Path(name).stem).artifact
        assert artifact is not None
        parsed[name] = artifact
    project = Project(
        ProjectDocument(name, entry.name, tuple(call.target for phase in entry.phases for call in phase.calls))
        for name, entry in parsed.items()
    )
    catalog = load_catalog(cache_dir=catalog_folder)
    return {name: (entry, resolve(entry, catalog, project, name).artifact) for name, entry in parsed.items()}


def test_there_are_six_of_a_readable_length() -> None:
    """Long enough to be a real procedure, short enough to be read."""
    assert len(SIX) == 6
    assert {name: len(TEXTS[name].splitlines()) for name in SIX if not 60 <= len(TEXTS[name].splitlines()) <= 150} == {}


@pytest.mark.parametrize("name", SIX)
def test_an_example_compiles_without_a_word(name: str, catalog_folder: Path) -> None:
    """No error and no warning: nobody should copy a warning."""
    assert check(TEXTS[name], name, TEXTS, load_catalog(cache_dir=catalog_folder)) == ()


def test_the_broken_one_shows_many_diagnostics_at_once(catalog_folder: Path) -> None:
    """Errors and warnings of every chapter of the language, in one go."""
    codes = check(TEXTS[BROKEN], BROKEN, TEXTS, load_catalog(cache_dir=catalog_folder))
    numbers = (101, 104, 106, 107, 108, 201, 202, 203, 205, 206, 207, 208, 303, 304, 308, 309, 311, 401, 501)
    assert codes == tuple(f"AOP{number}" for number in numbers)


def test_the_examples_use_every_tool_and_the_categories_of_the_guide(
    compiled: dict[str, tuple[ParsedDocument, ResolvedDocument]],
) -> None:
    """Standard tools and connectors, as tools or in hand-overs, with and without categories and options."""
    phases = [phase for _, resolved in compiled.values() for phase in resolved.phases]
    grants = [grant for phase in phases for grant in phase.tools]
    handovers = [handover for phase in phases for handover in phase.handovers]
    used = {(grant.tool, category) for grant in grants for category in grant.categories or ("",)}
    used |= {(handover.tool, category) for handover in handovers for category in handover.categories}
    assert used >= {
        ("browser", "read"),
        ("sandbox", ""),
        ("hitl", ""),
        ("添付ファイル", ""),
        *(("google_workspace", category) for category in ("calendar", "docs", "drive", "gmail", "sheets")),
        *(("slack", category) for category in ("notify", "history")),
        *(("freee", category) for category in ("", "deals", "invoices")),
        *(("exa", category) for category in ("web", "crawl")),
        *(("bigquery", category) for category in ("query", "tables")),
    }
    assert any(grant.options for grant in grants)
    assert {grant.read_only for grant in grants} == {True, False}


def test_the_examples_hand_over_in_every_way(compiled: dict[str, tuple[ParsedDocument, ResolvedDocument]]) -> None:
    """TypeScript and arguments, reading and writing, with values from the text, with odd placeholders."""
    handovers = [h for _, resolved in compiled.values() for phase in resolved.phases for h in phase.handovers]
    assert {(h.mode, h.read_only) for h in handovers} >= {("typescript", True), ("argument", True), ("argument", False)}
    assert {h.tool for h in handovers} == {"bigquery", "exa", "slack", "google_workspace"}
    assert any("projectId" in h.fixed_arguments for h in handovers)
    assert any("、" in mark or "," in mark for h in handovers for mark in h.placeholders)


def test_the_examples_use_every_form_of_the_language(
    compiled: dict[str, tuple[ParsedDocument, ResolvedDocument]],
) -> None:
    """Kinds, calls by name and by path, なし, のみ, separators, all sorts of fences, comments, tables, English."""
    parsed = [entry for entry, _ in compiled.values()]
    targets = {call.target for entry in parsed for phase in entry.phases for call in phase.calls}
    assert {entry.kind for entry in parsed} == {"multi", "single"}
    assert {target.endswith(".md") for target in targets} == {True, False}
    assert any(item.only for entry in parsed for phase in entry.phases for tool in phase.tools for item in tool.items)
    assert any(tool.listed for entry in parsed for phase in entry.phases for tool in phase.tools)
    assert any(entry.outside.fences for entry in parsed)
    assert any(fence.language is None for entry in parsed for fence in entry.fences)
    everything = "\n".join(TEXTS[name] for name in SIX)
    for form in (
        r"^## Phase [0-9]: ",
        r"\(使う道具: なし\)",
        r"（使う道具：",
        r"\(使う道具: [^)]* と ",
        r"\(使う道具: .*、",
        r"\(使う道具: .*, ",
        r"\(使う道具: .* \+ ",
        r"\(使う道具: .* ＋ ",
        r"\*\*\(使う道具: ",
        r"^> .*```",
        r"^ +```",
        r"^~~~",
        r"^ *````",
        r"^<!--",
        r"^\|---",
        r"^### .*使う道具",
        r"projectId は ",
        r"projectId: ",
        r"差し替え: .*`",
    ):
        assert re.search(form, everything, re.MULTILINE), form
