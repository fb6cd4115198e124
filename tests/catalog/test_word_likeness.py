"""How words are found that are not written as the catalog writes them (T5, T6)."""

from __future__ import annotations

import pytest
from catalog_files import write
from hypothesis import given
from hypothesis import strategies as st

from catalog.affixes import barer
from catalog.load import load_catalog
from catalog.slips import find_slips
from catalog.snapshot import Catalog
from catalog.sounds import SILENCE, sound, sounds_alike
from catalog.word_index import WordIndex

HEARD = (
    ("スプレッドシート", "spreadsheet"),
    ("カレンダー", "calendar"),
    ("チケット", "ticket"),
    ("メッセージ", "message"),
    ("ワークフロー", "workflow"),
    ("リポジトリ", "repository"),
    ("ノーティフィケーション", "notification"),
    ("ビッグクエリ", "bigquery"),
    ("セールスフォース", "salesforce"),
    ("マイクロソフト", "microsoft"),
    ("フォルダー", "folder"),
)


@pytest.mark.parametrize(("katakana", "english"), HEARD)
def test_an_english_word_is_heard_in_katakana(katakana: str, english: str) -> None:
    """Without a list of words: what Japanese does to the sounds is regular enough."""
    assert sounds_alike(sound(english), sound(katakana))


@pytest.mark.parametrize(
    ("katakana", "english"),
    [
        ("ブロック", "black"),
        ("ギットハブ", "gitlab"),
        ("ノーション", "nation"),
        ("スペース", "spice"),
        ("メール", "mile"),
    ],
)
def test_other_words_are_not_heard(katakana: str, english: str) -> None:
    """Consonants alone would not do: the vowels must be possible."""
    assert not sounds_alike(sound(english), sound(katakana))


@pytest.mark.parametrize("word", ["", "会計", "すらっく", "slack通知", "ー", "12", "!?"])
def test_what_is_neither_english_nor_katakana_is_silent(word: str) -> None:
    """Hiragana is Japanese, and beside it an English word means nothing."""
    assert sound(word).length == 0


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_two_words_can_be_compared(one: str, other: str) -> None:
    """No text is an error, and silence is like nothing."""
    assert not sounds_alike(sound(one), SILENCE)
    assert not sounds_alike(SILENCE, sound(other))
    assert isinstance(sounds_alike(sound(one), sound(other)), bool)


@pytest.mark.parametrize(
    ("word", "about"),
    [("クラウド会計システム", "会計"), ("勤怠管理システム", "勤怠"), ("オ見積書作成", "見積書"), ("経費デタ", "経費")],
)
def test_what_people_add_is_taken_off(word: str, about: str) -> None:
    """Of loosened words, a step at a time, so that the longest that is known counts."""
    forms = list(barer(word))
    assert about in forms
    assert word not in forms


@pytest.mark.parametrize("word", ["システム", "管理", "ソフト", "表", "会計"])
def test_a_word_is_never_taken_off_whole(word: str) -> None:
    """What is left has two characters at least."""
    assert all(len(form) >= 2 for form in barer(word))


SLIPS = (
    # known, written, whether it may have been meant
    ("slack", "slak", True),
    ("slack", "sluck", True),
    ("slack", "slavk", True),
    ("slack", "stack", False),
    ("slack", "black", False),
    ("slack", "lack", False),
    ("slack", "2slack", True),
    ("slack", "lsack", True),
    ("zoom", "room", False),
    ("browser", "brouser", True),
    ("browser", "rbowser", True),
    ("confluence", "confluense", True),
    ("folder", "older", False),
    ("会計ソフト", "会計ソフド", True),
    ("会計", "会社", False),
)


@pytest.mark.parametrize(("known", "written", "meant"), SLIPS)
def test_a_slip_is_one_of_keys_or_of_ears(known: str, written: str, meant: bool) -> None:
    """One letter exchanged makes another word of a short one, unless it is next to the right one, or sounds like it."""
    assert bool(list(find_slips(written, [known]))) is meant


TEXT = """\
    version: 1
    tools:
      - name: tavern
        kind: mcp
        title: Tavern
        hints: [タバーン, タバーンカンパニー, 台帳管理ツール]
        categories:
          - {name: ledgers, title: 台帳, hints: [タバーンの帳簿]}
          - {name: stone_requests, title: 切り出しの依頼}
          - {name: maps, title: 台帳の地図}
          - {name: reports, title: レポート}
        operations: []
      - {name: deputy, kind: mcp, title: Tavern代行}
      - name: other
        kind: mcp
        categories: [{name: ledgers, title: 元帳}]
        operations: []
    """


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return load_catalog([write(tmp_path_factory.mktemp("own"), "a.yaml", TEXT)])


FOUND = (
    # name, category, what is suggested first
    ("タバーン", None, "tavern"),
    ("タバーンの台帳", None, "tavern の ledgers"),
    ("タバレポ", None, "tavern の reports"),
    ("タバーンカンパ", None, "tavern"),
    ("「tavern」", None, "tavern"),
    ("tabern", None, "tavern"),
    ("tavvernn", None, "tavern"),
    ("だいちょう", None, "tavern の ledgers"),
    ("台張", None, "tavern の ledgers"),
    ("ＳＲ", None, "tavern の stone_requests"),
    ("tavern台帳一覧", None, "tavern の ledgers"),
    ("切り出し依頼", None, "tavern の stone_requests"),
    ("切り出し", "依頼", "tavern の stone_requests"),
    ("台帳管理", None, "tavern"),
    ("台帳管理システム", None, "tavern"),
    ("台帳", "地図", "tavern の maps"),
    ("台帳を送る", None, "tavern の ledgers"),
    ("タバーン", "ledgers", "tavern"),
    ("タバーン", "元帳", "tavern の ledgers"),
    ("タバーン代行", None, "deputy"),
    ("ledgers", "other", "other の ledgers"),
)


@pytest.mark.parametrize(("name", "category", "first"), FOUND)
def test_words_of_any_catalog_are_found(catalog: Catalog, name: str, category: str | None, first: str) -> None:
    """An organisation's own tools gain from the same rules: nothing is made for the shipped ones."""
    assert catalog.suggest_tools(name, category)[:1] == (first,)


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("元帳", "tavern の ledgers"),  # another tool's word for its category of that name
        ("SR", "tavern の stone_requests"),
        ("きり出しのいらい", "tavern の stone_requests"),
        ("stone-request", "tavern の stone_requests"),
        ("マップ", "tavern の maps"),
        ("帳簿", "tavern の ledgers"),
        ("地図", "tavern の maps"),
        ("台帳", "tavern の ledgers"),
    ],
)
def test_a_category_is_found_by_many_words(catalog: Catalog, written: str, first: str) -> None:
    """T6."""
    tool = catalog.tool("tavern")
    assert tool is not None
    assert catalog.suggest_categories(tool, written)[0] == first


def test_a_long_category_behind_a_known_word_is_answered_at_once(catalog: Catalog) -> None:
    """T5: a document of one megabyte may be one item."""
    assert catalog.suggest_tools("タバーン", "台帳の" * 300_000)[:1] == ("tavern の ledgers",)


def test_nothing_is_surely_meant_by_nothing(catalog: Catalog) -> None:
    """Words that loosen to nothing, and an empty catalog."""
    tool = catalog.tool("tavern")
    assert tool is not None
    assert catalog.suggest_tools("---", "台帳") == ()
    assert catalog.suggest_categories(tool, "---") == (
        "tavern の ledgers",
        "tavern の stone_requests",
        "tavern の maps",
        "tavern の reports",
    )
    assert WordIndex(()).words == {}
