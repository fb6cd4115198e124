"""A small document cannot ask for gigabytes: what stands outside all phases goes into each of them (I1)."""

from catalog.load import load_catalog
from pipeline.compiler import Compiler, Input, Options
from pipeline.generators.template import TemplateGenerator
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
