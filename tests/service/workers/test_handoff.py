"""Given what one worker hands to the next, when it is packed and read again, then it is the same, or it is refused."""

from __future__ import annotations

import base64
import hashlib
import zlib
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.incremental.report import Outcome, Reason, Stage, StageReport
from workers.handoff import MOST_INLINE, Handed, Note, from_inline, inline, note_of, pack, unpack
from workers.ledger.ledger import Ledger
from workers.ledger.records import LedgerCorrupt

from .given import begun_job

reports = st.builds(
    StageReport,
    st.sampled_from(get_args(Stage)),
    st.none() | st.integers(0, 10_000),
    st.sampled_from(get_args(Outcome)),
    st.sampled_from(get_args(Reason)),
)
handed = st.builds(
    Handed, st.binary(max_size=200), st.lists(reports, max_size=6).map(tuple), st.none() | st.binary(min_size=1)
)


@given(handed)
def test_what_is_packed_is_read_again(value: Handed) -> None:
    """Any text, any reports, any artifact."""
    assert unpack(pack(value)) == value


@given(handed, st.integers(0, 400), st.binary(max_size=3))
def test_what_is_damaged_is_refused_or_harmless(value: Handed, at: int, by: bytes) -> None:
    """Cut short, or changed anywhere: nothing is raised. (The store verifies content; this is for what is not ours.)"""
    packed = pack(value)
    for damaged in (packed[:at], packed[:at] + by + packed[at + len(by) :]):
        found = unpack(damaged)
        assert found is None or isinstance(found, Handed)


@pytest.mark.parametrize("data", [b"", b"{}", b"aop-handoff 2 0 0\n\n\n", b"aop-handoff 1 99 0\n[]\n\n"])
def test_foreign_bytes_are_no_handoff(data: bytes) -> None:
    """Nor is what another version wrote in another form."""
    assert unpack(data) is None


@given(handed)
def test_what_stands_in_a_note_is_read_again(value: Handed) -> None:
    """With the text, which does not stand there."""
    note = Note(catalog="c" * 64, text="e" * 64, inline=inline(value))
    assert from_inline(note, value.text) == value


@given(handed, st.integers(0, 400), st.text("ab+/=", max_size=3))
def test_a_damaged_note_is_refused_or_harmless(value: Handed, at: int, by: str) -> None:
    """Cut short, or changed anywhere."""
    text = inline(value)
    for damaged in (text[:at], text[:at] + by + text[at + len(by) :]):
        found = from_inline(Note(catalog="c" * 64, text="e" * 64, inline=damaged), b"text")
        assert found is None or isinstance(found, Handed)


def test_what_is_long_does_not_stand_in_a_note() -> None:
    """However well it is compressed; nor is more than that unpacked of a note."""
    assert inline(Handed(b"", (), hashlib.shake_256(b"x").digest(2 * MOST_INLINE))) == ""
    assert inline(Handed(b"", (), bytes(2 << 20))) == ""
    huge = base64.b64encode(zlib.compress(pack(Handed(b"", (), bytes(3 << 20))), 9)).decode("ascii")
    assert len(huge) < MOST_INLINE * 4 // 3
    found = from_inline(Note(catalog="c" * 64, text="e" * 64, inline=huge), b"text")
    assert found is None or len(found.advance or b"") <= 1 << 20


def test_a_note_is_of_the_stage_before(ledger: Ledger) -> None:
    """The newest one; the last stage may follow on the first, where a document has errors."""
    first, second = (Note(handed=d * 64, catalog="c" * 64, text="e" * 64) for d in "ab")
    lease = begun_job(ledger, "parse")
    assert note_of(lease.job, "parse") is None
    ledger.advance(lease, "resolve", first.model_dump_json())
    lease = begun_job(ledger, "resolve", lease.job.id)
    assert note_of(lease.job, "resolve") == first
    ledger.advance(lease, "verify", second.model_dump_json())
    lease = begun_job(ledger, "verify", lease.job.id)
    assert note_of(lease.job, "verify") == second


def test_a_note_of_a_newer_version_is_read(ledger: Ledger) -> None:
    """Fields that are not known are ignored; what is no note is a fault of ours, and says where."""
    lease = begun_job(ledger, "parse")
    digest = "a" * 64
    ledger.advance(lease, "resolve", f'{{"handed":"","catalog":"{digest}","text":"{digest}","more":[1]}}')
    lease = begun_job(ledger, "resolve", lease.job.id)
    assert note_of(lease.job, "resolve") == Note(catalog=digest, text=digest)
    ledger.advance(lease, "generate", '{"catalog":"../x"}')
    with pytest.raises(LedgerCorrupt, match="note:resolve"):
        note_of(begun_job(ledger, "generate", lease.job.id).job, "generate")
