"""Strings of the generated module: plain literals that evaluate to exactly the text, and that no editor trips over
(O1, F3)."""

from __future__ import annotations

import ast
import json
import re

from hypothesis import given
from hypothesis import strategies as st

from pipeline.literals import AWKWARD, lines, literal, value

AWKWARD_TEXT = st.text(
    st.sampled_from(
        list(
            "a日🧑\\\"'`{}\n\t\r\f\v\b\x00\x1b\x7f\x85\xa0\xad\u2028\u2029\u202e\u200b\u200d\u3000\ufeff\ufffe\U0001fffe"
        )
    )
)
TEXT = st.text() | AWKWARD_TEXT


@given(TEXT)
def test_a_literal_evaluates_to_its_text(text: str) -> None:
    """Whatever the text holds, Python reads back exactly that, from one line of source."""
    source = literal(text)
    assert ast.literal_eval(source) == text
    assert len(source.splitlines()) == 1


@given(TEXT, st.sampled_from(["", "    ", " " * 16]))
def test_lines_evaluate_to_their_text(text: str, indent: str) -> None:
    """Adjacent literals, one a line of the text, are the text again."""
    source = lines(text, indent)
    assert ast.literal_eval(f"(\n{indent}{source}\n)") == text
    assert len(source.split("\n")) == max(1, text.count("\n") + (not text.endswith("\n")))


@given(TEXT)
def test_both_ways_to_write_lines_agree(text: str) -> None:
    """The quick way for texts without a backslash writes each line as the careful way does."""
    careful = lines(f"{text}\n\\", "  ").split("\n  ")[:-1]
    assert lines(f"{text}\n", "  ") == "\n  ".join(careful)


@given(st.lists(st.text(st.sampled_from("日本 a🧑\u3000")), min_size=1))
def test_a_line_end_stands_beside_its_line(texts: list[str]) -> None:
    """No literal with text has an escape just for the end of its line."""
    written = [f'"{text}" "\\n"' if text else '"\\n"' for text in texts]
    assert lines("".join(f"{text}\n" for text in texts), " ") == "\n ".join(written)


@given(TEXT)
def test_the_source_holds_nothing_awkward(text: str) -> None:
    """No control, invisible or directional character and no surrogate is left in the source, so that it can be written
    as UTF-8."""
    source = literal(text)
    assert not re.search(AWKWARD, source)
    assert not any(ord(sign) < 0x20 for sign in source)
    source.encode()


def test_japanese_and_emoji_stay_readable() -> None:
    """What people write is what people see, full-width blanks and variants of ideographs included."""
    text = "週次　報告（確定）🚀 葛\U000e0100 ❤️"
    assert literal(text) == f'"{text}"'


def test_what_cannot_be_seen_is_escaped() -> None:
    """Bidirectional overrides, joiners, the BOM, NEL and the no-break blank show as what they are."""
    assert literal("a\u202eb\u200dc\ufeffd\x85e\xa0f\U0001fffe") == r'"a\u202eb\u200dc\ufeffd\x85e\xa0f\U0001fffe"'


def test_awkward_characters_are_unprintable_in_every_edition_of_unicode() -> None:
    """Whether a text takes the quick way must not depend on Python's edition of Unicode (R4): nothing awkward is
    printable."""
    assert not [code for code in range(0x110000) if re.match(AWKWARD, chr(code)) and chr(code).isprintable()]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_a_json_value_evaluates_to_itself(data: object) -> None:
    """Fixed arguments come back with their types: True is not 1, and infinity, which JSON can spell, is no name."""
    assert json.dumps(ast.literal_eval(value(data))) == json.dumps(data)
