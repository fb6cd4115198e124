"""How words are compared when looking for what somebody meant: more generously than names are (T5, T6).

Beyond NFKC and case, hiragana is katakana, small kana are large, `ヴァ` is `バ`, `フォ` is `ホ`, and long vowels
(`メール`, `メイル`), blanks, joining marks and those around a word (`「slack」`) are nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from catalog.fold import fold

_KATAKANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_DROPPED = dict.fromkeys(map(ord, "ー‐‑–—―~〜 _-.・･/\\'’&@" + '"“”‘`「」『』【】〔〕〈〉《》[]{}<>*!?、。'))
_LARGE = {ord(small): ord(large) for small, large in zip("ァィゥェォッャュョヮ", "アイウエオツヤユヨワ", strict=True)}
_TABLE: dict[int, int | None] = {
    **{code: _LARGE.get(katakana, katakana) for code, katakana in _KATAKANA.items()},
    **_LARGE,
    **_DROPPED,
}
_FOREIGN_SOUNDS = (
    *(("ヴア", "バ"), ("ヴイ", "ビ"), ("ヴエ", "ベ"), ("ヴオ", "ボ"), ("ヴ", "ブ")),
    *(("フア", "ハ"), ("フイ", "ヒ"), ("フエ", "ヘ"), ("フオ", "ホ")),
)
_LONG_E = re.compile("(?<=[エケセテネヘメレゲゼデベペ])イ")
_KANJI = "㐀-䶿一-鿿々〆豈-﫿"
_HAS_KANJI = re.compile(f"[{_KANJI}]")
# A run of one script; hiragana between other scripts are particles, so they are runs of their own.
_RUN = re.compile(f"[a-z0-9]+|[ァ-ヺー]+|[{_KANJI}]+|[ぁ-ゖー]+|[^\\W_]+")
_KATAKANA_ALONE = re.compile("[ァ-ヺー]+")
_PLURAL = re.compile(r"[a-z0-9]{2,}[^s]s\Z")

_PARTICLES = frozenset(("の", "へ", "に", "で", "を", "と", "が", "は", "への", "での", "との", "から", "からの"))


def loose(text: str) -> str:
    """The form in which two spellings of one word are equal."""
    return _loosened(fold(text))


def _loosened(folded: str) -> str:
    if folded.isascii() and folded.isalnum():
        return folded
    word = folded.translate(_TABLE)
    if "ヴ" in word or "フ" in word:
        for written, plain in _FOREIGN_SOUNDS:
            word = word.replace(written, plain)
    return _LONG_E.sub("", word)


def runs(text: str) -> tuple[str, ...]:
    """The pieces of `text` in which a whole word may stand, loosened: `Slackの通知` is slack, の, 通知. Hiragana beside
    other pieces stays: it joins them, or ends a verb (`集める` is no メール)."""
    return _runs(fold(text))


def loose_and_runs(text: str) -> tuple[str, tuple[str, ...]]:
    """Both, in less time."""
    folded = fold(text)
    return _loosened(folded), _runs(folded)


def _runs(folded: str) -> tuple[str, ...]:
    found = _RUN.findall(folded)
    if len(found) == 1:
        return (piece,) if (piece := _loosened(folded)) else ()
    return tuple(piece for run in found if (piece := run if is_hiragana(run) else _loosened(run)))


def is_hiragana(piece: str) -> bool:
    return "ぁ" <= piece[0] <= "ゖ"


def is_katakana(text: str) -> bool:
    """Alone, with long vowels or without; half-width too."""
    return _KATAKANA_ALONE.fullmatch(fold(text)) is not None


def is_clip(clip: str, word: str) -> bool:
    """Whether a loosened `clip` is what is said of the beginning of `word`, whose kana may be left out in between."""
    rest = iter(word[: len(clip) + 2])
    return word[0] == clip[0] and all(kana in rest for kana in clip)


def joined(pieces: Iterable[str]) -> str:
    """One loosened word of `runs`."""
    return "".join(loose(piece) if is_hiragana(piece) else piece for piece in pieces)


def joined_content(pieces: Iterable[str]) -> str:
    """One loosened word of `runs`, without the particles that join them: `投稿の検索` is `投稿検索`."""
    return joined(piece for piece in pieces if piece not in _PARTICLES)


def singular(word: str) -> str:
    """An English plural's singular; any other word itself."""
    return word[:-1] if _PLURAL.match(word) else word


def has_kanji(word: str) -> bool:
    return _HAS_KANJI.search(word) is not None
