"""The records of an installation in its artifact store: saves, outcomes, what is published, dead letters.

Each is a pointer whose name is computed from the document's id and the sequence, so that nothing is listed but by
`reindex` and retention. The rules by which they change are here, and hold for any number of processes:

* a save is written once;
* an outcome is replaced by that of a later round of the same save only, if that compiled something (and *dead*, after a
  replay, by what came of it);
* what is published moves to a greater (sequence, round) only.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from pipeline.stores.protocol import Store
from workers import clock
from workers.identifiers import document_hash
from workers.records import (
    DeadLetter,
    Installation,
    Outcome,
    Output,
    Published,
    Record,
    RecordCorrupt,
    Save,
)

AT_ONCE: Final = 200
"""So many records of several documents are read together: most have a kilobyte, the largest a few hundred."""

_ATTEMPTS: Final = 100
_DIGITS: Final = 12

R = TypeVar("R", bound=Record)


class ArchiveContended(Exception):
    """A pointer changed under us a hundred times in a row. Trying again later helps."""


class Stored(NamedTuple):
    """All that the store holds of one document: `saves` and `outcomes` by sequence."""

    document: str
    saves: dict[int, Save]
    outcomes: dict[int, Outcome]
    published: Published | None


class Archive:
    """Every method may raise StoreError, and those that read RecordCorrupt. As safe for threads as `store` is."""

    def __init__(self, store: Store) -> None:
        self.store = store

    # ------------------------------------------------------------------------------------------ installation

    def installation(self) -> Installation | None:
        return self._get("installation", Installation)

    def install(self) -> bool:
        """False: there is one already."""
        made = Installation(id=secrets.token_hex(16))
        return self.store.set_pointer("installation", made.to_bytes(), None)

    # ------------------------------------------------------------------------------------------------- saves

    def put_save(self, save: Save) -> bool:
        """False: there is another save of that sequence. The same one again is no change, and True."""
        name, data = _save_name(save.document, save.sequence), save.to_bytes()
        return self.store.set_pointer(name, data, None) or self.store.get_pointer(name) == data

    def save(self, document: str, sequence: int) -> Save | None:
        return self._get(_save_name(document, sequence), Save)

    def remove(self, document: str, sequence: int) -> None:
        """The save and then its outcome: a save that is left without one would count as still to be compiled."""
        for name in (_save_name(document, sequence), _outcome_name(document, sequence)):
            value = self.store.get_pointer(name)
            if value is not None and not self.store.delete_pointer(name, value):
                return  # it has just changed: somebody needs it

    # ---------------------------------------------------------------------------------------------- outcomes

    def put_outcome(self, outcome: Outcome) -> bool:
        """Whether it counts. False: the save has an outcome already that this one does not replace.

        Published first, then this: what was published and has no outcome yet is published again without harm. So a
        power cut may take back the outcome of what succeeded: what is published says the same.
        Raises ArchiveContended.
        """
        lasting = outcome.status not in ("succeeded", "retired")
        name, data = _outcome_name(outcome.document, outcome.sequence), outcome.to_bytes()
        if outcome.round == 0 and self.store.set_pointer(name, data, None, lasting=lasting):
            return True  # the usual case: nobody has told of this save before
        for _ in range(_ATTEMPTS):
            found = self.store.get_pointer(name)
            if found == data:
                return True
            if found is not None and not _replaces(outcome, Outcome.from_bytes(found, name)):
                return False
            if self.store.set_pointer(name, data, found):
                return True
        raise ArchiveContended(name)

    def supersede(self, save: Save) -> bool:
        """The save will not be compiled. False: it has another outcome already."""
        return self.put_outcome(
            Outcome(
                document=save.document,
                sequence=save.sequence,
                job=save.job,
                status="superseded",
                at_ms=clock.now_ms(),
                text=save.text,
            )
        )

    def outcome(self, document: str, sequence: int) -> Outcome | None:
        return self._get(_outcome_name(document, sequence), Outcome)

    def ending(self, document: str, sequence: int) -> tuple[Published | None, Outcome | None]:
        """What is published of the document, and the outcome of one of its saves; read together."""
        published, outcome = _published_name(document), _outcome_name(document, sequence)
        found = self.store.get_pointers([published, outcome])
        return _read(found, published, Published), _read(found, outcome, Outcome)

    def saves(self, sequences: Mapping[str, int]) -> dict[str, Save]:
        """Those that exist, by document."""
        names = {_save_name(document, sequence): document for document, sequence in sequences.items()}
        return {names[name]: save for name, save in self._many(list(names), Save).items()}

    def outcomes(self, sequences: Mapping[str, int]) -> dict[str, Outcome]:
        """Those that exist, by document."""
        names = {_outcome_name(document, sequence): document for document, sequence in sequences.items()}
        return {names[name]: outcome for name, outcome in self._many(list(names), Outcome).items()}

    # --------------------------------------------------------------------------------------------- published

    def publish(self, published: Published) -> bool:
        """Whether this (sequence, round) is what is published now, by this call or an earlier one. False: a greater
        one is. Raises ArchiveContended."""
        name, data = _published_name(published.document), published.to_bytes()
        for _ in range(_ATTEMPTS):
            found = self.store.get_pointer(name)
            if found is not None:
                order = Published.from_bytes(found, name).order
                if order >= published.order:
                    return order == published.order
            if self.store.set_pointer(name, data, found):
                return True
        raise ArchiveContended(name)

    def published(self, document: str) -> Published | None:
        return self._get(_published_name(document), Published)

    def published_many(self, documents: Iterable[str]) -> dict[str, Published]:
        """Those that have one, in the order asked."""
        names = {_published_name(document): document for document in documents}
        found = self.store.get_pointers(names)
        return {names[name]: Published.from_bytes(data, name) for name, data in found.items()}

    def history(self, document: str, newest: int, count: int) -> list[tuple[Save, Outcome | None]]:
        """The saves with the sequences `newest`, `newest - 1` and so on, `count` of them, those left out that do not
        exist (a number may have been given to a save that was never stored, or retention removed it)."""
        sequences = range(newest, max(0, newest - count), -1)
        saves = self._many([_save_name(document, sequence) for sequence in sequences], Save)
        outcomes = self._many([_outcome_name(document, sequence) for sequence in sequences], Outcome)
        return [
            (save, outcomes.get(_outcome_name(document, sequence)))
            for sequence in sequences
            if (save := saves.get(_save_name(document, sequence))) is not None
        ]

    # ------------------------------------------------------------------------------------------ dead letters

    def put_dead(self, letter: DeadLetter) -> None:
        """A later death of the same job replaces the earlier one. Raises ArchiveContended."""
        name, data = f"dead/{letter.job}", letter.to_bytes()
        for _ in range(_ATTEMPTS):
            found = self.store.get_pointer(name)
            if found == data or self.store.set_pointer(name, data, found):
                return
        raise ArchiveContended(name)

    def dead(self, job: str) -> DeadLetter | None:
        return self._get(f"dead/{job}", DeadLetter)

    def dead_letters(self) -> Iterator[DeadLetter | RecordCorrupt]:
        """All of them, the newest jobs first; `AT_ONCE` are read at once."""
        jobs = iter(self.dead_jobs())
        while names := [f"dead/{job}" for job in islice(jobs, AT_ONCE)]:
            found = self.store.get_pointers(names)
            for name in names:
                if name not in found:
                    continue  # it was taken out meanwhile
                try:
                    yield DeadLetter.from_bytes(found[name], name)
                except RecordCorrupt as error:
                    yield error

    def dead_jobs(self) -> list[str]:
        """The ids of all jobs with a dead letter, the newest jobs first."""
        return sorted((name.partition("/")[2] for name in self.store.pointer_names("dead/")), reverse=True)

    def remove_dead(self, job: str) -> bool:
        """False: there is none."""
        name = f"dead/{job}"
        for _ in range(_ATTEMPTS):
            found = self.store.get_pointer(name)
            if found is None:
                return False
            if self.store.delete_pointer(name, found):
                return True
        raise ArchiveContended(name)

    # --------------------------------------------------------------------------------------- texts and outputs

    def put_text(self, data: bytes) -> str:
        """The digest of its blob, which is durable when this returns."""
        digest = self.store.put_blob(data)
        self.store.flush()
        return digest

    def text(self, digest: str) -> bytes | None:
        return self.store.get_blob(digest)

    def put_output(self, output: Output) -> str:
        """The digest of its blob. Durable with the next pointer that is set through the same store."""
        return self.store.put_blob(output.to_bytes())

    def output(self, digest: str) -> Output | None:
        data = self.store.get_blob(digest)
        return None if data is None else Output.from_bytes(data, digest)

    # ---------------------------------------------------------------------------------------------- listings

    def documents(self) -> Iterator[str]:
        """The ids of all documents that were ever saved or published here, each once."""
        for digest, names in self.listing().items():
            document = self._named(digest, names)
            if document is not None:
                yield document

    def stored(self, document: str) -> Stored:
        """All there is of one document."""
        digest = document_hash(document)
        names = [*self.store.pointer_names(f"save/{digest}/"), *self.store.pointer_names(f"outcome/{digest}/")]
        found = self.store.get_pointers(_all_names(digest, names))
        return Stored(document, *_records(names, found), _published(digest, found))

    def listing(self) -> dict[str, list[str]]:
        """The names of all saves and outcomes by their document's hash, those of published documents without any
        included; what is saved meanwhile may be missing. For `listed`."""
        names: dict[str, list[str]] = {}
        for prefix in ("save/", "outcome/"):
            for name in self.store.pointer_names(prefix):
                names.setdefault(name.split("/")[1], []).append(name)
        for name in self.store.pointer_names("published/"):
            names.setdefault(name.split("/")[1], [])
        return names

    def listed(self, listing: Mapping[str, Sequence[str]]) -> Iterator[Stored | RecordCorrupt | None]:
        """All that there is of each document of a `listing`, in its order; None: it was removed meanwhile. Some hundred
        records are read at once, just before the first of their documents is asked for."""
        for group in _groups(listing.items()):
            found = self.store.get_pointers([name for digest, names in group for name in _all_names(digest, names)])
            for digest, names in group:
                yield _stored(digest, names, found)

    def _named(self, digest: str, names: Sequence[str]) -> str | None:
        """The id behind a hash, which any record of the document tells."""
        for name in (*names, f"published/{digest}"):
            data = self.store.get_pointer(name)
            if data is not None:
                return (Save if name.startswith("save/") else Outcome).from_bytes(data, name).document
        return None

    # ---------------------------------------------------------------------------------------------- plumbing

    def _get(self, name: str, kind: type[R]) -> R | None:
        data = self.store.get_pointer(name)
        return None if data is None else kind.from_bytes(data, name)

    def _many(self, names: Sequence[str], kind: type[R]) -> dict[str, R]:
        found = self.store.get_pointers(names) if names else {}
        return {name: kind.from_bytes(data, name) for name, data in found.items()}


def _groups(listing: Iterable[tuple[str, Sequence[str]]]) -> Iterator[list[tuple[str, Sequence[str]]]]:
    """Documents with `AT_ONCE` records together, or one that has more alone."""
    group: list[tuple[str, Sequence[str]]] = []
    count = 0
    for digest, names in listing:
        if group and count + len(names) >= AT_ONCE:
            yield group
            group, count = [], 0
        group.append((digest, names))
        count += len(names) + 1
    if group:
        yield group


def _all_names(digest: str, names: Sequence[str]) -> list[str]:
    return [*names, f"published/{digest}"]


def _stored(digest: str, names: Sequence[str], found: Mapping[str, bytes]) -> Stored | RecordCorrupt | None:
    try:
        saves, outcomes = _records(names, found)
        published = _published(digest, found)
    except RecordCorrupt as error:
        return error
    records = (*saves.values(), *outcomes.values(), *(() if published is None else (published,)))
    return Stored(records[0].document, saves, outcomes, published) if records else None


def _records(names: Iterable[str], found: Mapping[str, bytes]) -> tuple[dict[int, Save], dict[int, Outcome]]:
    saves: dict[int, Save] = {}
    outcomes: dict[int, Outcome] = {}
    for name in names:
        data = found.get(name)
        if data is None:
            continue
        if name.startswith("save/"):
            save = Save.from_bytes(data, name)
            saves[save.sequence] = save
        else:
            outcome = Outcome.from_bytes(data, name)
            outcomes[outcome.sequence] = outcome
    return saves, outcomes


def _published(digest: str, found: Mapping[str, bytes]) -> Published | None:
    return _read(found, f"published/{digest}", Published)


def _read(found: Mapping[str, bytes], name: str, kind: type[R]) -> R | None:
    data = found.get(name)
    return None if data is None else kind.from_bytes(data, name)


def _replaces(new: Outcome, old: Outcome) -> bool:
    if new.status in ("superseded", "dead"):
        # A compile again that came to nothing leaves the save what it had.
        return old.status == "dead" and new.round >= old.round and new.status == "superseded"
    return new.round > old.round or (new.round == old.round and old.status == "dead")


def _save_name(document: str, sequence: int) -> str:
    return f"save/{document_hash(document)}/{sequence:0{_DIGITS}}"


def _outcome_name(document: str, sequence: int) -> str:
    return f"outcome/{document_hash(document)}/{sequence:0{_DIGITS}}"


def _published_name(document: str) -> str:
    return f"published/{document_hash(document)}"
