"""What somebody may have meant (T5, T6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from catalog_files import conformance, write
from hypothesis import given
from hypothesis import strategies as st
from mistakes import MISSES, MISTAKES

from catalog.load import load_catalog
from catalog.snapshot import Catalog
from catalog.words import loose


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The conformance catalog."""
    return conformance(tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    return load_catalog()


# Every tool or category suggestion that a conformance case asks for: (NAME, CATEGORY, what must be among them).
ASKED: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("データウェアハウス", None, ("bigquery",)),
    ("bigquey", None, ("bigquery",)),
    ("会計ソフト", None, ("freee",)),
    ("コード実行", None, ("sandbox",)),
    ("電子メール", None, ("google_workspace の gmail",)),
    ("承認", None, ("hitl",)),
    ("ウェブ検索", None, ("exa",)),
    ("gmail", None, ("google_workspace の gmail",)),
    ("Google Workspace", "drive", ("google_workspace",)),
    ("big_query", None, ("bigquery",)),
    ("google-workspace", "drive", ("google_workspace",)),
    ("my_cmr", None, ("my_crm",)),
    ("slak", None, ("slack",)),
    ("bigqueri", None, ("bigquery",)),
    ("drive", None, ("google_workspace の drive",)),
    ("invoices", None, ("freee の invoices",)),
    ("表計算", None, ("google_workspace の sheets",)),
)


@pytest.mark.parametrize(("name", "category", "expected"), ASKED)
def test_the_suggestions_of_the_conformance_cases(
    cases: Catalog, name: str, category: str | None, expected: tuple[str, ...]
) -> None:
    """T5: what stands there comes first, and nothing else that is as good."""
    suggestions = cases.suggest_tools(name, category)
    assert set(expected) <= set(suggestions)
    assert suggestions[0] == expected[0]


ASKED_CATEGORIES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    # tool, what was written, the first, all
    ("slack", "drive", "", ("slack の notify", "slack の history")),
    ("slack", "通知", "slack の notify", ("slack の notify", "slack の history")),
    ("slack", "gmail", "", ("slack の notify", "slack の history")),
    ("exa", "wab", "exa の web", ("exa の web", "exa の crawl")),
    ("browser", "write", "", ("browser の read", "browser の navigation", "browser の interact")),
    ("google_workspace", "予定", "google_workspace の calendar", ()),
    ("google_workspace", "メール", "google_workspace の gmail", ()),
    (
        "google_workspace",
        "drives",
        "google_workspace の drive",
        ("google_workspace の drive", "google_workspace の gmail"),
    ),
    ("google_workspace", "spread sheet", "google_workspace の sheets", ()),
    ("google_workspace", "表計算シート", "google_workspace の sheets", ()),
    ("google_workspace", "Calender", "google_workspace の calendar", ()),
    ("google_workspace", "カレンダ", "google_workspace の calendar", ()),
    ("freee", "invoice", "freee の invoices", ("freee の invoices", "freee の deals")),
    ("freee", "仕訳", "freee の deals", ("freee の invoices", "freee の deals")),
)


@pytest.mark.parametrize(("name", "written", "first", "among"), ASKED_CATEGORIES)
def test_category_suggestions_are_the_tools_categories(
    cases: Catalog, name: str, written: str, first: str, among: tuple[str, ...]
) -> None:
    """T6: closest first."""
    tool = cases.tool(name)
    assert tool is not None
    suggestions = cases.suggest_categories(tool, written)
    assert set(among) <= set(suggestions)
    assert set(suggestions) <= {f"{name} の {category.name}" for category in tool.categories}
    if first:
        assert suggestions[0] == first


def test_a_tool_without_categories_has_no_category_suggestions(cases: Catalog) -> None:
    """T6: an added server, a connector and a standard tool without categories."""
    for name in ("my_crm", "linear", "sandbox"):
        tool = cases.tool(name)
        assert tool is not None
        assert cases.suggest_categories(tool, "contacts") == ()


def test_of_many_categories_the_five_closest_are_suggested(shipped: Catalog) -> None:
    """T6: at most five."""
    freee = shipped.tool("freee")
    assert freee is not None
    assert len(freee.categories) > 5
    suggestions = shipped.suggest_categories(freee, "請求")
    assert len(suggestions) == 5
    assert suggestions[0] == "freee の invoices"


@pytest.mark.parametrize(("written", "expected"), MISTAKES)
def test_a_realistic_mistake_leads_to_what_was_meant(shipped: Catalog, written: str, expected: str) -> None:
    """T5: slips, other scripts, business words, categories without their tool: the right one first."""
    name, _, category = written.partition(" の ")
    suggestions = shipped.suggest_tools(name, category or None)
    assert suggestions[:1] == (expected,)
    assert len(suggestions) <= 5
    assert len(set(suggestions)) == len(suggestions)


@pytest.mark.parametrize("word", MISSES)
def test_a_word_that_means_no_tool_suggests_nothing(shipped: Catalog, word: str) -> None:
    """No noise: a wrong candidate is worse than none."""
    assert shipped.suggest_tools(word, None) == ()


def test_only_the_catalog_decides(tmp_path: Path) -> None:
    """Nothing is built in: the same words mean nothing where no tool has them, and something else where another has."""
    text = "version: 1\ntools:\n  - {name: crayon, kind: mcp, title: クレヨン, hints: [メール, 会計ソフト]}\n"
    catalog = load_catalog([write(tmp_path, "a.yaml", text)])
    assert catalog.suggest_tools("メール", None) == ("crayon",)
    assert catalog.suggest_tools("会計ソフト", None) == ("crayon",)
    assert catalog.suggest_tools("表計算", None) == ()
    assert catalog.suggest_tools("slak", None) == ()


