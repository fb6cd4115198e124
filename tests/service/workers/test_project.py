"""Given the ledger's index, when a document asks its project, then it answers as a project of files does."""

from __future__ import annotations

from pipeline.project import Project, ProjectDocument
from workers.ledger.ledger import Ledger
from workers.project import LedgerProject, Projects

DOCUMENTS = (
    ProjectDocument("a/受付.md", "受付", ("審査", "../b/審査.md")),
    ProjectDocument("b/審査.md", "審査", ("受付",)),
    ProjectDocument("c.md", "締め", ()),
)


def indexed(ledger: Ledger) -> Ledger:
    for document in DOCUMENTS:
        ledger.index(document.path, 1, document.name, document.calls)
    return ledger


def test_it_answers_as_a_project_of_files(ledger: Ledger) -> None:
    """Names, relative paths, suggestions, cycles, and the digest of all."""
    found, expected = LedgerProject(indexed(ledger)), Project(DOCUMENTS)
    assert found.documents == expected.documents
    assert found.digest == expected.digest
    for target in ("受付", "審査", "../b/審査.md", "なし"):
        assert found.find(target, "a/受付.md") == expected.find(target, "a/受付.md")
        assert found.suggest(target) == expected.suggest(target)
    assert found.cycle(DOCUMENTS[1], "a/受付.md") == expected.cycle(DOCUMENTS[1], "a/受付.md") != ()


def test_it_is_read_when_it_is_asked_and_again_when_it_changed(ledger: Ledger) -> None:
    """The same object as long as nothing changed, so that its answers are kept; one that was read never changes."""
    projects = Projects(indexed(ledger))
    first = projects.current()
    assert first.version is None
    ledger.index("d.md", 1, "四", ())
    assert projects.current() is first
    assert len(first.documents) == 4
    assert projects.current() is first
    ledger.index("d.md", 2, "四", ())
    assert projects.current() is first
    ledger.index("d.md", 3, "五", ())
    second = projects.current()
    assert second is not first
    assert [document.name for document in second.documents if document.path == "d.md"] == ["五"]
    assert len(first.documents) == 4
    assert first.digest != second.digest
    ledger.forget("d.md", 4)
    assert len(projects.current().documents) == 3
