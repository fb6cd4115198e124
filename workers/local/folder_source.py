"""A folder whose documents count as saved when their files change: the source of `aop dev`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from workers.identifiers import InvalidDocumentId, check_document_id
from workers.ledger.records import Accepted, Action

SOURCE: Final = "folder"
GONE: Final = "gone"
"""The revision of a file that is not there: a later one of the same text is another revision again."""


class Accept(Protocol):
    """`workers.intake.Intake.accept`, as far as it is used here."""

    def __call__(
        self, document: str, *, data: bytes | None, source: str, revision: str, action: Action
    ) -> Accepted: ...


@dataclass
class FolderSource:
    """`files`: lists the documents' files below `folder`. `known`: the revisions that were accepted last, by document;
    one that is not known to be still there is "". `skipped` is told of files that cannot be documents."""

    folder: Path
    files: Callable[[], Iterable[Path]]
    accept: Accept
    max_bytes: int
    skipped: Callable[[Path, InvalidDocumentId], None]
    known: dict[str, str] = field(default_factory=dict)
    _stamps: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    _told: set[Path] = field(default_factory=set)

    def look(self) -> int:
        """Save what is new or has changed since the last look, retire what is gone; how many of them.

        Raises what accepting raises; the next look then begins where this one ended.
        """
        present: dict[str, Path] = {}
        for path in self.files():
            try:
                present[check_document_id(path.relative_to(self.folder).as_posix())] = path
            except InvalidDocumentId as error:
                if path not in self._told:
                    self._told.add(path)
                    self.skipped(path, error)
        count = 0
        for document, path in sorted(present.items()):
            stamp = _stamp(path)
            if stamp is None or self._stamps.get(document) == stamp:
                continue
            data = self._read(path)
            if data is None:
                continue
            revision = hashlib.sha256(data).hexdigest()
            if self.known.get(document) != revision:
                self.accept(document, data=data, source=SOURCE, revision=revision, action="compile")
                self.known[document] = revision
                count += 1
            self._stamps[document] = stamp
        for document in sorted(self.known.keys() - present.keys()):
            self.accept(document, data=None, source=SOURCE, revision=GONE, action="retire")
            del self.known[document]
            self._stamps.pop(document, None)
            count += 1
        return count

    def _read(self, path: Path) -> bytes | None:
        """One byte more than a document may have: the compiler says that it is too large. None: it has just gone."""
        try:
            with path.open("rb") as file:
                return file.read(self.max_bytes + 1)
        except OSError:
            return None


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)