def test_a_word_of_several_tools_lists_them_all(tmp_path: Path) -> None:
    """Equally good ones by name, tools before categories; the category that was written decides between tools."""
    text = """\
        version: 1
        tools:
          - {name: zeta, kind: mcp, hints: [メール], categories: [{name: inbox}], operations: []}
          - {name: alpha, kind: mcp, hints: [メール]}
          - {name: beta, kind: mcp, categories: [{name: mail, title: メール}], operations: []}
        """
    catalog = load_catalog([write(tmp_path, "a.yaml", text)])
    assert catalog.suggest_tools("メール", None) == ("alpha", "zeta", "beta の mail")
    assert catalog.suggest_tools("メール", "inbox") == ("zeta", "alpha", "beta の mail")


def test_at_most_five_are_suggested(tmp_path: Path) -> None:
    """T5."""
    tools = "".join(f"  - {{name: t{number}, kind: mcp, hints: [顧客台帳]}}\n" for number in range(9))
    catalog = load_catalog([write(tmp_path, "a.yaml", "version: 1\ntools:\n" + tools)])
    assert catalog.suggest_tools("顧客台帳", None) == ("t0", "t1", "t2", "t3", "t4")


@pytest.mark.parametrize("signs", ["―", "…", "*", "_", "！", "\u200b", "\u3000―"])
def test_titles_and_hints_of_signs_alone_mean_nothing(tmp_path: Path, signs: str) -> None:
    """Nothing is left of them when words are compared; what is asked for may be signs as well."""
    text = f"""\
        version: 1
        tools:
          - name: alpha
            kind: mcp
            title: "{signs}"
            categories: [{{name: notes, title: "{signs}"}}, {{name: files, hints: ["{signs}"]}}]
            operations: []
        """
    catalog = load_catalog([write(tmp_path, "a.yaml", text)])
    tool = catalog.tool("alpha")
    assert tool is not None
    assert catalog.suggest_categories(tool, "notse") == ("alpha の notes", "alpha の files")
    assert set(catalog.suggest_categories(tool, signs)) == {"alpha の notes", "alpha の files"}
    assert "alpha" in catalog.suggest_tools("alhpa", signs)


SPELLINGS: tuple[tuple[str, ...], ...] = (
    ("カレンダー", "カレンダ", "かれんだー", "ｶﾚﾝﾀﾞｰ", "カレンダ―"),
    ("スプレッドシート", "スプレッド シート", "スプレッド・シート", "ｽﾌﾟﾚｯﾄﾞｼｰﾄ"),
    ("メール", "メイル", "めーる", "ﾒｰﾙ"),
    ("google_workspace", "Google Workspace", "ＧＯＯＧＬＥ－ＷＯＲＫＳＰＡＣＥ", "google.workspace"),
    ("データウェアハウス", "データウエアハウス", "データ ウェア ハウス"),
    ("ヴァイオリン", "バイオリン", "ばいおりん"),
)


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_spellings_of_one_word_are_equal(spellings: tuple[str, ...]) -> None:
    """Width, case, hiragana and katakana, long vowels, small kana, blanks and joining marks make no other word."""
    assert len({loose(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(("one", "other"), [("はし", "はじ"), ("slack", "slick"), ("会計", "会社"), ("ひと", "ひつと")])
def test_other_words_stay_others(one: str, other: str) -> None:
    """The comparison does not throw away what tells words apart."""
    assert loose(one) != loose(other)


def _edits(word: str) -> Iterator[str]:
    """One slip of the fingers: a character left out, doubled, or swapped with the next."""
    for index in range(1, len(word)):
        yield word[:index] + word[index + 1 :]
        yield word[:index] + word[index] + word[index:]
        if index + 1 < len(word):
            yield word[:index] + word[index + 1] + word[index] + word[index + 2 :]


def test_one_slip_in_a_longer_name_is_always_found(shipped: Catalog) -> None:
    """Systematically, for every tool whose name has at least five letters."""
    for tool in shipped.tools():
        if len(tool.name) < 5 or not tool.name.isascii():
            continue
        for slip in _edits(tool.name):
            if shipped.tool(slip) is None:
                assert shipped.suggest_tools(slip, None)[:1] == (tool.name,), slip


ONE, OTHER = load_catalog(), load_catalog()
TOOLS = ONE.tools()
ALLOWED = {tool.name for tool in TOOLS} | {f"{tool.name} の {each.name}" for tool in TOOLS for each in tool.categories}


@given(st.text(max_size=90), st.none() | st.text(max_size=20))
def test_any_text_has_an_answer_from_the_catalog(name: str, category: str | None) -> None:
    """At most five, no repeats, each a tool or one of its categories, and the same from another load."""
    suggestions = ONE.suggest_tools(name, category)
    assert set(suggestions) <= ALLOWED
    assert len(set(suggestions)) == len(suggestions) <= 5
    assert OTHER.suggest_tools(name, category) == suggestions


def test_a_very_long_word_is_answered_at_once(shipped: Catalog) -> None:
    """A document of one megabyte may be one name."""
    assert shipped.suggest_tools("メール" * 300_000, None) == ()
    slack = shipped.tool("slack")
    assert slack is not None
    assert len(shipped.suggest_categories(slack, "通知" * 300_000)) == 5
