"""Words that were left in kana, or turned into other kanji (T5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.readings import first_sounds, read_alike
from catalog.words import loose


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("きんたい", "勤怠"),
        ("キンタイ", "勤怠"),
        ("せいきゅうしょ", "請求書"),
        ("せい求書", "請求書"),
        ("てんぷファイル", "添付ファイル"),
        ("うちあわせ", "打ち合わせ"),
        ("ひとへの確認", "人への確認"),
        ("経費清算", "経費精算"),
        ("請求証", "請求書"),
        ("添附ファイル", "添付ファイル"),
    ],
)
def test_a_word_is_read_as_it_was_written(written: str, word: str) -> None:
    """In kana, in part or whole, voiced behind another kana (`てんぷ`), and with kanji that are read alike."""
    assert read_alike(loose(written), loose(word))


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("会社", "会計"),
        ("会議", "会計"),
        ("きんた", "勤怠"),
        ("きんたいひょう", "勤怠"),
        ("禁退", "勤怠"),
        ("かいぎ", "会計"),
    ],
)
def test_other_words_are_not_read_alike(written: str, word: str) -> None:
    """Nor is a word of which no kanji was kept: too many words sound alike."""
    assert not read_alike(loose(written), loose(word))


@given(st.text(max_size=12), st.text("勤怠請求書添付会計ひとの", min_size=1, max_size=8))
def test_whatever_is_read_alike_begins_alike(written: str, word: str) -> None:
    """So that only words that begin alike need comparing; and no text is an error."""
    if written and read_alike(written, word):
        assert word[0] == written[0] or not first_sounds(written).isdisjoint(_voiced(first_sounds(word)))


@given(st.text("勤怠請求書添付会計ひとの", min_size=1, max_size=8))
def test_a_word_with_kanji_is_read_as_itself(word: str) -> None:
    """Kana alone have no reading."""
    assert read_alike(word, word) is any(each not in "ひとの" for each in word)


def _voiced(sounds: frozenset[str]) -> frozenset[str]:
    """With how the first kana of a reading may change: カ is U+30AB, ガ the next."""
    return sounds | {chr(ord(kana) + step) for kana in sounds for step in (1, 2)}
