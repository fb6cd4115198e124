"""Patterns: the dialect, what matches, and which of them stall a backtracking engine."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.lint.regex.pattern import read_pattern

VALID = (
    *("", "^$", "a|b", "(?:a)", "(?<year>\\d)\\k<year>", "(a)\\1", "\\1(a)", "\\u{1F600}", "\\ud83d\\udc32", "\\x41"),
    *(
        "\\cA",
        "[\\b]",
        "[^]",
        "[]",
        "[a-z\\d_-]",
        "[\\w-.]",
        "\\p{Letter}",
        "\\P{Lu}",
        "\\p{Script=Han}",
        "a{2}",
        "a{2,}",
    ),
    *("a{2,3}?", "{", "a{,3}", "]", "(?=a)b", "(?<!a)b", "(?:^)*", "\\/", "\\-", "\\0", "\\\\(a)\\1"),
)
INVALID = (
    *("(", ")", "[", "a**", "*", "^*", "a{2,1}", "{1}", "(?P<a>b)", "(?i)a", "\\A", "\\Z", "\\1", "[z-a]", "\\", "(?"),
    *("\\x4", "\\u12", "\\u{110000}", "\\p{Lu", "\\c", "\\a", "(a))", "(?<1>a)", "\\8"),
)


@pytest.mark.parametrize("pattern", VALID)
def test_what_ecma_262_allows_is_read(pattern: str) -> None:
    """With Annex B's leniences, which engines have."""
    assert read_pattern(pattern).error is None
    assert read_pattern(pattern).part is not None


@pytest.mark.parametrize("pattern", INVALID)
def test_what_ecma_262_does_not_allow_is_an_error(pattern: str) -> None:
    """Other languages' forms among it."""
    assert read_pattern(pattern).error is not None


EXPONENTIAL = (
    *("^(a+)+$", "(a*)*", "(a|a)*", "(a|aa)+$", "(.*a){20}", "([a-z]+-?)*", r"^(\w+\s?)*$", "(x+x+)+y", "(a{1,3})*"),
    *(r"^(([a-z])+.)+[A-Z]([a-z])+$", "(a{1,20}){1,20}", "(?=(a+)+b)c", r"(\d+|\d{4})*x", r"(\p{L}+\p{Lu}*)+$"),
)
HARMLESS = (
    *("^[a-z]+(-[a-z]+)*$", r"^(\d{1,3}\.){3}\d{1,3}$", r"^[\w.+-]+@[\w-]+\.[\w.-]+$", "a*a*a*", r"^\S(.*\S)?$"),
    *("^(foo|bar|baz)+$", "(?:ab|ac)*", r"^(?:[a-z0-9]+\.)+[a-z]{2,}$", r"(\p{L}+-)*x", r"^(?!.*\.\.)[a-z.]+$"),
    *("^([A-Z]{3},)*[A-Z]{3}$", r"^https?://[^\s]+$", r"^((25[0-5]|(2[0-4]|1\d|[1-9]|)\d)\.?\b){4}$"),
)


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_a_loop_that_reads_one_text_in_two_ways_is_exponential(pattern: str) -> None:
    """Nested and overlapping repetitions."""
    assert read_pattern(pattern).risk[0] == "exponential"


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_loop_that_reads_each_text_in_one_way_is_not(pattern: str) -> None:
    """A nested repetition with a separator among them; and repetitions side by side, which are merely slow."""
    assert read_pattern(pattern).risk[0] == "none"


@pytest.mark.parametrize(
    "pattern", ["(" * 50 + "a" + ")" * 50, "a" * 5_000, "((((a?){7}){7}){7}){7}", "(?:" + "a|" * 500 + "b)*"]
)
def test_what_is_too_complex_is_said_to_be(pattern: str) -> None:
    """Neither read with a deep stack nor looked at for long."""
    started = time.process_time()
    assert read_pattern(pattern).risk[0] == "too-complex"
    assert time.process_time() - started < 30


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_no_pattern_takes_long_to_match(pattern: str) -> None:
    """Where Python's own engine would never end."""
    started = time.process_time()
    read_pattern(pattern).matches("a" * 3_000 + "!")
    assert time.process_time() - started < 30


@pytest.mark.parametrize(
    ("pattern", "longest"),
    [
        ("^[a-z]{3}$", 3),
        (r"^\d{4}-\d{2}$", 7),
        ("^(a|bcd)$", 3),
        ("^(?:a|b)?$", 1),
        ("^a|b$", None),
        ("^a+$", None),
        ("a{3}", None),
        ("^a{2,}$", None),
        (r"^(a)\1$", None),
    ],
)
def test_the_longest_text_that_is_allowed(pattern: str, longest: int | None) -> None:
    """Known only between anchors, and without end where a repetition has none."""
    assert read_pattern(pattern).longest == longest


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^\d+$", "12３", False),  # ASCII digits only, as ECMA-262 has it
        (r"\s", "\u3000", True),
        ("^a$", "a\n", False),
        ("^.$", "\n", False),
        ("^[^]$", "\n", True),
        (r"^\p{Lu}\p{Ll}+$", "Éa", True),
        (r"^\p{Script=Han}$", "漢", None),
        (r"(a)\1", "aa", None),
        (r"(?=a)a", "a", None),
        (r"\bfoo\b", "a foo", True),
        (r"\Bo\b", "foo", True),
        ("^🐲*$", "🐲🐲", True),
        (r"^\ud83d\udc32$", "🐲", True),
    ],
)
def test_matching(pattern: str, text: str, matches: bool | None) -> None:
    """None where we cannot tell."""
    assert read_pattern(pattern).matches(text) is matches


def repeated(part: str, count: str) -> str:
    return f"(?:{part}){count}"


patterns = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "^", "$", r"\b", r"\w", "c", ""]),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map("".join),
        st.lists(parts, min_size=1, max_size=3).map(lambda found: f"(?:{'|'.join(found)})"),
        st.builds(repeated, parts, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,3}", "*?", "{2,}"])),
    ),
    max_leaves=6,
)


@given(patterns, st.text("abc", max_size=5))
def test_matching_agrees_with_another_engine(pattern: str, text: str) -> None:
    """Python's, on what both languages write alike and texts too short to stall it."""
    assert read_pattern(pattern).matches(text) is (re.search(pattern, text) is not None)


@given(st.text("()[]{}|*+?^$.\\-,:=!<>abdpPuxkc019", max_size=25))
def test_any_text_is_a_pattern_or_an_error(text: str) -> None:
    """Nothing raises."""
    pattern = read_pattern(text)
    assert pattern.error is None or 0 <= pattern.error <= len(text)
    assert pattern.risk[0] in ("none", "exponential", "too-complex")
    assert pattern.matches("ab") in (True, False, None)
