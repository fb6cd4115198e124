"""A small document cannot ask for gigabytes: what stands outside all phases goes into each of them (I1)."""

from catalog.load import load_catalog
from pipeline.compiler import Compiler, Input, Options
from pipeline.generators.template import TemplateGenerator
from pipeline.incremental.report import StageReport
from pipeline.project import Project
from pipeline.stores.memory import MemoryStore


def test_a_document_that_expands_beyond_the_limit_is_refused_before_anything_is_generated() -> None:
    """14,000 characters of shared text and 2,999 phases would come to 40 million; the message has both figures."""
    shared = "共通の長い文。" * 2000
    phases = "".join(f"## フェーズ {number}: する\n" for number in range(1, 3000))
    compiler = Compiler(load_catalog(), MemoryStore(), TemplateGenerator(), Options())
    compilation = compiler.compile(Input("x.md", f"# x\n\n{shared}\n\n{phases}".encode()), Project([]))
    assert compilation.status == "failed"
    assert [(finding.name, finding.variant) for finding in compilation.findings] == [("document-too-large", "expanded")]
    assert dict(compilation.findings[0].arguments)["limit"] == 16 << 20
    assert compilation.module is None


FENCED = Input(
    "x.md",
    ("# x\n\n" + "```\na\n```\n\n" * 1000 + "".join(f"## フェーズ {i}: する\n" for i in range(1, 1000))).encode(),
)
"""Each phase would name each of the shared fences: a million numbers."""


def test_what_a_refused_document_expands_to_is_not_stored() -> None:
    """24 KB of text are remembered with little more than what was parsed of it."""
    store = MemoryStore()
    compilation = Compiler(load_catalog(), store, TemplateGenerator(), Options()).compile(FENCED, Project([]))
    assert [finding.variant for finding in compilation.findings] == ["expanded"]
    assert store.stats().blob_bytes + store.stats().trace_bytes < 500_000


def test_a_refused_document_is_remembered_as_any_other() -> None:
    """The next compile is answered by its record. Only who asks for the artifact itself has it made again."""
    store, project = MemoryStore(), Project([])
    first = Compiler(load_catalog(), store, TemplateGenerator(), Options()).compile(FENCED, project)
    again = Compiler(load_catalog(), store, TemplateGenerator(), Options()).compile(FENCED, project)
    assert again.recalled
    assert again.findings == first.findings
    assert again.status == "failed"
    assert {report.outcome for report in again.stages} == {"reused", "skipped"}
    assert again.resolved == first.resolved
    assert again.resolved is not None
    assert not again.recalled
    assert again.findings == first.findings
    assert again.stages[1] == StageReport("resolve", None, "ran", "artifact-missing")


def test_a_document_that_is_cut_after_it_was_refused_compiles() -> None:
    """There is nothing to compare its phases with: their code was never made."""
    store, project = MemoryStore(), Project([])
    compiler = Compiler(load_catalog(), store, TemplateGenerator(), Options())
    assert compiler.compile(FENCED, project).status == "failed"
    cut = compiler.compile(Input("x.md", FENCED.data.replace(b"```\na\n```\n\n", b"", 990)), project)
    assert cut.status == "succeeded"
    assert {report.reason for report in cut.stages if report.stage == "generate"} == {"new"}
