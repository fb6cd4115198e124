"""How a save comes in: a sequence, the store, the ledger, in this order; then its sender may rely on it.

A process may die between any two steps, and every step may be asked for twice. A save that was stored and never
accepted was never promised to anybody: its sender asks again and gets a new sequence, or `reindex` accepts it.
"""

from __future__ import annotations

from typing import Final

from pipeline.diagnostics.lang import Lang
from workers import clock
from workers.archive import Archive
from workers.identifiers import check_document_id
from workers.ledger.ledger import Ledger, new_id
from workers.ledger.records import Accepted, Action, LedgerLost
from workers.records import Reference, Save
from workers.reindex import complete_document

_ATTEMPTS: Final = 50


class TooLarge(Exception):
    """The text is larger than a document may be. `size` and `limit` in bytes; `str(error)` is the English sentence."""

    def __init__(self, size: int, limit: int) -> None:
        self.size = size
        self.limit = limit
        super().__init__(self.text("en"))

    def text(self, lang: Lang) -> str:
        if lang == "ja":
            return f"文書は {self.limit} バイトまでです（{self.size} バイトあります）。分けてください。"
        return f"a document has at most {self.limit} bytes, and this has {self.size}. Split it."


class IntakeContended(Exception):
    """Other saves of the document took every sequence that was reserved for this one. Asking again helps."""


def open_installation(ledger: Ledger, archive: Archive) -> None:
    """Check the ledger; make one where the installation is new: its store holds no document.

    Raises LedgerLost where Redis was wiped, LedgerVersion, StoreError, RedisError, RecordCorrupt.
    """
    archive.install()
    try:
        ledger.open()
    except LedgerLost:
        if next(archive.documents(), None) is not None:
            raise
        ledger.open(fresh=True)


class Intake:
    """For one thread at a time, as its store is. `max_bytes`: of a text; None: whoever calls has looked."""

    def __init__(self, ledger: Ledger, archive: Archive, max_bytes: int | None = None) -> None:
        self._ledger = ledger
        self._archive = archive
        self._max_bytes = max_bytes

    def accept(
        self,
        document: str,
        *,
        data: bytes | None,
        reference: Reference | None = None,
        source: str,
        revision: str = "",
        rank: str = "",
        action: Action = "compile",
        idempotency_key: str = "",
        trace: str = "",
    ) -> Accepted:
        """Durable when this returns. `data`, or a `reference` to where the parse worker finds it; neither to retire.

        Raises InvalidDocumentId and TooLarge for the sender; StoreError, RedisError, LedgerLost, LedgerVersion,
        RecordCorrupt, ArchiveContended and IntakeContended for us: then asking again is safe.
        """
        document = check_document_id(document)
        if (data is not None) + (reference is not None) != (action == "compile"):
            raise ValueError("a save has data or a reference, and a retirement neither")
        if data is not None and self._max_bytes is not None and len(data) > self._max_bytes:
            raise TooLarge(len(data), self._max_bytes)
        # Durable with the save's pointer, which the store never sets before what was written earlier.
        text = "" if data is None else self._archive.store.put_blob(data)
        for _ in range(_ATTEMPTS):
            reserved = self._ledger.reserve(document, source=source, revision=revision, idempotency_key=idempotency_key)
            if reserved.answer == "repeated":
                return Accepted("repeated", reserved.job, reserved.sequence)
            save = Save(
                document=document,
                sequence=reserved.sequence,
                source=source,
                revision=revision,
                rank=rank,
                action=action,
                text=text,
                reference=reference,
                bytes=0 if data is None else len(data),
                idempotency_key=idempotency_key,
                job=new_id(),
                trace=trace,
                received_ms=clock.now_ms(),
            )
            if not self._archive.put_save(save):
                # Redis has forgotten what it gave (a failover): the store knows all the sequences that were used.
                complete_document(self._ledger, self._archive, document)
                continue
            accepted = self._ledger.accept(
                document,
                sequence=save.sequence,
                job=save.job,
                source=source,
                revision=revision,
                rank=rank,
                action=action,
                idempotency_key=idempotency_key,
                trace=trace,
            )
            if accepted.answer != "accepted":
                self._archive.supersede(save)
            if accepted.answer != "outrun":
                return accepted
        raise IntakeContended(document)
