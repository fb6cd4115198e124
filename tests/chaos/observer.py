"""Somebody who reads what is published, again and again, and must never see it go back."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Final

from pipeline.stores.protocol import StoreError
from workers.archive import Archive
from workers.identifiers import document_hash

_PAUSE_S: Final = 0.02
_TURNS: Final = 10
"""After so many pauses a document is looked at that nobody hinted at."""


class Observer:
    """`archive`: of its own, on a store that does not fail. Those documents first that have just changed."""

    def __init__(self, archive: Archive, documents: Sequence[str]) -> None:
        self._archive = archive
        self._documents = deque(documents)
        self.by_hash = {document_hash(document): document for document in documents}
        self._urgent: deque[str] = deque()
        self._seen: dict[str, tuple[int, int]] = {}
        self.looks = 0
        self.moves = 0
        self.went_back: list[str] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="observer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join(20)

    def hint(self, digest: str) -> None:
        """Something has just been published."""
        self._urgent.append(digest)

    def look(self, document: str) -> None:
        found = self._archive.published(document)
        self.looks += 1
        if found is None:
            if document in self._seen:
                self.went_back.append(f"{document}: nothing is published any more")
            return
        before = self._seen.get(document, (0, 0))
        if found.order < before:
            self.went_back.append(f"{document}: {found.order} replaced {before}")
        self.moves += found.order != before
        self._seen[document] = found.order

    def _run(self) -> None:
        turns = 0
        while not self._end.wait(_PAUSE_S):
            turns += 1
            try:
                if self._urgent:
                    self.look(self.by_hash[self._urgent.popleft()])
                elif turns % _TURNS == 0:
                    self._documents.rotate(-1)
                    self.look(self._documents[0])
            except StoreError:
                continue  # the server itself did not answer: look again
