"""graph.mmd (O1): phases in order, what each may read and write, calls and hand-overs, as Mermaid."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pipeline.graph import graph
from tests.generate.samples import BROWSER, CRM, EXA, HITL, SLACK, WEEKLY, Code, Hand, Step, document


def test_the_whole_chart() -> None:
    """Phases and calls, then tools, then what flows: reads into the phase, writes out of it, hand-overs thick."""
    assert graph(WEEKLY.resolved) == (
        "flowchart TD\n"
        '  p0["フェーズ 1: 集める"]\n'
        '  p1["フェーズ 2: 調べる"]\n'
        "  p0 --> p1\n"
        '  p2[["フェーズ 3: 請求する"]]\n'
        "  p1 --> p2\n"
        '  t0[("slack")]\n'
        '  t1[("hitl")]\n'
        '  t2[("exa")]\n'
        '  c0(["請求"])\n'
        '  p0 ---|"使う"| t1\n'
        '  t0 -.->|"読む: search_messages"| p0\n'
        '  p0 -->|"書く: post_message"| t0\n'
        '  p1 ==>|"そのまま渡す (読む): web_search_exa"| t2\n'
        '  p2 ==>|"呼び出す"| c0\n'
    )


def test_it_exists_in_english() -> None:
    """The same chart with other words."""
    english = graph(WEEKLY.resolved, "en")
    assert '  p0["Phase 1: 集める"]\n' in english
    assert '  t0 -.->|"reads: search_messages"| p0\n' in english
    assert len(english.splitlines()) == len(graph(WEEKLY.resolved).splitlines())


def test_a_tool_declared_twice_is_one_arrow_a_direction() -> None:
    """Operations of several entries of one tool stand together, each once; an unknown server's are said to be
    unknown."""
    sample = document(Step("集める", (), (EXA, EXA, CRM, BROWSER)))
    text = graph(sample.resolved)
    assert text.count("t0") == 2
    assert '"読む: web_search_exa"' in text
    assert '"読む: 読むだけ（操作は接続時に分かる）"' in text
    assert '"使う: read, navigation, github-login"' in text


def test_a_phase_without_a_title_and_a_single_phase() -> None:
    """A phase has a label in any case; a single-phase document's is its name."""
    assert '  p0["フェーズ 1"]\n' in graph(document(Step("")).resolved)
    assert '  p0["点検"]\n' in graph(document(Step("点検", number=None), name="点検").resolved)
    assert '  p0[" "]\n' in graph(document(Step("", number=None), name="点検").resolved)


LABEL = r'"[^"\x00-\x1f`<>\[\]{}\\]+"'
LINE = re.compile(
    rf"  (?:[ptc]\d+(?:\[{LABEL}\]|\[\[{LABEL}\]\]|\[\({LABEL}\)\]|\(\[{LABEL}\]\))"
    rf"|[ptc]\d+ (?:-->|---|-\.->|==>)(?:\|{LABEL}\|)? [ptc]\d+)"
)


@given(st.text(), st.text(min_size=1))
def test_any_title_and_name_is_safe(title: str, called: str) -> None:
    """No title ends its label, opens another node, or is read as Markdown, HTML or a comment."""
    sample = document(Step(title, (Code("a\n"),), (SLACK, HITL), (Hand(),)), Step(title, number=2, calls=called))
    first, *rest = graph(sample.resolved).removesuffix("\n").split("\n")
    assert first == "flowchart TD"
    assert [line for line in rest if not LINE.fullmatch(line)] == []


def test_marks_are_entities_and_long_labels_are_cut() -> None:
    """Mermaid shows an entity as the sign that it stands for."""
    text = graph(document(Step('"終わり" #1 <b>'), Step("長" * 1000, number=2)).resolved)
    assert '"フェーズ 1: #34;終わり#34; #35;1 #60;b#62;"' in text
    assert max(len(line) for line in text.splitlines()) < 320


def test_of_many_operations_the_first_are_named() -> None:
    """A chart is for a glance: eight names and how many more there are; each name is whole."""
    many = tuple(f"operation_{number}" for number in range(12))
    resolved = document(Step("集める", (), (SLACK._replace(operations=many),))).resolved
    assert '-->|"書く: ' + ", ".join(many[:8]) + ', ほか 4 件"|' in graph(resolved)
    assert ', and 4 more"|' in graph(resolved, "en")
