"""Link: numbers, fences and the frame of the module (I1, O1)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.artifacts import FenceSlot, NumberSlot, PhaseCode
from pipeline.stages.link import LAST_LINE, link
from pipeline.stages.verify import verify
from tests.generate.samples import HITL, WEEKLY, Code, Document, Hand, Step, codes_of, document, evaluate, module_of

GOLDEN = Path(__file__).parent / "golden"


def test_the_module_is_as_it_was() -> None:
    """A small module to the letter: what people read and what diffs show."""
    assert module_of(WEEKLY).source == (GOLDEN / "weekly.py.txt").read_text(encoding="utf-8")


def test_the_module_imports_only_what_it_uses() -> None:
    """Sorted, so that a diff shows a new kind of tool and nothing else."""
    source = module_of(document(Step("聞く", (), (HITL,)))).source
    assert "\nfrom aop_runtime import Phase, Procedure, Standard\n" in source


def test_the_last_line_is_the_fixed_one() -> None:
    """One statement behind the declaration, by which the module runs by itself."""
    assert module_of(WEEKLY).source.endswith(f"\n)\n\n{LAST_LINE}\n")


@pytest.mark.parametrize(
    "name", ['"""', "a\\", '"', "改行\u2028 \u202e", "'''", "#!", "{}", "\\N{DIGIT ONE}", "\x1b[31m"]
)
def test_any_name_and_title_is_harmless(name: str) -> None:
    """Quotes, backslashes and line separators in names end no string and change no value."""
    sample = document(Step(name, ("読む。",)), name=name)
    source = module_of(sample).source
    procedure = evaluate(source)
    assert (procedure.name, procedure.phases[0].title) == (name, name)
    assert ast.get_docstring(ast.parse(source), clean=False) == f"{name} — compiled by aop. Do not edit."
    assert verify(source, sample.parsed, sample.resolved).proven


def test_the_source_map_points_at_phases_and_fences() -> None:
    """Every place of a fence, as instruction and as hand-over, and every phase from its first line to its last."""
    module = module_of(WEEKLY)
    source = module.source.splitlines()
    anchors = [fence.anchor for fence in WEEKLY.parsed.fences]
    phases = [phase.anchor for phase in WEEKLY.resolved.phases]
    seen = {
        anchor: [source[first - 1 : last] for first, last, at in module.source_map if at == anchor]
        for anchor in anchors + phases
    }
    assert [len(seen[anchor]) for anchor in anchors] == [2, 1, 2]
    assert [line.strip() for line in seen[anchors[1]][0]] == [
        r'"```yaml" "\n"',
        r'"from: 月曜" "\n"',
        r'"  to: 日曜 " "\n"',
        r'"```" "\n"',
    ]
    assert [line.strip() for line in seen[anchors[2]][1]] == [r'"find(\"<語>\");" "\n"']
    for anchor in phases:
        assert seen[anchor][0][0] == "        Phase("
        assert seen[anchor][0][-1] == "        ),"


def agent(sample: Document) -> str:
    text = evaluate(module_of(sample).source).phases[0].instructions
    assert text is not None
    return text


def test_fence_marks_are_longer_than_any_inside() -> None:
    """A fence that shows fences ends where it ends, and nowhere before."""
    assert "`````md\n````\n```\n````\n`````\n" in agent(document(Step("書く", (Code("````\n```\n````\n", "md"),))))


def test_a_language_with_backticks_gets_tildes() -> None:
    """An info string of a backtick fence cannot hold a backtick; the document's was a tilde fence."""
    assert "~~~~a`b\n~~~\n~~~~\n" in agent(document(Step("書く", (Code("~~~\n", "a`b"),))))
    assert "~~~ ~`\nx\n~~~\n" in agent(document(Step("書く", (Code("x\n", "~`"),))))


def test_prose_that_looks_like_a_fence_mark_does_not_pair_with_one() -> None:
    """An HTML block may hold a line of backticks: the fences' marks are longer then, so it hides none."""
    sample = document(Step("書く", ("<div>\n```\n</div>", Code("x\n", None), Code("</div>\n", None))))
    assert "\n```\n</div>\n````\nx\n````\n````\n</div>\n````\n" in agent(sample)
    assert verify(module_of(sample).source, sample.parsed, sample.resolved).proven


def test_a_fence_without_a_last_line_end_is_closed_all_the_same() -> None:
    """The closing mark has a line of its own; the hand-over's text stays as it is."""
    sample = document(Step("書く", (Code("x", "ts"),), (), (Hand(),)))
    phase = evaluate(module_of(sample).source).phases[0]
    assert "```ts\nx\n```\n" in str(phase.instructions)
    assert phase.handovers[0].text == "x"
    assert verify(module_of(sample).source, sample.parsed, sample.resolved).proven


@pytest.mark.parametrize("slot", [FenceSlot("own", 5, "instructions", 4), FenceSlot("shared", -1, "text", 4)])
def test_a_slot_without_a_fence_is_an_empty_string(slot: FenceSlot) -> None:
    """Damaged code does not break link; the verifier says what is missing."""
    sample = document(Step("書く", (Code("x\n"),)))
    code = PhaseCode(("Phase(number=", NumberSlot(), ', title="書く", instructions=(', slot, "))"))
    source = link(sample.parsed, sample.resolved, [code]).source
    assert evaluate(source).phases[0].instructions == ""
    assert [fault.kind for fault in verify(source, sample.parsed, sample.resolved).faults] == ["fence"]


def test_moving_and_renumbering_a_phase_keeps_its_code() -> None:
    """The same code at another place with another number: only the slots are filled anew (R2)."""
    one, two = Step("集める", ("読む。", Code("a\n")), number=1), Step("送る", ("送る。", Code("b\n")), number=2)
    moved = document(Step("送る", two.body, number=1), Step("集める", one.body, number=5))
    codes = codes_of(document(one, two))
    module = link(moved.parsed, moved.resolved, [codes[1], codes[0]])
    assert [phase.number for phase in evaluate(module.source).phases] == [1, 5]
    assert verify(module.source, moved.parsed, moved.resolved).proven


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1) | st.text(
    st.sampled_from(list("`~ \t\n\\\"'>-{}日🧑\u2028\x85\f")), min_size=1
)


@given(
    st.lists(TEXTS, min_size=1, max_size=4),
    st.lists(TEXTS, max_size=3),
    st.none() | st.sampled_from(["sql", "a`b", "~", "日本"]),
)
def test_any_fence_arrives_byte_for_byte(own: list[str], shared: list[str], language: str | None) -> None:
    """I1, V9: whatever a fence holds, Python evaluates the module to instructions and hand-overs that hold exactly
    that."""
    body: list[str | Code] = []
    for text in own:
        body += ["文。", Code(text, language)]
    filled = [text for text in own if text.strip()]
    hands = tuple(Hand(number) for number in range(len(filled)))
    sample = document(Step("渡す", tuple(body), (), hands), outside=[Code(text, language) for text in shared])
    source = module_of(sample).source
    phase = evaluate(source).phases[0]
    for text in (*filled, *[text for text in shared if text.strip()]):
        assert f"\n{text}" in str(phase.instructions)
    assert [handover.text for handover in phase.handovers] == filled
    assert verify(source, sample.parsed, sample.resolved).proven
