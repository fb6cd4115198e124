"""The store on disk, as the commands use it."""

from __future__ import annotations

from pathlib import Path

from cli import streams
from pipeline.diagnostics.lang import Lang
from pipeline.stores.files import DEFAULT_MAX_BYTES, FileStore
from pipeline.stores.nothing import NoStore
from pipeline.stores.protocol import Store


class TellingStore(FileStore):
    """Says, when it is closed, what it had to get over: a damaged database that was set aside."""

    def __init__(self, folder: Path, lang: Lang, *, max_bytes: int | None = DEFAULT_MAX_BYTES) -> None:
        super().__init__(folder, max_bytes=max_bytes)
        self._lang: Lang = lang

    def close(self) -> None:
        for note in self.notes:
            streams.note(f"aop: {note.text(self._lang)}")
        self.notes.clear()
        super().close()


def existing_store(folder: Path, lang: Lang, *, max_bytes: int | None = DEFAULT_MAX_BYTES) -> Store:
    """The folder's store, one that holds nothing if there is none: asking must not make it. Raises StoreError."""
    return TellingStore(folder, lang, max_bytes=max_bytes) if folder.exists() else NoStore()
