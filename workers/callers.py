"""Documents that call others are compiled again once what they call has changed its name, gone, or come.

Resolve asks the project which document a call means, and records the answers. When the project's index changes, each
document with calls is asked again: where an answer is another one now, its newest save is compiled again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from pipeline.incremental.reads import PROJECT_KINDS, Inquiry
from pipeline.incremental.record import Record
from workers.context import Context
from workers.ledger.records import Message
from workers.logs import get_logger
from workers.project import LedgerProject

QUIET_S: Final = 2.0
"""After the last change of the index: a library that is saved at once changes it many times."""
LONGEST_S: Final = 30.0
"""After the first change: what is saved without end postpones nothing for ever."""
AT_ONCE: Final = 100

_log = get_logger(__name__)


@dataclass(slots=True)
class Callers:
    """Any number may be at work: the ledger begins one job of a document at a time. After a start all are asked, since
    nobody may have been there when the index changed."""

    context: Context
    clock: Callable[[], float] = time.monotonic
    quiet_s: float = QUIET_S
    _version: str = ""
    _due: float = 0.0
    _latest: float = 0.0
    _waiting: dict[str, None] = field(default_factory=dict)

    def step(self) -> int:
        """Ask some of those that wait; how many are compiled again.

        Raises RedisError, LedgerLost, StoreError, CatalogMissing, RecordCorrupt.
        """
        project = self.context.projects.current()
        documents = project.documents
        now = self.clock()
        if project.version != self._version:
            self._version = project.version or ""
            if not self._waiting:
                self._latest = now + LONGEST_S
            self._due = min(now + self.quiet_s, self._latest)
            self._waiting |= {document.path: None for document in documents if document.calls}
        if not self._waiting or now < self._due:
            return 0
        asked = list(islice(self._waiting, AT_ONCE))
        for document in asked:
            del self._waiting[document]
        return self._ask(asked, project)

    def _ask(self, asked: list[str], project: LedgerProject) -> int:
        context = self.context
        compiler = context.compiler(context.catalogs.current())
        inquiry = Inquiry(compiler.catalog, project)
        records = compiler.records(asked)
        count = 0
        for document in asked:
            found = context.ledger.document(document)
            if found is None or found.action == "retire":
                continue
            if found.running or found.waiting:
                self._waiting[document] = None  # what it reads now may be of before: asked again when it has ended
            elif not holds(records.get(document, ()), inquiry):
                answer = context.ledger.recompile(document)
                if isinstance(answer, Message):
                    count += 1
                elif answer == "busy":
                    self._waiting[document] = None
        if count:
            _log.info("callers compiled again", documents=count)
        return count


def holds(known: tuple[Record, ...] | list[Record], inquiry: Inquiry) -> bool:
    """Whether the project answers as it did for the last compile. A document that was never compiled asked nothing."""
    record = next((entry for entry in known if entry.head.scope == "whole"), None)
    if record is None or record.head.project in ("", inquiry.project.digest):
        return True
    reads = record.tail.reads
    if reads is None:
        return True
    asked = ((question, answer) for question, answer in reads.answers if question[0] in PROJECT_KINDS)
    return all(inquiry.answer(question) == answer for question, answer in asked)
