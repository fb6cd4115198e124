"""What people put before and behind the word that says what they mean: `クラウド会計システム` is about 会計.

All are words of every trade and say nothing about a tool. They stand here in the form of `words.loose`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.words import has_kanji

_THINGS: Final = ("ソフトウエア", "ソフト", "システム", "ツル", "アプリケシヨン", "アプリ", "サビス", "ボツト")
_ENDINGS: Final = (
    *_THINGS,
    *("ハイル", "デタ", "リスト", "画面", "機能", "環境", "情報", "内容", "一覧", "管理", "業務", "連携"),
    *("作成", "発行", "送信", "登録", "入力", "更新", "処理", "申請", "確認", "取得", "変更", "削除", "編集", "参照"),
    *("検索", "照会", "追加", "出力", "表", "票", "簿"),
    *("software", "system", "tool", "app", "bot", "mcp", "api", "server", "file", "list", "data"),
)
_BEGINNINGS: Final = ("クラウド", "オンライン", "社内", "業務", "電子")
_HONORIFICS: Final = ("オ", "ゴ")
_MOST_ENDINGS: Final = 2
_GENERIC: Final = frozenset((*_ENDINGS, *_BEGINNINGS))


def is_generic(word: str) -> bool:
    """Whether a loosened word says nothing about a tool."""
    return word in _GENERIC


def barer(word: str) -> Iterator[str]:
    """A loosened word with less and less around what it says: `クラウド会計システム` is クラウド会計, then 会計."""
    forms = [word]
    while len(forms) <= _MOST_ENDINGS and (shorter := _without(forms[-1], _ENDINGS, 2)) != forms[-1]:
        forms.append(shorter)
    yield from forms[1:]
    for form in forms:
        for beginning in (*_BEGINNINGS, *_HONORIFICS):
            if form.startswith(beginning) and len(form) >= len(beginning) + 2:
                if len(beginning) > 1 or has_kanji(form[1]):
                    yield form[len(beginning) :]
                break


def without_thing(word: str) -> str:
    """`タスク管理ツール` is タスク管理, if what is left says enough."""
    return _without(word, _THINGS, 4) if word.endswith(_THINGS) else word


def _without(word: str, endings: tuple[str, ...], least: int) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) >= len(ending) + least:
            return word[: -len(ending)]
    return word
