"""How words are compared when looking for what somebody meant: more generously than names are (T5, T6).

Beyond NFKC and case, hiragana is katakana, small kana are large, `ヴァ` is `バ`, and long vowels (`メール`, `メイル`),
blanks and joining marks are nothing.
"""

from __future__ import annotations

import re

from catalog.fold import fold

_KATAKANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_DROPPED = dict.fromkeys(map(ord, "ー‐‑–—―~〜 _-.・･/\\'’&"))
_LARGE = {ord(small): ord(large) for small, large in zip("ァィゥェォッャュョヮ", "アイウエオツヤユヨワ", strict=True)}
_TABLE: dict[int, int | None] = {
    **{code: _LARGE.get(katakana, katakana) for code, katakana in _KATAKANA.items()},
    **_LARGE,
    **_DROPPED,
}
_V_SOUNDS = (("ヴア", "バ"), ("ヴイ", "ビ"), ("ヴエ", "ベ"), ("ヴオ", "ボ"), ("ヴ", "ブ"))
_LONG_E = re.compile("(?<=[エケセテネヘメレゲゼデベペ])イ")
_KANJI = "㐀-䶿一-鿿々〆豈-﫿"
_HAS_KANJI = re.compile(f"[{_KANJI}]")
# A run of one script; hiragana between other scripts are particles, so they are runs of their own.
_RUN = re.compile(f"[a-z0-9]+|[ァ-ヺー]+|[{_KANJI}]+|[ぁ-ゖー]+|[^\\W_]+")
_PLURAL = re.compile(r"[a-z0-9]{2,}[^s]s\Z")


def loose(text: str) -> str:
    """The form in which two spellings of one word are equal."""
    word = fold(text).translate(_TABLE)
    if "ヴ" in word:
        for written, plain in _V_SOUNDS:
            word = word.replace(written, plain)
    return _LONG_E.sub("", word)


def runs(text: str) -> tuple[str, ...]:
    """The pieces of `text` in which a whole word may stand, loosened: `Slackの通知` is slack, ノ, 通知."""
    return tuple(piece for run in _RUN.findall(fold(text)) if (piece := loose(run)))


def singular(word: str) -> str:
    """An English plural's singular; any other word itself."""
    return word[:-1] if _PLURAL.match(word) else word


def has_kanji(word: str) -> bool:
    return _HAS_KANJI.search(word) is not None
