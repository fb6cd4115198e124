"""From a document's bytes to the module as Python evaluates it: every fence, in whatever container, character for
character (I1, V9)."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from catalog.load import load_catalog
from pipeline.project import Project
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve
from pipeline.stages.verify import verify
from tests.generate.samples import Document, evaluate, module_of

CATALOG = load_catalog([Path(__file__).parents[1] / "conformance" / "catalog.yaml"])


def compiled(lines: list[str]) -> Document:
    outcome = parse("".join(f"{line}\n" for line in lines).encode(), "document")
    assert outcome.artifact is not None
    resolved = resolve(outcome.artifact, CATALOG, Project(()), "document.md")
    assert [finding for finding in (*outcome.findings, *resolved.findings) if finding.name != "fence-unreachable"] == []
    return Document(outcome.artifact, resolved.artifact, outcome.positions)


containers = st.lists(st.sampled_from((("> ", "> "), ("- ", "  "), ("10. ", "    "))), max_size=4)
awkward = st.sampled_from(list("`~ \t\\\"'>-#{}$\f\x0b\x1b\x7f\x85\xa0\u2028\u202e\u200d\ufeff\ufdd0日🧑"))
contents = st.lists(
    st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]) | awkward, max_size=20), max_size=6
)


def fenced(content: list[str], around: list[tuple[str, str]], mark: str, language: str, above: str) -> list[str]:
    """The fence in its containers, below a line of text in the same ones."""
    first, rest = "".join(pair[0] for pair in around), "".join(pair[1] for pair in around)
    longest = max((len(run) for line in content for run in line.split() if set(run) == {mark}), default=2)
    fence = mark * max(3, longest + 1)
    return [first + above, rest.rstrip(), rest + fence + language, *(rest + line for line in content), rest + fence, ""]


@given(contents, contents, containers, containers, st.sampled_from("`~"))
def test_any_fence_in_any_container_arrives_byte_for_byte(
    shared: list[str], own: list[str], around: list[tuple[str, str]], inside: list[tuple[str, str]], mark: str
) -> None:
    """One outside all phases and one handed over in a phase: both in the agent's instructions, the second in its tool,
    too."""
    own = [*own, "f();"]
    sample = compiled(
        [
            "# 手順",
            "",
            *fenced(shared, around, mark, "text", "共通の文。"),
            "",
            "## フェーズ 1: 渡す",
            "",
            *fenced(own, inside, mark, "ts", "(この TypeScript を exa の web に、そのまま渡す)"),
        ]
    )
    module = module_of(sample)
    (phase,) = evaluate(module.source).phases
    texts = ["".join(f"{line}\n" for line in content) for content in (shared, own)]
    assert [handover.text for handover in phase.handovers] == [texts[1]]
    for text in texts:
        if text.strip():
            assert f"\n{text}" in str(phase.instructions)
    assert verify(module.source, sample.parsed, sample.resolved).proven
