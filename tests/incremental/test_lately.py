"""What was parsed lately: the same outcome for the same bytes, and never much of it."""

from __future__ import annotations

from pipeline.document.source import DEFAULT_MAX_BYTES
from pipeline.incremental.lately import MOST_BYTES, MOST_PLACES, LatelyParsed
from pipeline.stages.parse import parse


def test_the_same_document_has_the_outcome_that_it_had() -> None:
    """Whatever `parse` reads makes another one: the bytes, the stem, the limit."""
    lately = LatelyParsed()
    first = lately.parse("本文".encode(), "a", DEFAULT_MAX_BYTES)
    assert lately.parse("本文".encode(), "a", DEFAULT_MAX_BYTES) is first
    assert first == parse("本文".encode(), "a", DEFAULT_MAX_BYTES)
    assert lately.parse("本文。".encode(), "a", DEFAULT_MAX_BYTES) == parse("本文。".encode(), "a", DEFAULT_MAX_BYTES)
    assert lately.parse("本文".encode(), "b", DEFAULT_MAX_BYTES) == parse("本文".encode(), "b", DEFAULT_MAX_BYTES)
    assert lately.parse("本文".encode(), "a", 1) == parse("本文".encode(), "a", 1)


def test_what_was_not_asked_for_longest_goes_first() -> None:
    """Asking again counts."""
    lately = LatelyParsed(most=2)
    first, second = (lately.parse(text, "x", DEFAULT_MAX_BYTES) for text in (b"1", b"2"))
    assert lately.parse(b"1", "x", DEFAULT_MAX_BYTES) is first
    lately.parse(b"3", "x", DEFAULT_MAX_BYTES)
    assert lately.parse(b"1", "x", DEFAULT_MAX_BYTES) is first
    assert lately.parse(b"2", "x", DEFAULT_MAX_BYTES) is not second


def test_nothing_large_is_kept() -> None:
    """Neither a long document, nor a short one of which there is much to say."""
    lately = LatelyParsed()
    for text in (b"a" * (MOST_BYTES + 1), f"(使う道具: {'x,' * MOST_PLACES})".encode()):
        outcome = lately.parse(text, "x", DEFAULT_MAX_BYTES)
        assert lately.parse(text, "x", DEFAULT_MAX_BYTES) == outcome
        assert lately.parse(text, "x", DEFAULT_MAX_BYTES) is not outcome
