"""The record while somebody is at work on it, and where it cannot be written."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.questions import Answer, Question
from aop_runtime.plane.spec import ToolSpec
from aop_runtime.runs.events import Noted, PhaseStarted
from aop_runtime.runs.folder import RunFault, RunFolder
from aop_runtime.runs.journal import Journal
from aop_runtime.runs.record import JournalFault, read_record


def note(text: str) -> Noted:
    return Noted(phase=0, text=text)


def test_who_only_looks_changes_nothing(tmp_path: Path) -> None:
    """A line that is just being written is not taken for one that a crash has cut off."""
    path = tmp_path / "events.jsonl"
    with contextlib.closing(Journal(tmp_path)) as journal:
        journal.record(note("a"))
        with path.open("ab") as file:
            file.write(b'{"event":"noted","ph')
        before = path.read_bytes()
        assert [event.event for event in read_record(tmp_path).events] == ["noted"]
        assert path.read_bytes() == before
    with pytest.raises(JournalFault):
        read_record(tmp_path / "none")


def test_a_line_that_does_not_fit_on_the_disk_leaves_no_half(tmp_path: Path) -> None:
    """The run stops there; nothing is written behind it; what was recorded before is whole."""
    path = tmp_path / "events.jsonl"
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with contextlib.closing(Journal(tmp_path)) as journal:
        journal.record(note("a"))
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, hard))
        try:
            with pytest.raises(JournalFault, match=r"events\.jsonl"):
                journal.record(note("b" * 100))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)
        assert path.stat().st_size == size
        with pytest.raises(JournalFault):
            journal.record(note("c"))
    assert [event.event for event in read_record(tmp_path).events] == ["noted"]


def test_events_of_a_later_version_keep_their_numbers(tmp_path: Path) -> None:
    """They are passed over, and counted."""
    (tmp_path / "events.jsonl").write_text('{"event":"moon-landed","sequence":1}\n', encoding="utf-8")
    with contextlib.closing(Journal(tmp_path)) as journal:
        journal.record(PhaseStarted(phase=0, title="a"))
    lines = (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == [1, 2]


def test_questions_wait_until_they_are_answered(tmp_path: Path) -> None:
    """Each once, in the order in which they were asked."""
    with contextlib.closing(Journal(tmp_path)) as journal:
        for identity in ("a", "b", "a"):
            journal.asked(Question(id=identity, kind="approval", text="?", call="c", address="x.y"))
        assert [asked.id for asked in read_record(tmp_path).pending] == ["a", "b"]
        journal.answer("a", Answer(verdict="yes", by="花子"))
    assert [asked.id for asked in read_record(tmp_path).pending] == ["b"]


def test_a_link_in_place_of_the_record_is_refused(tmp_path: Path) -> None:
    """It would let a run write elsewhere."""
    (tmp_path / "events.jsonl").symlink_to(tmp_path / "other")
    with pytest.raises(JournalFault):
        Journal(tmp_path)
    (tmp_path / "other").touch()
    with pytest.raises(JournalFault):
        read_record(tmp_path)


def test_asking_whether_a_run_is_held_keeps_nobody_from_driving_it(tmp_path: Path) -> None:
    """Asked again and again, from many processes."""
    folder = RunFolder(tmp_path, "r1")
    folder.path.mkdir()
    for _ in range(20):
        assert folder.is_held() is False
        with folder.held():
            assert folder.is_held() is True
            with pytest.raises(RunFault, match="another process"), folder.held():
                pass


def test_a_write_is_on_the_disk_before_it_begins_and_after_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And an answer, too; a read, which can be made again, does not wait for the disk."""
    synced: list[int] = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(descriptor), sync(descriptor)))
    spec = ToolSpec(name="find", tool="crm", operation="find", description="", input_schema={}, effect="read")
    steps: list[int] = []
    with contextlib.closing(Journal(tmp_path)) as journal:
        for call, made in (("r", spec), ("w", replace(spec, effect="write"))):
            journal.begin(call, made, {})
            steps.append(len(synced))
            journal.finish(call, "find", Envelope(content=""))
            steps.append(len(synced))
        journal.answer("q", Answer(verdict="yes"))
    assert steps == [0, 0, 1, 2]
    assert len(synced) == 3
