"""The plan of a recompile: read all traces first, and say what would run and why (design, invariant 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict

from pipeline.compiler import Compiler, Input
from pipeline.incremental.record import Record
from pipeline.incremental.report import StageReport
from pipeline.project import ProjectView
from workers.archive import Archive
from workers.bulk.scope import Scope
from workers.ledger.recompiles import Recompiles
from workers.records import Outcome


class _TextLost(Exception):
    """The store does not have the text of that digest."""


_CHUNK: Final = 500
"""So many documents' records are in memory at once."""


class PlannedDocument(BaseModel):
    """One that would run. `reasons`: R3's words, the stages' in their order; `model_calls`: of its generator."""

    model_config = ConfigDict(frozen=True)

    document: str
    reasons: tuple[str, ...]
    model_calls: int = 0


class Plan(BaseModel):
    """`documents`: those that would run, sorted by id; `reused`: how many others belong to the scope.

    `scope`: as asked; `catalog`: digest of the one that it was made with.
    """

    model_config = ConfigDict(frozen=True)

    scope: Scope
    catalog: str
    documents: tuple[PlannedDocument, ...]
    reused: int

    @property
    def total(self) -> int:
        return len(self.documents) + self.reused

    @property
    def model_calls(self) -> int:
        return sum(found.model_calls for found in self.documents)

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many documents would run for each reason."""
        return Counter(word for found in self.documents for word in found.reasons)

    def grew(self, before: Plan) -> bool:
        """Whether this one is another catalog's, or more work, or dearer than `before`, which somebody agreed to."""
        known = {found.document for found in before.documents}
        return (
            self.catalog != before.catalog
            or any(found.document not in known for found in self.documents)
            or self.model_calls > before.model_calls
        )


@dataclass(frozen=True, slots=True)
class Planner:
    """`compiler`: with the current catalog, whose digest is `catalog`. Used by one thread."""

    archive: Archive
    recompiles: Recompiles
    compiler: Compiler
    catalog: str
    project: ProjectView

    def plan(self, scope: Scope, documents: Iterable[str], may: Callable[[str], bool]) -> Plan:
        """`documents`: the ids of all; those that `may` refuses are not counted, nor in any way shown.

        Raises StoreError, RedisError, RecordCorrupt.
        """
        chosen = sorted(document for document in documents if scope.names(document) and may(document))
        run: list[PlannedDocument] = []
        total = 0
        for start in range(0, len(chosen), _CHUNK):
            for document, planned in self._chunk(scope, chosen[start : start + _CHUNK]):
                total += 1
                if planned is not None:
                    run.append(PlannedDocument(document=document, reasons=planned[0], model_calls=planned[1]))
        if scope.stale is not None:
            total = len(run)
        return Plan(scope=scope, catalog=self.catalog, documents=tuple(run), reused=total - len(run))

    def _chunk(self, scope: Scope, chosen: Sequence[str]) -> Iterator[tuple[str, tuple[tuple[str, ...], int] | None]]:
        newest = self.recompiles.newest_saves(chosen)
        outcomes = self.archive.outcomes(newest)
        if scope.using is not None:
            newest = {document: newest[document] for document in self._using(scope.using, newest, outcomes)}
        texts = {document: outcome.text for document, outcome in outcomes.items() if outcome.text}
        saves = self.archive.saves({document: number for document, number in newest.items() if document not in texts})
        texts |= {document: save.text for document, save in saves.items() if save.text}
        records = self.compiler.records(newest)
        for document in newest:
            outcome, text = outcomes.get(document), texts.get(document, "")
            if not text or outcome is None or outcome.status in ("dead", "superseded"):
                # It has not been compiled to an end: it is under way, or a dead letter.
                yield document, (("new",), 0)
            else:
                yield document, self._one(document, text, records[document])

    def _using(self, tool: str, newest: Mapping[str, int], outcomes: Mapping[str, Outcome]) -> list[str]:
        """By the newest outcome or, where that failed, by what is still published."""
        failed = [document for document in newest if document not in outcomes or outcomes[document].status == "failed"]
        published = self.archive.published_many(failed)
        return [
            document
            for document in newest
            if (document in outcomes and tool in outcomes[document].tools)
            or (document in published and tool in published[document].tools)
        ]

    def _one(self, document: str, text: str, known: Sequence[Record]) -> tuple[tuple[str, ...], int] | None:
        """Reasons and model calls; None: what is published is what a compile makes.

        Only the newest record speaks of what is published. An older one that holds again, since a change was taken
        back, answers the compile that is still to publish it.
        """
        newest = known[:1]
        try:
            if self.compiler.recall(document, text, newest, self.project, lambda: self._data(text)) is not None:
                return None
            data = self._data(text)
        except _TextLost:
            return ("artifact-missing",), 0
        ran = [
            report for report in self.compiler.plan(Input(document, data), self.project, known=newest) if _runs(report)
        ]
        if not ran:
            return None
        generated = sum(report.stage == "generate" for report in ran)
        calls = generated if self.compiler.generator.identity.model else 0
        return tuple(dict.fromkeys(report.reason for report in ran)), calls

    def _data(self, text: str) -> bytes:
        data = self.archive.text(text)
        if data is None:
            raise _TextLost(text)
        return data


def _runs(report: StageReport) -> bool:
    return report.outcome == "ran"
