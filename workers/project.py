"""The project of an installation: its documents by name, as the ledger's index has them.

A document without calls asks nothing of it, so it is read only when it is asked, and again only when it changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.project import LateProject, Project, ProjectDocument
from workers.ledger.ledger import Ledger
from workers.ledger.records import Project as Rows


class LedgerProject(LateProject):
    """What the index said when it was first asked. Immutable from then on, so answers fit together.

    Asking may raise RedisError, LedgerLost, LedgerCorrupt.
    """

    def __init__(self, ledger: Ledger, rows: Rows | None = None) -> None:
        """`rows`: where they have been read."""
        super().__init__(self._read)
        self._ledger = ledger
        self._rows = rows

    def _read(self) -> Project:
        rows = self._rows or self._ledger.project()
        if rows is None:
            raise AssertionError("no version was given, so none can be the same")
        self._rows = rows
        return Project(ProjectDocument(document, row.name, row.calls) for document, row in rows.rows.items())

    @property
    def version(self) -> str | None:
        """Of the rows that were read; None: nobody has asked yet."""
        return None if self._rows is None else self._rows.version


@dataclass(slots=True)
class Projects:
    """The newest project that a process knows. Compilers keep what a project answered as long as it is the same one."""

    ledger: Ledger
    _newest: LedgerProject | None = None

    def current(self) -> LedgerProject:
        """Raises RedisError, LedgerLost, LedgerCorrupt."""
        newest = self._newest
        if newest is None:
            newest = self._newest = LedgerProject(self.ledger)
        elif newest.version is not None:
            changed = self.ledger.project(newest.version)
            if changed is not None:
                newest = self._newest = LedgerProject(self.ledger, changed)
        return newest
