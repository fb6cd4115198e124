"""In which encoding an attachment is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.standard.encodings import detect

_TEXT = "請求書の一覧です。\r\n会社,金額\r\n株式会社ねこ,１２，０００円\r\n①㈱髙島屋〜\r\n".replace("〜", "～")


@pytest.mark.parametrize(
    ("codec", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("cp932", "cp932"),
    ],
)
def test_encodings_of_windows_are_found(codec: str, found: str) -> None:
    """With the signs that only Windows has: ①, ㈱, 髙."""
    data = _TEXT.encode(codec)
    assert detect(data) == found
    assert data.decode(found) == _TEXT


@pytest.mark.parametrize("codec", ["euc_jp", "iso2022_jp", "shift_jis"])
def test_older_encodings_are_found(codec: str) -> None:
    """Their texts are read by the detected codec as they were written."""
    text = "請求書の一覧です。\n会社,金額\nカタカナとひらがな\n"
    found = detect(text.encode(codec))
    assert found is not None
    assert text.encode(codec).decode(found) == text


def test_half_width_katakana_of_a_bank_is_no_euc() -> None:
    """Files of banks (全銀) hold nothing else in CP932; all of it is valid EUC-JP too, as rare ideographs."""
    data = "1210ﾃｽﾄﾃ 0329\r\n".encode("cp932")
    data.decode("euc_jp")
    assert detect(data) == "cp932"


@given(st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp"))))
def test_whatever_is_written_in_utf_8_is_read_as_it(text: str) -> None:
    """Nothing else is tried before, but what starts like a known binary or with a mark."""
    data = ("x" + text).encode()
    assert detect(data) == "utf-8"


@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_are_judged_and_what_is_found_decodes_them(data: bytes, whole: bool) -> None:
    """No bytes make it raise, and a codec that it names reads all of them."""
    found = detect(data, whole=whole)
    if found is not None and whole:
        data.decode(found)


@given(st.integers(min_value=0, max_value=60), st.sampled_from(["utf-8", "cp932", "utf-16", "euc_jp"]))
def test_the_beginning_of_a_file_may_end_within_a_character(cut: int, codec: str) -> None:
    """Its head tells the encoding all the same, as soon as there is something of the text in it."""
    data = "金額の一覧です。カタカナと、ひらがな\n".encode(codec)
    assert detect(data[: len(data) - min(cut, len(data) - 20)], whole=False) == codec


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7\n", b"PK\x03\x04rest", b"\x89PNG\r\n\x1a\n", b"\x00\x01\x02\x03", b"text\x00text\x00", b"\xff\xfe\x00",
     b"\x7fELF", bytes(range(256)), b"\xef\xbb\xbf\xff", b"SQLite format 3\x00"],
)  # fmt: skip
def test_binary_files_are_no_text(data: bytes) -> None:
    """Known beginnings, zero bytes, control characters, a mark that the rest does not keep."""
    assert detect(data) is None


def test_colours_of_a_log_are_no_japanese_escapes() -> None:
    """ESC alone does not make ISO-2022-JP."""
    assert detect(b"\x1b[31merror\x1b[0m\n") == "utf-8"
