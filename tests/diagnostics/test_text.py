"""The text format: sentence, source line, caret, help; the caret is right under what it marks, on every terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes, wcswidth, width

from pipeline.diagnostics.cells import PLAIN, excerpt
from pipeline.diagnostics.text import render_text
from pipeline.places import Span

from .samples import at, of

MARKED = "@@"


def caret_column(before: str) -> int:
    """Where the caret stands, in columns from 0, when `before` is left of the marked text."""
    line = f"{before}{MARKED}"
    return excerpt(line, len(before), len(line), 200).mark


def test_the_whole_block() -> None:
    """Header, gutter, source line, caret under full-width text, help with the candidates."""
    lines = ["# 週次報告", "", "## フェーズ 1: 集める (使う道具: 会計ソフト)"]
    assert render_text([of(lines, "会計ソフト", 3)], "weekly.md", lines, lang="ja") == (
        "weekly.md:3:23: error[AOP201] tool-unreadable: "
        "フェーズ 1 の宣言「(使う道具: 会計ソフト)」の「会計ソフト」は、道具として読めません。\n"
        "  |\n"
        "3 | ## フェーズ 1: 集める (使う道具: 会計ソフト)\n"
        "  |                                  ^^^^^^^^^^\n"
        "  = 直し方: 使えるツールの一覧にある名前で、「道具名」か「道具名 の カテゴリ」と書いてください。"
        "候補: 「freee」。\n"
    )


def test_english() -> None:
    """The same in English."""
    lines = ["(使う道具: メール)"]
    text = render_text([of(lines, "メール", lang="en")], "a.md", lines, lang="en")
    assert text.startswith(
        "a.md:1:8: error[AOP201] tool-unreadable: `メール` in declaration `(使う道具: メール)` (phase 1) "
    )
    assert "\n  = help: Write `TOOL`" in text


@pytest.mark.parametrize(
    ("before", "columns"),
    [
        ("", 0),
        ("abc ", 4),
        ("集める", 6),
        ("ＡＢ：", 6),
        ("ｶﾞｷﾞ", 4),
        ("か\u3099き\u3099", 4),
        ("e\u0301", 1),
        ("葛\U000e0100城", 4),
        ("👨\u200d👩\u200d👧\u200d👦", 2),
        ("👍🏽", 2),
        ("❤", 1),
        ("❤\ufe0f", 2),
        ("1\ufe0f\u20e3", 2),
        ("🇯🇵🇫🇷", 4),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", 2),
        ("한", 2),
        ("\u1112\u1161\u11ab", 2),
        ("\t", 4),
        ("a\tb\t", 8),
        ("表\t", 4),
        ("\x0c", 1),
        ("\x1b[31m", 5),
        ("\x85", 4),
        ("\u202e", 6),
        ("\u2028", 6),
        ("\u200b", 6),
    ],
)
def test_the_caret_is_right_under(before: str, columns: int) -> None:
    """Full-width, half-width kana, combining marks, emoji, tabs and escapes take the columns they are shown in."""
    assert caret_column(before) == columns


def test_a_mark_inside_a_grapheme_covers_it() -> None:
    """Columns count code points; a place between the parts of one emoji is shown as that emoji."""
    family = "👨\u200d👩\u200d👧"
    shown = excerpt(f"a{family}b", 3, 4, 80)
    assert (shown.mark, shown.mark_width) == (1, 2)


def test_nothing_can_act_on_the_terminal() -> None:
    """Escape sequences and bidi controls in the document, its path and the message are shown, not sent."""
    lines = ["\x1b[2J\u202e(使う道具: \x07メール)"]
    text = render_text([of(lines, "メール")], "we\x1b]0;x\x07ekly.md", lines, lang="ja")
    assert not set(text) & {"\x1b", "\u202e", "\x07"}
    assert "␛[2J\\u202e(使う道具: ␇メール)" in text


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("where", [0, 60, 119])
def test_long_lines_are_cropped_around_the_caret(width: int, where: int) -> None:
    """The marked text and both its neighbours stay in view, the line fits, and what is left out is an ellipsis."""
    words = [f"語{number:03}" for number in range(120)]
    lines = [" ".join(words)]
    text = render_text([of(lines, words[where])], "a.md", lines, lang="ja", width=width)
    source, caret = text.split("\n")[2:4]
    assert wcswidth(source) <= width
    assert words[where] in source
    assert wcswidth(source[: source.index(words[where])]) == caret.index("^")
    assert caret.count("^") == 5
    assert ("…" in source[:6]) == (where > 0)
    assert source.endswith("…") == (where < 119)


def test_a_mark_longer_than_the_terminal() -> None:
    """It begins in view and ends at the edge."""
    lines = ["前" * 300 + "印" * 300]
    text = render_text([of(lines, "印" * 300)], "a.md", lines, lang="ja", width=60)
    source, caret = text.split("\n")[2:4]
    assert wcswidth(source) <= 60
    assert "前印" in source
    assert wcswidth(source[: source.index("印")]) == caret.index("^")


def test_a_place_of_several_lines() -> None:
    """Each line has its carets; of many lines the first two and the last are shown."""
    lines = ["前 (使う道具:", "  slack,", "  exa,", "  linear,", "  freee) 後"]
    text = render_text([at(Span(1, 3, 5, 9))], "a.md", lines, lang="ja")
    assert text.split("\n")[1:9] == [
        "  |",
        "1 | 前 (使う道具:",
        "  |    ^^^^^^^^^^",
        "2 |   slack,",
        "  |   ^^^^^^",
        "...",
        "5 |   freee) 後",
        "  |   ^^^^^^",
    ]


def test_three_lines_are_shown_whole() -> None:
    """Nothing is left out where nothing is saved by it."""
    text = render_text([at(Span(1, 1, 3, 2))], "a.md", ["a", "b", "c"], lang="ja")
    assert "..." not in text
    assert [line[:1] for line in text.split("\n")[1:8]] == [" ", "1", " ", "2", " ", "3", " "]


def test_a_place_that_ends_where_a_line_begins() -> None:
    """The exclusive end in column 1 is the end of the line before."""
    text = render_text([at(Span(1, 1, 2, 1))], "a.md", ["abc", "def"], lang="ja")
    assert "2 |" not in text
    assert "  | ^^^\n" in text


def test_no_position() -> None:
    """Without a position there is no source line and no line number."""
    text = render_text([at(None, name="document-unreadable")], "a.md", [], lang="ja")
    assert text.startswith("a.md: error[AOP102] document-unreadable: ")
    assert "|" not in text


def test_a_position_outside_the_lines() -> None:
    """An unreadable document has a position and no lines; the sentence and the position are still shown."""
    text = render_text([at(Span(9, 4, 9, 5))], "a.md", [], lang="ja")
    assert text.startswith("a.md:9:4: error")
    assert "^" not in text


def test_colour_only_when_asked() -> None:
    """Colour changes nothing but adds ANSI styles; without it there is none."""
    lines = ["(使う道具: メール)"]
    plain = render_text([of(lines, "メール")], "a.md", lines, lang="ja")
    styled = render_text([of(lines, "メール")], "a.md", lines, lang="ja", color=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31merror[AOP201]\x1b[0m" in styled
    unstyled = styled
    for style in ("\x1b[1m", "\x1b[1;31m", "\x1b[1;34m", "\x1b[1;36m", "\x1b[0m"):
        unstyled = unstyled.replace(style, "")
    assert unstyled == plain


def test_nothing_to_say() -> None:
    """No diagnostics, no text."""
    assert render_text([], "a.md", ["x"], lang="ja") == ""


def test_plain_characters_are_as_the_tables_say() -> None:
    """The characters measured without the tables stand alone and have the width that wcwidth gives them."""
    plain = [chr(number) for number in range(0x10000) if re.fullmatch(f"[{PLAIN}]", chr(number))]
    assert len(plain) > 21_000
    for character in plain:
        assert width(character) == (1 if character < "\x7f" else 2)
        assert list(iter_graphemes(f"ア{character}ア{character}{character}")) == ["ア", character, "ア", *character * 2]


PIECES = st.sampled_from(
    [
        "a",
        " ",
        "集",
        "ﾊﾞ",
        "か\u3099",
        "👨\u200d👩\u200d👧",
        "🇯🇵",
        "❤\ufe0f",
        "\t",
        "\x1b",
        "\u202e",
        "\u0301",
        "\u200d",
        "\U000e0041",
    ]
)


@given(st.lists(PIECES, max_size=60).map("".join), st.data())
def test_any_place_in_any_line(line: str, data: st.DataObject) -> None:
    """The excerpt fits its room, marks at least one column inside it, and shows only what prints."""
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    room = data.draw(st.integers(8, 50))
    shown = excerpt(line, start, end, room)
    assert wcswidth(shown.text) <= room
    assert shown.mark_width >= 1
    assert shown.mark + shown.mark_width <= room + 1
    assert not set(shown.text) & set("\t\x1b\u202e\U000e0041")


def test_a_long_line_costs_no_more_than_a_screen() -> None:
    """Only the neighbourhood of the mark is looked at: many diagnostics on one line of 1 MiB stay linear."""
    line = "👨\u200d👩\u200d👧" * 200_000
    for start in range(0, len(line), len(line) // 200):
        assert wcswidth(excerpt(line, start, start + 1, 80).text) <= 80
