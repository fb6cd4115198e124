"""What holds for every document: nothing crashes, places are in the document, fences arrive byte for byte, and what a
reader does not see changes nothing but places.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.diagnostics.bind import place
from pipeline.diagnostics.codes import CODES
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.variants import VARIANTS
from pipeline.places import Span
from pipeline.project import Project, ProjectDocument
from pipeline.stages.parse import ParseOutcome, parse
from pipeline.stages.resolve import resolve
from tests.language.golden import CATALOG

TOKENS = (
    *(
        "(使う道具: ",
        "（使う道具：",
        "(使う道具 ",
        "使う道具:",
        "【使う道具: ",
        "】",
        "[",
        "](u)",
        ")",
        "）",
        "(",
        "、",
        ", ",
        " と ",
    ),
    *(
        "slack",
        " の ",
        "notify",
        "会計ソフト",
        "browser",
        "google_workspace",
        "my_crm",
        "なし",
        "のみ",
        " (read-only)",
        "(profile: a)",
    ),
    *(
        "(この ",
        "を exa の web に、そのまま渡す",
        "を bigquery (read-only) に、そのまま渡す",
        "そのまま渡して",
        "。差し替え: ",
        "<a>",
    ),
    *("project_id: ", "mode は append", "(呼び出す AOP: ", "例", "利用可能なツール", "https://slack.com/"),
    *(
        "# ",
        "## フェーズ 1: ",
        "## フェーズ ２．",
        "### ",
        "\n===\n",
        "- ",
        "  - ",
        "1. ",
        "> ",
        "    ",
        "\t",
        "| a |\n|---|\n",
    ),
    *(
        "```\n",
        "```ts\n",
        "~~~ x\n",
        "````",
        "`",
        "<!--",
        "-->",
        "<div>\n",
        '<b title="',
        ">",
        "\\",
        "*",
        "**",
        "_",
        "[a]: u\n",
    ),
    *(
        "\n",
        "\n\n",
        " ",
        "　",
        "。",
        "a",
        "1",
        "\u2028",
        "\f",
        "\x85",
        "\u200b",
        "👨‍👩",
        "か\u3099",
        "ｘ",
        "\ufeff",
        "\ufdd0",
    ),
)

documents = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=60).map("".join)
"""Documents in which the language's words meet Markdown's marks in every order."""

characters = st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])


def read(data: bytes) -> tuple[ParseOutcome, list[Finding]]:
    """The document alone in its project: what parse says, and what both stages find."""
    outcome = parse(data, "document")
    findings = list(outcome.findings)
    if outcome.artifact is not None:
        calls = tuple(call.target for section in outcome.artifact.phases for call in section.calls)
        project = Project([ProjectDocument("document.md", outcome.artifact.name, calls)])
        findings += resolve(outcome.artifact, CATALOG, project, "document.md").findings
    return outcome, findings


def inside(span: Span, lines: list[str]) -> bool:
    """Whether the span is one of the document's, its end not before its start."""
    ordered = (span.line, span.column) <= (span.end_line, span.end_column)
    ends = ((span.line, span.column), (span.end_line, span.end_column))
    return ordered and all(1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1 for line, column in ends)


@given(st.binary(max_size=300) | documents.map(str.encode))
def test_anything_is_read(data: bytes) -> None:
    """Bytes of any kind are read, or there is a finding that says why not."""
    outcome, findings = read(data)
    assert outcome.artifact is not None or findings


@given(documents)
def test_places_are_inside_the_document(text: str) -> None:
    """Every anchor, and every part of one that a finding names, lies in the document."""
    outcome, findings = read(text.encode())
    lines = text.removeprefix("\ufeff").split("\n")
    assert all(inside(span, lines) for span in outcome.positions)
    assert all(inside(place(finding.at, outcome.positions), lines) for finding in findings if finding.at)


@given(documents)
def test_findings_are_registered(text: str) -> None:
    """A finding has a name, a variant of it, and that variant's arguments, no more and no less."""
    _, findings = read(text.encode())
    for finding in findings:
        assert finding.name in CODES
        assert set(dict(finding.arguments)) == set(VARIANTS[finding.name][finding.variant])


