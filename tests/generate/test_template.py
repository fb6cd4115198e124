"""The template generator: complete instructions in Japanese, without a language model."""

from __future__ import annotations

from pipeline.artifacts import Fault, FenceSlot, Grant, Pin
from pipeline.generators.instructions import one_line
from pipeline.generators.source import FenceHere, render_phase
from pipeline.generators.template import TemplateGenerator
from pipeline.stages.generate import units_of
from pipeline.stages.link import link
from pipeline.stages.verify import verify
from tests.generate.samples import (
    BROWSER,
    CRM,
    FREEE,
    HITL,
    SLACK,
    WEEKLY,
    Code,
    Document,
    Hand,
    Step,
    codes_of,
    document,
    evaluate,
    module_of,
)


def instructions(sample: Document, place: int = 0) -> str:
    text = evaluate(module_of(sample).source).phases[place].instructions
    assert text is not None
    return text


def test_instructions_are_complete() -> None:
    """Role, everything outside the phases, the phase's own text with its fences in place, tools, rules: in that
    order."""
    assert instructions(WEEKLY) == (
        "あなたは「集める」の担当エージェントです。手順に沿って進め、結果を簡潔に報告してください。\n"
        "\n"
        "【業務全体の説明】\n"
        "# 週次報告\n"
        "```text\n"
        "口調は「です・ます」\n"
        "```\n"
        "## 成果物\n\n一枚に収める。\n"
        "\n"
        "【手順】\n"
        "先週の投稿を読む。\n"
        "```yaml\n"
        "from: 月曜\n  to: 日曜 \n"
        "```\n"
        "足りなければ人に聞く。\n"
        "\n"
        "【使える道具】\n"
        "- slack の notify・history\n"
        "  - post_message（書く）: Post a message.\n"
        "  - search_messages（読む）: Search messages.\n"
        "- hitl\n"
        "\n"
        "【決まり】使えるのは上の道具だけ。囲み（``` の間）の文は一字一句そのまま使い、要約も言い換えもしない。\n"
    )


def test_a_handover_names_the_tool_the_text_and_the_values() -> None:
    """The agent learns which tool to call and what to pass, and that the text is not to be retyped (V9)."""
    text = instructions(WEEKLY, 1)
    assert "書き写さず" in text
    written = "(この TypeScript を exa の web (read-only) に、そのまま渡す)"
    assert f"- handover_1: 「{written}」の下の TypeScript を exa で走らせる。渡す値: `<語>`\n" in text


def test_a_handover_to_an_argument_names_the_operation() -> None:
    """Where the text is an argument, the agent knows of which operation."""
    hand = Hand(0, "bigquery", ("query",), True, "argument", ("run_query",), "sql", '{"project_id":"acme"}')
    text = instructions(document(Step("数える", (Code("select 1\n", "sql"),), (), (hand,))))
    assert "の下の文を bigquery の run_query の引数 sql に渡す。渡す値: なし\n" in text


def test_tools_are_listed_with_what_they_may_do() -> None:
    """Categories, read-only, options, granted words; unknown operations are said to be unknown, none to be none."""
    text = instructions(document(Step("調べる", (), (BROWSER, CRM, FREEE))))
    assert "- browser の read（profile: github-login）: read、navigation\n" in text
    assert "- my_crm（読むだけ）: 操作は接続したときに分かる\n" in text
    assert "- freee の deals\n  - list_deals\n  - create_deal\n" in text
    assert "【使える道具】なし\n" in instructions(document(Step("考える")))


def test_descriptions_are_one_line_and_short() -> None:
    """A description with paragraphs does not break the list."""
    assert one_line("Search\n\n  mail. ") == "Search mail."
    assert len(one_line("長い" * 500)) == 160


def test_a_single_phase_document_is_its_agents_whole_procedure() -> None:
    """Its title is the document's name, its number None."""
    sample = document(Step("点検", ("見る。", Code("a\n")), (HITL,), number=None), name="点検")
    procedure = evaluate(module_of(sample).source)
    assert procedure.phases[0].number is None
    assert "あなたは「点検」の担当" in instructions(sample)


def test_the_code_knows_neither_number_nor_fence() -> None:
    """Both are slots that link fills (R2, I4)."""
    code = codes_of(WEEKLY)[1]
    assert code is not None
    texts = "".join(piece for piece in code.source if isinstance(piece, str))
    assert "口調" not in texts
    assert "find(" not in texts
    assert "number=," in texts
    assert [piece.form for piece in code.source if isinstance(piece, FenceSlot)] == [
        "instructions",
        "instructions",
        "text",
    ]


def test_generation_is_deterministic_and_hears_no_faults() -> None:
    """The same unit has the same code; the template has no choice that a fault could change."""
    unit = units_of(WEEKLY.parsed, WEEKLY.resolved)[0]
    assert unit is not None
    generator = TemplateGenerator()
    assert generator.generate(unit, ()) == generator.generate(unit, (Fault("tools", 0, "…"),))


def test_a_generator_may_word_prose_and_narrow_grants() -> None:
    """What a model generator does: its own prose around the fences' places, fewer operations of a narrowable tool
    (T7)."""
    sample = document(Step("集める", ("読む。", Code("a\n")), (SLACK,)))
    unit = units_of(sample.parsed, sample.resolved)[0]
    assert unit is not None
    narrowed = SLACK._replace(operations=("search_messages",))
    code = render_phase(unit, ["次のとおり読むこと。", FenceHere("own", 0), "以上。"], [narrowed])
    module = link(sample.parsed, sample.resolved, [code])
    assert verify(module.source, sample.parsed, sample.resolved).proven
    phase = evaluate(module.source).phases[0]
    assert phase.instructions == "次のとおり読むこと。\n```text\na\n```\n以上。"
    assert phase.tools[0].operations == ("search_messages",)


def test_long_declarations_are_written_one_argument_a_line() -> None:
    """No line of the module but a document's own text is longer than 120 characters."""
    names = tuple(f"operation_number_{number}" for number in range(4))
    grant = Grant("a_tool_with_a_long_name", "mcp", ("category_one", "category_two"), False, names, ())
    source = module_of(document(Step("集める", (), (grant,)))).source
    assert max(len(line) for line in source.splitlines() if "operation" in line and '\\n"' not in line) <= 120
    assert evaluate(source).phases[0].tools[0].operations == names


def test_pins_that_are_missing_leave_the_name() -> None:
    """An operation without a pinned definition is listed by its name alone."""
    sample = document(Step("集める", (), (SLACK,)))
    bare = sample.resolved._replace(pins=(Pin("x", "y", "read", "", ""),))
    unit = units_of(sample.parsed, bare)[0]
    assert unit is not None
    assert unit.pins == ()
    code = TemplateGenerator().generate(unit, ())
    assert '  - post_message" "\\n"' in "".join(piece for piece in code.source if isinstance(piece, str))
