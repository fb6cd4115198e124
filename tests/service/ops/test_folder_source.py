"""Given a folder of documents, when its files change, then that counts as saves and retirements."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from redis import Redis

from pipeline.stores.memory import MemoryStore
from workers.archive import Archive
from workers.identifiers import InvalidDocumentId
from workers.intake import Intake
from workers.ledger.ledger import Ledger
from workers.ledger.records import Accepted, Action
from workers.local.folder_source import GONE, SOURCE, FolderSource


class Watched:
    """The folder, its source, and what was accepted and skipped; `fail`: accepting raises."""

    def __init__(self, folder: Path, ledger: Ledger, max_bytes: int = 1_000) -> None:
        self.folder = folder
        self.archive = Archive(MemoryStore())
        self.intake = Intake(ledger, self.archive)
        self.accepted: list[tuple[str, str]] = []
        self.skipped: list[Path] = []
        self.fail = False
        self.source = self.again(max_bytes)

    def again(self, max_bytes: int = 1_000, known: dict[str, str] | None = None) -> FolderSource:
        return FolderSource(
            self.folder, lambda: sorted(self.folder.rglob("*.md")), self._accept, max_bytes, self._skip, known or {}
        )

    def _accept(self, document: str, *, data: bytes | None, source: str, revision: str, action: Action) -> Accepted:
        if self.fail:
            raise ConnectionError("Redis is away")
        assert source == SOURCE
        found = self.intake.accept(document, data=data, source=source, revision=revision, action=action)
        self.accepted.append((document, f"{action} {found.answer}"))
        return found

    def _skip(self, path: Path, error: InvalidDocumentId) -> None:
        assert error.text("ja")
        self.skipped.append(path)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def saves(self, document: str) -> list[tuple[str, bytes | None]]:
        """Action and text of each, the oldest first."""
        history = self.archive.history(document, 100, 100)
        return [(save.action, self.archive.text(save.text) if save.text else None) for save, _ in reversed(history)]


@pytest.fixture
def watched(tmp_path: Path, ledger: Ledger) -> Watched:
    return Watched(tmp_path, ledger)


def test_what_is_new_or_changed_is_saved(watched: Watched) -> None:
    """Once: by its path below the folder, whatever the depth; the same look again saves nothing."""
    watched.write("a.md", "one")
    watched.write("部署/月次.md", "two")
    assert watched.source.look() == 2
    assert watched.source.look() == 0
    watched.write("a.md", "other")
    assert watched.source.look() == 1
    assert watched.saves("a.md") == [("compile", b"one"), ("compile", b"other")]
    assert watched.saves("部署/月次.md") == [("compile", b"two")]


def test_a_touched_file_is_no_save(watched: Watched) -> None:
    """Its text counts, not its time: `git checkout` writes files that are as they were."""
    watched.write("a.md", "one")
    watched.source.look()
    os.utime(watched.folder / "a.md", (1, 1))
    assert watched.source.look() == 0


def test_a_text_that_comes_back_is_a_save_again(watched: Watched) -> None:
    """An undone change is published, although its revision was there before."""
    for text in ("one", "two", "one"):
        watched.write("a.md", text)
        assert watched.source.look() == 1
    assert watched.saves("a.md") == [("compile", b"one"), ("compile", b"two"), ("compile", b"one")]
    assert [answer for _, answer in watched.accepted] == ["compile accepted"] * 3


def test_what_is_gone_is_retired_and_may_come_back(watched: Watched) -> None:
    """With the same text, too."""
    watched.write("a.md", "one")
    watched.source.look()
    (watched.folder / "a.md").unlink()
    assert watched.source.look() == 1
    assert watched.source.look() == 0
    watched.write("a.md", "one")
    assert watched.source.look() == 1
    assert watched.saves("a.md") == [("compile", b"one"), ("retire", None), ("compile", b"one")]


def test_a_renamed_file_is_another_document(watched: Watched) -> None:
    """The old one is retired."""
    watched.write("a.md", "one")
    watched.source.look()
    (watched.folder / "a.md").rename(watched.folder / "b.md")
    assert watched.source.look() == 2
    assert watched.accepted[1:] == [("b.md", "compile accepted"), ("a.md", "retire accepted")]


def test_what_happened_while_nobody_looked_is_seen(watched: Watched) -> None:
    """A new process knows which documents there were; unchanged ones are repeated, which makes no job."""
    for name in ("same.md", "changed.md", "gone.md"):
        watched.write(name, "one")
    watched.source.look()
    watched.write("changed.md", "two")
    (watched.folder / "gone.md").unlink()
    watched.accepted.clear()
    watched.again(known=dict.fromkeys(("same.md", "changed.md", "gone.md"), "")).look()
    assert dict(watched.accepted) == {
        "same.md": "compile repeated",
        "changed.md": "compile accepted",
        "gone.md": "retire accepted",
    }


def test_a_name_that_no_document_may_have_is_told_once(watched: Watched) -> None:
    """The others are saved."""
    watched.write("a b.md", "one")
    watched.write("c.md", "one")
    assert watched.source.look() == 1
    watched.source.look()
    assert watched.skipped == [watched.folder / "a b.md"]


def test_a_file_that_cannot_be_read_is_left_as_it_was(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the name of a document, and a link that leads nowhere; it is looked at again later."""
    watched.write("a.md", "one")
    watched.source.look()
    (watched.folder / "a.md").unlink()
    (watched.folder / "a.md").mkdir()
    (watched.folder / "b.md").symlink_to("nowhere")
    assert watched.source.look() == 0
    (watched.folder / "a.md").rmdir()
    watched.write("a.md", "two")
    assert watched.source.look() == 1


def test_more_is_not_read_than_a_document_may_have(tmp_path: Path, ledger: Ledger) -> None:
    """One byte more, so that the compiler can say that it is too large."""
    watched = Watched(tmp_path, ledger, max_bytes=10)
    watched.write("a.md", "x" * 1_000)
    watched.source.look()
    assert watched.saves("a.md") == [("compile", b"x" * 11)]


def test_what_was_not_accepted_is_tried_again(watched: Watched) -> None:
    """Nothing is lost, and what was accepted before the fault is not saved twice."""
    watched.write("a.md", "one")
    watched.source.look()
    watched.write("b.md", "one")
    watched.write("c.md", "one")
    (watched.folder / "a.md").unlink()
    watched.fail = True
    with pytest.raises(ConnectionError):
        watched.source.look()
    watched.fail = False
    assert watched.source.look() == 3
    assert watched.accepted[1:] == [
        ("b.md", "compile accepted"),
        ("c.md", "compile accepted"),
        ("a.md", "retire accepted"),
    ]
    assert watched.source.look() == 0


def test_the_revision_of_what_is_gone_is_no_texts(watched: Watched, redis: Redis) -> None:
    """No text has it as its digest."""
    watched.write("a.md", GONE)
    watched.source.look()
    (watched.folder / "a.md").unlink()
    watched.source.look()
    assert [answer for _, answer in watched.accepted] == ["compile accepted", "retire accepted"]
