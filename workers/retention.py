"""What the store may forget: old history, and blobs and traces that nothing names any more.

Nothing is removed that is published, that a job which has not ended needs, or that was stored in the last day: whoever
stores a blob names it only afterwards. What names a blob is read without knowing its form: every sha256 in a pointer,
in a trace and in a running job's notes counts, so that what a later version has written is safe, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Final, TypeVar

from pydantic import Field

from pipeline.incremental import carry, record
from pipeline.stores.protocol import StoreStats
from workers import clock
from workers.archive import Archive, Stored
from workers.ledger.ledger import Ledger
from workers.ledger.records import Job
from workers.records import Record, RecordCorrupt

NEWEST: Final = 20
DAYS: Final = 30
GRACE_S: Final = 86_400
_DIGEST: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_AT_ONCE: Final = 500
_DAY_MS: Final = 86_400_000
_CATALOG: Final = "catalog/"
_CURRENT: Final = "catalog/current"
_UNNEEDED: Final = "retention/catalogs"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Policy:
    """A save stays while it is among the `newest` of its document or younger than `days`. `grace_s`: nothing is removed
    that is younger, whatever it is."""

    newest: int = NEWEST
    days: int = DAYS
    grace_s: float = GRACE_S


@dataclass(frozen=True, slots=True)
class Collected:
    """What was removed. `damaged`: what could not be read and was left alone, and why."""

    documents: int
    saves: int
    catalogs: int
    store: StoreStats
    damaged: tuple[str, ...]


class Unneeded(Record):
    """The catalogs that no job and no outcome names, each with the time since when, ms: a pointer has no age."""

    since: dict[str, Annotated[int, Field(ge=0)]]


def collect(ledger: Ledger, archive: Archive, policy: Policy, now_ms: int | None = None) -> Collected:
    """May be killed and repeated anywhere, beside all other work. Raises LedgerLost (without the ledger nobody knows
    what jobs need), LedgerVersion, LedgerCorrupt, RedisError, StoreError, RecordCorrupt."""
    ledger.open()
    now = clock.now_ms() if now_ms is None else now_ms
    listing = archive.listing()
    saves = 0
    damaged: list[str] = []
    living: list[str] = []
    jobs = _jobs(ledger)
    at_work: dict[str, set[int]] = {}
    for job in jobs:
        at_work.setdefault(job.document, set()).add(job.sequence)
    for stored in archive.listed(listing):
        try:
            if isinstance(stored, RecordCorrupt):
                raise stored
            if stored is not None:
                saves += _forget_history(ledger, archive, stored, at_work, policy, now)
                if stored.published is None or not stored.published.retired:
                    living.append(stored.document)
        except RecordCorrupt as error:
            damaged.append(str(error))
    # The pointers after the jobs: a job that ends meanwhile has then named in the store what it no longer notes here.
    keep = {digest for job in _jobs(ledger) for note in job.notes.values() for digest in _digests(note.encode())}
    catalogs, named = _named_by_pointers(archive)
    keep |= named
    gone = 0
    for name, value in _forgettable_catalogs(archive, catalogs, keep, policy, now):
        gone += archive.store.delete_pointer(name, value)
    traces = _traces_of(archive, living, keep)
    for value in catalogs.values():
        keep |= _digests(value)
    return Collected(len(listing), saves, gone, archive.store.sweep(keep, policy.grace_s, traces), tuple(damaged))


# ---------------------------------------------------------------------------------------------------------- history


def forgettable(stored: Stored, needed: frozenset[int], policy: Policy, now_ms: int) -> list[int]:
    """The sequences that may go: their saves have an outcome. `needed`: those that jobs still speak of."""
    sequences = sorted({*stored.saves, *stored.outcomes}, reverse=True)
    kept = needed | set(sequences[: max(1, policy.newest)])
    if stored.published is not None:
        kept |= {stored.published.sequence}
    young = now_ms - max(policy.days * _DAY_MS, int(policy.grace_s * 1_000))
    return [
        sequence
        for sequence in reversed(sequences)
        if sequence not in kept and sequence in stored.outcomes and _came(stored, sequence) < young
    ]


def _came(stored: Stored, sequence: int) -> int:
    """When, ms. Whoever removed a save may have died before its outcome went, too."""
    save = stored.saves.get(sequence)
    return stored.outcomes[sequence].at_ms if save is None else save.received_ms


def _forget_history(
    ledger: Ledger, archive: Archive, stored: Stored, at_work: Mapping[str, set[int]], policy: Policy, now_ms: int
) -> int:
    candidates = forgettable(stored, frozenset(), policy, now_ms)
    if not candidates:
        return 0
    document = ledger.document(stored.document)
    needed = {0 if document is None else document.sequence, *at_work.get(stored.document, ())}
    for sequence in candidates:
        save = stored.saves.get(sequence)
        job = None if save is None else ledger.job(save.job)
        waits = job is not None and job.ended_ms is None
        if waits or (save is not None and archive.dead(save.job) is not None):
            needed.add(sequence)
    going = forgettable(stored, frozenset(needed), policy, now_ms)
    for sequence in going:
        archive.remove(stored.document, sequence)
    return len(going)


# --------------------------------------------------------------------------------------------------------- catalogs


def _forgettable_catalogs(
    archive: Archive, catalogs: dict[str, bytes], keep: set[str], policy: Policy, now_ms: int
) -> list[tuple[str, bytes]]:
    """The pointers of those that nothing has named since the grace began."""
    store = archive.store
    before = store.get_pointer(_UNNEEDED)
    known = {} if before is None else Unneeded.from_bytes(before, _UNNEEDED).since
    current = store.get_pointer(_CURRENT)
    waiting: dict[str, int] = {}
    going: list[tuple[str, bytes]] = []
    for name, value in catalogs.items():
        digest = name.removeprefix(_CATALOG)
        if name == _CURRENT or value == current or digest in keep:
            continue
        if digest in known and now_ms - known[digest] >= policy.grace_s * 1_000:
            going.append((name, value))
        else:
            waiting[digest] = known.get(digest, now_ms)
    if waiting != known:
        # Where another collector was faster, the next one looks again.
        store.set_pointer(_UNNEEDED, Unneeded(since=waiting).to_bytes(), before)
    return going


# ------------------------------------------------------------------------------------------------------------ marks


def _digests(data: bytes) -> set[str]:
    return {found.decode("ascii") for found in _DIGEST.findall(data)}


def _named_by_pointers(archive: Archive) -> tuple[dict[str, bytes], set[str]]:
    """The catalogs' pointers, and what all others name."""
    catalogs: dict[str, bytes] = {}
    named: set[str] = set()
    for names in _in_groups(archive.store.pointer_names("")):
        for name, value in archive.store.get_pointers(names).items():
            if name.startswith(_CATALOG):
                catalogs[name] = value
            elif name != _UNNEEDED:
                named |= _digests(value)
    return catalogs, named


def _jobs(ledger: Ledger) -> list[Job]:
    """Those that have begun and not ended, and the dead."""
    found = (ledger.job(identity) for identity in ledger.under_way())
    return [job for job in found if job is not None]


def _traces_of(archive: Archive, documents: Iterable[str], keep: set[str]) -> set[str]:
    """The keys of the documents' records and of the code of their phases; `keep` gets what the records name."""
    traces: set[str] = set()
    for keys in _in_groups(map(record.record_key, documents)):
        traces.update(keys)
        for found in archive.store.get_traces_many(keys).values():
            for data in found:
                keep |= _digests(data)
            for entry in record.from_traces(found):
                traces.update(_code_keys(entry))
    return traces


def _code_keys(entry: record.Record) -> list[str]:
    try:
        return [carry.unit_key(phase.unit) for phase in entry.tail.phases if phase.unit]
    except (ValueError, TypeError, KeyError, IndexError):
        return []  # damaged, or of another version: its code is made again


def _in_groups(names: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(names)
    while group := list(islice(iterator, _AT_ONCE)):
        yield group
