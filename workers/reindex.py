"""The ledger from the store: after Redis was lost, and to add what a living ledger lacks, of which nothing changes.

What the store says of a document is put into *facts* by the same rules by which the ledger accepts saves, and one
atomic step adds them. While a new ledger is made it is closed to everybody else, so nobody gets a sequence that was
used before; if Redis is wiped once more meanwhile, all begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from workers import clock
from workers.archive import Archive, Stored
from workers.ledger.ledger import Ledger
from workers.ledger.records import (
    DocumentState,
    Facts,
    Job,
    LedgerLost,
    OnceKey,
    Row,
    SeenRevision,
    row_text,
)
from workers.records import DeadLetter, Outcome, Published, RecordCorrupt, Save

_ATTEMPTS: Final = 5

Progress = Callable[[int, int], None]
"""Told how many documents are done, of how many."""


@dataclass(slots=True)
class Reindexed:
    """`fresh`: a new ledger was made. `jobs`: newest saves without an outcome, whose jobs are there again;
    `superseded`: older saves that got their outcome; `dead`: dead letters that are there again. `damaged`: what could
    not be read, and why; such a document takes no saves until that is repaired."""

    fresh: bool = False
    documents: int = 0
    jobs: int = 0
    superseded: int = 0
    dead: int = 0
    damaged: list[str] = field(default_factory=list)


def no_progress(_done: int, _total: int) -> None:
    """Nobody watches."""


def reindex(ledger: Ledger, archive: Archive, progress: Progress = no_progress) -> Reindexed:
    """Raises LedgerVersion, LedgerCorrupt, StoreError, RedisError, ArchiveContended, and LedgerLost where Redis is
    wiped again and again."""
    for left in reversed(range(_ATTEMPTS)):
        try:
            return _reindex(ledger, archive, progress)
        except LedgerLost:
            if not left:
                raise
    raise AssertionError("the last attempt returns or raises")


def complete_document(ledger: Ledger, archive: Archive, document: str) -> None:
    """Add what a living ledger lacks of one document. Raises what `reindex` does, and RecordCorrupt."""
    _restore(ledger, archive, archive.stored(document), "", Reindexed())


def _reindex(ledger: Ledger, archive: Archive, progress: Progress) -> Reindexed:
    rebuild = ledger.begin_rebuild()
    counted = Reindexed(fresh=bool(rebuild))
    listing = archive.listing()
    for stored in archive.listed(listing):
        try:
            if isinstance(stored, RecordCorrupt):
                raise stored
            if stored is not None:
                _restore(ledger, archive, stored, rebuild, counted)
        except RecordCorrupt as error:
            counted.damaged.append(str(error))
        counted.documents += 1
        progress(counted.documents, len(listing))
    for letter in archive.dead_letters():
        try:
            if isinstance(letter, RecordCorrupt):
                raise letter
            counted.dead += _restore_dead(ledger, archive, letter, rebuild)
        except RecordCorrupt as error:
            counted.damaged.append(str(error))
    ledger.tidy(rebuild)
    ledger.end_rebuild(rebuild)
    return counted


def _restore(ledger: Ledger, archive: Archive, stored: Stored, rebuild: str, counted: Reindexed) -> None:
    accepting = accept_again(stored)
    keep_once = ledger.timing.keep_once
    made, accepted = ledger.restore(stored.document, facts_of(stored, accepting, keep_once, clock.now_ms()), rebuild)
    counted.jobs += made
    if stored.published is not None and stored.outcomes.get(stored.published.sequence) != stored.published.outcome:
        archive.put_outcome(stored.published.outcome)  # whoever published it may have died before this
    for sequence, save in stored.saves.items():
        if sequence in stored.outcomes or (sequence >= accepted and sequence not in accepting.passed):
            continue
        if _is_published(stored.published, sequence):
            continue
        if ledger.is_placed(save.job, rebuild):
            continue  # it is under way, or how it ended is being recorded
        counted.superseded += archive.supersede(save)


def _restore_dead(ledger: Ledger, archive: Archive, letter: DeadLetter, rebuild: str) -> bool:
    outcome = archive.outcome(letter.document, letter.sequence)
    if outcome is not None and outcome.status != "dead" and outcome.round >= letter.round:
        archive.remove_dead(letter.job)  # it was replayed, and whoever did it died before this
        return False
    return ledger.restore_dead(_dead_job(letter, archive.save(letter.document, letter.sequence)), rebuild)


# ------------------------------------------------------------------------------------------------- what follows


@dataclass(frozen=True, slots=True)
class Accepting:
    """What accepting a document's saves again, in the order of their sequences, comes to. `newest`: the one that
    counts, None where the store has none. `passed`: those that were repeated or late. `seen`: the newest revision of
    each source. `answered`: by idempotency key, the save that came with it first, and the one that answered it."""

    newest: Save | None
    passed: frozenset[int]
    seen: dict[str, Save]
    answered: dict[str, tuple[Save, Save]]


def accept_again(stored: Stored) -> Accepting:
    """By the rules of `lua/accept.lua`; what has an outcome was accepted or refused, as that says."""
    newest: Save | None = None
    passed: set[int] = set()
    seen: dict[str, Save] = {}
    answered: dict[str, tuple[Save, Save]] = {}
    for sequence, save in sorted(stored.saves.items()):
        superseded = _is_superseded(stored, sequence)
        compiled = _was_compiled(stored, sequence)
        earlier = seen.get(save.source)
        same = save.revision != "" and earlier is not None and earlier.revision == save.revision
        first = answered.get(save.idempotency_key, (None, None))[0] or (earlier if same else None)
        # Of two that are the same, the second was stored because the first had not been accepted: its process died.
        known = first is not None and _was_compiled(stored, first.sequence)
        repeated = known and first is not None and not _was_outrun(stored, first, save)
        late = earlier is not None and save.rank != "" and earlier.rank != "" and save.rank < earlier.rank
        if save.idempotency_key and (save.idempotency_key not in answered or not (repeated or superseded)):
            answered[save.idempotency_key] = (save, first if repeated and first is not None else save)
        if not compiled and (repeated or late):
            passed.add(sequence)
            continue
        if not superseded:
            newest = save
        if save.revision and not late and not (same and superseded):
            seen[save.source] = save
    return Accepting(newest, frozenset(passed), seen, answered)


def _was_compiled(stored: Stored, sequence: int) -> bool:
    has_outcome = sequence in stored.outcomes and not _is_superseded(stored, sequence)
    return has_outcome or _is_published(stored.published, sequence)


def _was_outrun(stored: Stored, first: Save, save: Save) -> bool:
    """Whether `first` came too late for its sequence, since an older revision of its source was accepted with a greater
    one, and `save` is the same with a sequence that is greater still."""
    return (
        _is_superseded(stored, first.sequence)
        and (first.source, first.revision, first.rank) == (save.source, save.revision, save.rank)
        and any(
            between.source == first.source and between.rank != "" and between.rank < first.rank
            for sequence, between in stored.saves.items()
            if first.sequence < sequence < save.sequence
        )
    )


def facts_of(stored: Stored, accepting: Accepting, keep_once_ms: int, now_ms: int) -> Facts:
    """`now_ms`: since 1970; keys are known for `keep_once_ms` after their save was received."""
    newest, published = accepting.newest, stored.published
    ends = _ends(stored)
    last = max(ends, key=lambda end: end.order, default=None)
    named = max((end for end in ends if end.name or end.status == "retired"), key=lambda end: end.order, default=None)
    facts: Facts = {
        "sequence": max([*stored.saves, *stored.outcomes, published.sequence if published else 0], default=0),
        "round": max((end.round for end in ends), default=0),
        "accepted": 0,
        "accepted_ms": 0,
        "action": "compile",
        "job": "",
        "source": "",
        "revision": "",
        "trace": "",
        "published": published.sequence if published else 0,
        "published_round": published.round if published else 0,
        "published_job": published.job if published else "",
        "ended": last.sequence if last else 0,
        "ended_round": last.round if last else 0,
        "state": _state(last) if last else "",
        "forgotten": max((end.sequence for end in ends if end.status == "retired"), default=0),
        "row": "",
        "revisions": [_seen(save) for save in accepting.seen.values()],
        "once": _once(accepting.answered, keep_once_ms, now_ms),
    }
    if named is not None and named.status != "retired":
        facts["row"] = row_text(Row(named.sequence, named.name, named.calls))
    if newest is not None:
        facts["accepted"], facts["accepted_ms"] = newest.sequence, newest.received_ms
        facts["action"], facts["job"] = newest.action, newest.job
        facts["source"], facts["revision"], facts["trace"] = newest.source, newest.revision, newest.trace
    if last is not None and last.sequence > facts["accepted"]:
        # Its save was removed: the outcome tells that there was one.
        facts["accepted"], facts["accepted_ms"], facts["job"] = last.sequence, last.at_ms, ""
        facts["action"] = "retire" if last.status == "retired" else "compile"
    return facts


def _ends(stored: Stored) -> list[Outcome]:
    """All compiles that ended, as far as the store tells; what is published among them."""
    ends = [outcome for outcome in stored.outcomes.values() if outcome.status != "superseded"]
    return ends if stored.published is None else [*ends, stored.published]


def _is_superseded(stored: Stored, sequence: int) -> bool:
    outcome = stored.outcomes.get(sequence)
    return outcome is not None and outcome.status == "superseded"


def _is_published(published: Published | None, sequence: int) -> bool:
    return published is not None and published.sequence == sequence


def _state(end: Outcome) -> DocumentState:
    return end.status if end.status != "superseded" else "accepted"


def _seen(save: Save) -> SeenRevision:
    return {
        "source": save.source,
        "revision": save.revision,
        "rank": save.rank,
        "sequence": save.sequence,
        "job": save.job,
    }


def _once(answered: Mapping[str, tuple[Save, Save]], keep_ms: int, now_ms: int) -> list[OnceKey]:
    """Those whose time is not over. A clock that is ahead of ours must not make it last."""
    return [
        {"key": key, "job": answer.job, "sequence": answer.sequence, "keep_ms": min(left, keep_ms)}
        for key, (first, answer) in answered.items()
        if (left := first.received_ms + keep_ms - now_ms) > 0
    ]


def _dead_job(letter: DeadLetter, save: Save | None) -> Job:
    action = "compile" if save is None else save.action
    return Job(
        id=letter.job,
        document=letter.document,
        sequence=letter.sequence,
        round=letter.round,
        job_class=letter.job_class,
        action=action,
        source="" if save is None else save.source,
        revision="" if save is None else save.revision,
        state="dead",
        stage="verify" if action == "retire" else "parse",
        attempts=0,
        total_attempts=0,
        created_ms=letter.at_ms,
        claimed_ms=None,
        ended_ms=letter.at_ms,
        superseded=None,
        cause=letter.cause,
        outcome="",
        trace="" if save is None else save.trace,
        bulk="",
        notes={},
        took_ms={},
    )
