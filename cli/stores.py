"""The store on disk, as the command uses it."""

from __future__ import annotations

from pathlib import Path

from cli import streams
from pipeline.diagnostics.lang import Lang
from pipeline.stores.files import FileStore


class TellingStore(FileStore):
    """Says, when it is closed, what it had to get over: a damaged database that was set aside."""

    def __init__(self, folder: Path, lang: Lang) -> None:
        super().__init__(folder)
        self._lang: Lang = lang

    def close(self) -> None:
        notes, self.notes = self.notes, []
        for note in notes:
            streams.note(f"aop: {note.text(self._lang)}")
        super().close()