@given(documents)
def test_the_same_bytes_give_the_same(text: str) -> None:
    """Reading twice gives equal artifacts, places and findings (R4)."""
    assert read(text.encode()) == read(text.encode())


@given(documents, st.sampled_from(("\r\n", "\r")))
def test_line_ends_change_nothing(text: str, line_end: str) -> None:
    """CR LF and CR are line ends like LF: same artifact, same lines and columns, same findings (F3)."""
    assert read(text.replace("\n", line_end).encode()) == read(text.encode())


containers = st.lists(st.sampled_from((("> ", "> "), ("- ", "  "), ("10. ", "    "))), max_size=4)
contents = st.lists(st.text(characters, max_size=20), max_size=6)


@given(contents, containers, st.sampled_from("`~"), st.integers(0, 3))
def test_a_fence_arrives_byte_for_byte(
    content: list[str], around: list[tuple[str, str]], mark: str, indent: int
) -> None:
    """Whatever a fence holds and wherever it stands, its text is its content (F1, F3)."""
    first, rest = "".join(pair[0] for pair in around), "".join(pair[1] for pair in around)
    longest = max((len(run) for line in content for run in line.split() if set(run) == {mark}), default=2)
    fence = mark * max(3, longest + 1)
    first, rest = first + " " * indent, rest + " " * indent
    lines = [first + fence, *(rest + line for line in content), rest + fence]
    outcome = parse("".join(line + "\n" for line in lines).encode(), "document")
    assert outcome.artifact is not None
    assert [found.text for found in outcome.artifact.fences] == ["".join(line + "\n" for line in content)]


def extent(span: Span) -> tuple[int, int, int]:
    """What of a place does not change when its block moves down."""
    return span.column, span.end_line - span.line, span.end_column


BLOCKS = (
    *("# 例", "## フェーズ 1: 集める (使う道具: slack の notify)", "## フェーズ 2: slack", "### 補足", "題\n---"),
    *("(使う道具: hitl,\n会計ソフト)", "slack と freee を使う", "【使う道具: exa】", "project_id: acme", "終わり。"),
    *("> 引用 (使う道具: sandbox)\n> 続き", "```sql\nselect 1\n\n<!-- x -->\n```", "~~~\n\n~~~"),
    *("(この SQL を bigquery の query (read-only) に、そのまま渡す)\n```sql\nselect 1\n```",),
    *("(この TypeScript を exa に、そのまま渡す。差し替え: a)\n```ts\na\n```", "<div>\n(使う道具: hitl)\n</div>"),
    *(
        "- 一\n- 二 (使う道具: hitl)\n\n  ```text\n  x\n  ```\n\n終わり。",
        "1. 一\n   - 二\n\n終わり。",
        "[a]: u\n終わり。",
    ),
    *("## 利用可能なツール", "- hitl\n- slack の notify\n\n終わり。", "***", "(呼び出す AOP: 例)"),
)
unseen = st.lists(
    st.sampled_from(("\n", " \t\n\n", "<!-- 注 (使う道具: 会計ソフト) slack -->\n\n", "<!--\n```\n\n# 題\n-->\n\n")),
    max_size=3,
)
documents_in_blocks = st.lists(st.tuples(st.sampled_from(BLOCKS), unseen.map("".join)), min_size=1, max_size=8)


@given(documents_in_blocks, unseen.map("".join))
def test_comments_and_blank_lines_change_only_places(blocks: list[tuple[str, str]], before: str) -> None:
    """Comments and blank lines between blocks: the artifacts are equal, and the findings but for their places (R1)."""
    plain = "".join(block + "\n\n" for block, _ in blocks)
    other = before + "".join(block + "\n\n" + between for block, between in blocks)
    (one, findings), (two, found) = read(plain.encode()), read(other.encode())
    assert one.artifact == two.artifact
    assert [(f.name, f.phase, f.arguments, f.suggestions) for f in findings] == [
        (f.name, f.phase, f.arguments, f.suggestions) for f in found
    ]
    assert list(map(extent, one.positions[1:])) == list(map(extent, two.positions[1:]))  # the first is line 1
