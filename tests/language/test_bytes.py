"""Bytes that are no document (F3): a finding that says why, at the NUL's place or at none."""

from __future__ import annotations

import pytest

from pipeline.diagnostics.bind import place
from pipeline.document.source import DEFAULT_MAX_BYTES
from pipeline.places import Span
from pipeline.stages.parse import parse


@pytest.mark.parametrize(
    ("data", "variant"),
    [
        ("# 例\n".encode("shift_jis"), "encoding"),
        ("# 例\n".encode("utf-16"), "encoding"),
        ("# 例\n".encode() + b"\xff", "encoding"),
        ("# 例\n".encode()[:3], "encoding"),
        (b"\xed\xa0\x80", "encoding"),
        (b"\xc0\xaf", "encoding"),
        (b"\xff\0", "encoding"),
        (b"", "empty"),
        ("\ufeff \r\n\t　\u2028\x85\f".encode(), "empty"),
    ],
)
def test_unreadable_without_a_place(data: bytes, variant: str) -> None:
    """Not UTF-8 and nothing but white space are errors without a position; there is no artifact."""
    outcome = parse(data, "document")
    assert outcome.artifact is None
    [finding] = outcome.findings
    assert (finding.name, finding.variant, finding.at) == ("document-unreadable", variant, None)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("\0", 1, 1), ("\ufeffあ\0い\0", 1, 2), ("一\r\n\r二\n三😀\0", 4, 3), ("```\n \0\n```", 2, 2)],
)
def test_the_first_nul(text: str, line: int, column: int) -> None:
    """A NUL is an error at its own line and column, behind any line end, in fences too."""
    outcome = parse(text.encode(), "document")
    assert outcome.artifact is None
    [finding] = outcome.findings
    assert (finding.name, finding.variant) == ("document-unreadable", "nul")
    assert finding.at is not None
    assert place(finding.at, outcome.positions) == Span(line, column, line, column + 1)


def test_the_size_limit() -> None:
    """A document of just 1 MiB is read; one byte more is too large, whatever the bytes are. Any other limit is kept."""
    assert parse(b"a" * DEFAULT_MAX_BYTES, "document").artifact is not None
    for data, limit in ((b"\xff" * (DEFAULT_MAX_BYTES + 1), DEFAULT_MAX_BYTES), (b"abc", 2)):
        outcome = parse(data, "document", limit)
        assert outcome.artifact is None
        [finding] = outcome.findings
        assert (finding.name, finding.at) == ("document-too-large", None)
        assert dict(finding.arguments) == {"size": len(data), "limit": limit}
