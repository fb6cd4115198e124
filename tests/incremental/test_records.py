"""Records are rewritten for what changed in them, and nothing else is put into text again."""

from __future__ import annotations

from pipeline.diagnostics.findings import Finding
from pipeline.incremental import record
from pipeline.incremental.record import Head, PhaseRecord, Record, Tail

HEAD = Head("whole", "0" * 64, "setup", "failed", "multi", "x", ("y",), "catalog", "", False, None)
TAIL = Tail({"parse": "1"}, ("x", 7), "", "", "", "", (1, 0), False, (PhaseRecord(1, "", False),), None)
FINDINGS = (Finding("document-too-large", None, None, (("size", 7), ("limit", 5)), (), "expanded"),)


def test_a_new_receipt_leaves_findings_and_tail_as_they_are() -> None:
    """Both for a record that was just made and for one that was read."""
    made = Record(HEAD, FINDINGS, TAIL)
    for known in (made, record.from_bytes(made.to_bytes())):
        assert known is not None
        again = record.from_bytes(known.with_receipt(["out", 1]).to_bytes())
        assert again is not None
        assert again.head == HEAD._replace(receipt=["out", 1])
        assert (again.findings, again.tail) == (FINDINGS, TAIL)


def test_what_was_read_is_written_as_it_was_read() -> None:
    """Neither decoded nor encoded: these lines could not be."""
    head, _, _ = Record(HEAD, FINDINGS, TAIL).to_bytes().split(b"\n")
    known = record.from_bytes(head + b"\n[never read\n[nor this")
    assert known is not None
    assert known.to_bytes() == head + b"\n[never read\n[nor this"
    assert known.with_receipt(1).to_bytes().endswith(b"\n[never read\n[nor this")
