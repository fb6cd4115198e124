"""Given the artifact store, when records of an installation are kept in it, then their rules hold and no id escapes."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import check_key
from workers.archive import AT_ONCE, Archive
from workers.identifiers import InvalidDocumentId, check_document_id, document_hash
from workers.ledger.ledger import new_id
from workers.records import (
    DeadLetter,
    GithubReference,
    Outcome,
    Output,
    Published,
    RecordCorrupt,
    S3Reference,
    Save,
    Status,
    result_of,
)

JOB = new_id()


def outcome(sequence: int = 1, round: int = 0, status: Status = "succeeded", name: str = "") -> Outcome:
    return Outcome(document="a", sequence=sequence, round=round, job=JOB, status=status, at_ms=1, name=name)


def published(sequence: int, round: int = 0, name: str = "") -> Published:
    return Published(document="a", sequence=sequence, round=round, job=JOB, status="succeeded", at_ms=1, name=name)


def save(sequence: int = 1, **fields: str) -> Save:
    return Save(document="a", sequence=sequence, source="s", job=JOB, received_ms=1, **fields)  # type: ignore[arg-type]  # texts


@pytest.fixture
def archive() -> Archive:
    return Archive(MemoryStore())


# ---------------------------------------------------------------------------------------------------- identifiers


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "reports/月次_締め.md",
        "~user/A-1.md",
        "ガイド/ﾊﾝｶｸ",
        "हिन्दी",
        "a" * 512,
        "...",
        "あ" * 170,
    ],
)
def test_an_id_of_letters_digits_and_marks_is_kept(text: str) -> None:
    """In its composed form."""
    assert check_document_id(text) == text


def test_a_decomposed_name_is_the_composed_document() -> None:
    """macOS hands names out decomposed; it is the same document."""
    assert check_document_id(unicodedata.normalize("NFD", "ガイド.md")) == "ガイド.md"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("a" * 513, "long"),
        ("あ" * 171, "long"),
        ("a" * 10_000_000, "long"),
        ("/a", "segment"),
        ("a/", "segment"),
        ("a//b", "segment"),
        (".", "segment"),
        ("a/../b", "segment"),
        ("../../etc/passwd", "segment"),
        ("a b", "character"),
        ("a\x00", "character"),
        ("a\nb", "character"),
        ("a:b", "character"),
        ("a%2e", "character"),
        ("a\\b", "character"),
        ("a\u202eb", "character"),
        ("\u3099a", "character"),
        ("\ud800", "character"),
        ("１", "character"),
        ("🍣", "character"),
    ],
)
def test_any_other_id_is_refused_with_a_reason(text: str, fault: str) -> None:
    """In both languages, and without the text itself, which may be anything."""
    with pytest.raises(InvalidDocumentId) as raised:
        check_document_id(text)
    assert raised.value.fault == fault
    assert raised.value.text("en") != raised.value.text("ja")
    assert len(raised.value.text("ja")) < 200


@given(st.text(max_size=40) | st.text(alphabet="ab./~-é", max_size=40))
def test_whatever_is_let_in_stays_in_its_place(text: str) -> None:
    """It is a relative path without detours, survives a second check, and its names in the store are keys."""
    try:
        document = check_document_id(text)
    except InvalidDocumentId:
        return
    assert check_document_id(document) == document
    assert not {"", ".", ".."} & set(document.split("/"))
    assert len(document.encode()) <= 512
    assert check_key(f"save/{document_hash(document)}/000000000001")


# -------------------------------------------------------------------------------------------------------- records


def test_a_save_is_written_once(archive: Archive) -> None:
    """The same one again is no change; another one under its sequence is refused."""
    first = save(text="0" * 64, idempotency_key="k")
    assert archive.put_save(first)
    assert archive.put_save(first)
    assert not archive.put_save(save(text="1" * 64))
    assert archive.save("a", 1) == first
    assert archive.save("a", 2) is None


@pytest.mark.parametrize(
    "reference",
    [
        S3Reference(bucket="b", key="文書", version_id="3"),
        GithubReference(repository="o/r", commit="c", path="a.md"),
    ],
)
def test_a_reference_comes_back_as_what_it_was(archive: Archive, reference: S3Reference | GithubReference) -> None:
    """Of its kind, not of the one that happens to fit."""
    kept = save().model_copy(update={"reference": reference})
    archive.put_save(kept)
    assert archive.save("a", 1) == kept


@given(st.permutations([(sequence, round) for sequence in (1, 2, 3) for round in (0, 1)]))
def test_what_is_published_only_moves_forward(orders: list[tuple[int, int]]) -> None:
    """In whatever order it is tried: one is in if none before it was greater, and the same again is no harm."""
    archive = Archive(MemoryStore())
    greatest = (0, 0)
    for sequence, round in orders:
        newer = (sequence, round) > greatest
        greatest = max(greatest, (sequence, round))
        assert archive.publish(published(sequence, round, name="first")) is newer
        found = archive.published("a")
        assert found is not None
        assert found.order == greatest
    assert archive.publish(published(*greatest, name="second"))
    found = archive.published("a")
    assert found is not None
    assert found.name == "first"


def test_publishing_from_many_threads_ends_with_the_greatest(tmp_path: Path) -> None:
    """Each with a store of its own, as processes have."""

    def work(offset: int) -> None:
        with FileStore(tmp_path) as store:
            for sequence in range(offset, 120, 8):
                Archive(store).publish(published(sequence))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(1, 9)))
    with FileStore(tmp_path) as store:
        found = Archive(store).published("a")
    assert found is not None
    assert found.sequence == 119


@pytest.mark.parametrize(
    ("old", "new", "replaced"),
    [
        (outcome(), outcome(name="again"), False),
        (outcome(), outcome(round=1), True),
        (outcome(round=1), outcome(), False),
        (outcome(), outcome(round=1, status="failed"), True),
        (outcome(), outcome(round=1, status="superseded"), False),
        (outcome(), outcome(round=1, status="dead"), False),
        (outcome(status="dead"), outcome(), True),
        (outcome(status="dead"), outcome(status="superseded"), True),
        (outcome(status="superseded"), outcome(), False),
        (outcome(), outcome(status="dead"), False),
    ],
)
def test_an_outcome_gives_way_only_to_what_compiled_later(
    archive: Archive, old: Outcome, new: Outcome, replaced: bool
) -> None:
    """A compile again that came to nothing leaves it, and a dead job may still come to something."""
    assert archive.put_outcome(old)
    assert archive.put_outcome(new) is replaced
    assert archive.outcome("a", 1) == (new if replaced else old)


def test_history_names_the_newest_first_and_leaves_out_what_is_not_there(archive: Archive) -> None:
    """Reserved numbers without a save, and saves without an outcome yet."""
    for sequence in (1, 2, 4, 5):
        archive.put_save(save(sequence))
    archive.put_outcome(outcome(4))
    found = archive.history("a", 5, 3)
    assert [(kept.sequence, end and end.status) for kept, end in found] == [(5, None), (4, "succeeded")]
    assert [kept.sequence for kept, _ in archive.history("a", 2, 100)] == [2, 1]


def test_all_documents_are_listed_once(archive: Archive) -> None:
    """Those with saves, those with an outcome or a publication alone."""
    for document in ("a", "部/手順"):
        for sequence in (1, 2):
            archive.put_save(save(sequence).model_copy(update={"document": document}))
    archive.publish(published(1))
    archive.publish(published(1).model_copy(update={"document": "p"}))
    archive.put_outcome(outcome().model_copy(update={"document": "o"}))
    assert sorted(archive.documents()) == ["a", "o", "p", "部/手順"]
    stored = archive.stored("a")
    assert (sorted(stored.saves), stored.outcomes, stored.published) == ([1, 2], {}, published(1))


class CountingStore(MemoryStore):
    """How many records each call asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        wanted = list(names)
        self.asked.append(len(wanted))
        return super().get_pointers(wanted)

    def get_pointer(self, name: str) -> bytes | None:
        self.asked.append(1)
        return super().get_pointer(name)


KINDS = st.sets(st.sampled_from(["saves", "outcomes", "published", "damaged save", "damaged publication", "removed"]))


@given(
    documents=st.lists(st.tuples(KINDS, st.integers(1, 4) | st.just(AT_ONCE)), max_size=8),
    letters=st.lists(st.booleans(), max_size=4),
)
def test_many_documents_are_read_together(documents: list[tuple[set[str], int]], letters: list[bool]) -> None:
    """What each is by itself, in the order of the listing, of a damaged one what is wrong with it; in a few calls, none
    of which asks for more records than are kept in memory, or than one document has."""
    archive = Archive(CountingStore())
    for number, (kinds, count) in enumerate(documents):
        who = {"document": f"d{number}"}
        for sequence in range(1, count + 1):
            if "saves" in kinds:
                archive.put_save(save(sequence).model_copy(update=who))
            if "outcomes" in kinds:
                archive.put_outcome(outcome(sequence).model_copy(update=who))
        if "published" in kinds:
            archive.publish(published(count).model_copy(update=who))
        digest = document_hash(f"d{number}")
        if "damaged save" in kinds:
            archive.store.set_pointer(f"save/{digest}/000000999999", b"{", None)
        if "damaged publication" in kinds and "published" not in kinds:
            archive.store.set_pointer(f"published/{digest}", b"{}", None)
    for number, sound in enumerate(letters):
        name, letter = f"dead/{number:027x}", DeadLetter(job=JOB, document="a", sequence=1, stage="parse", at_ms=1)
        archive.store.set_pointer(name, letter.to_bytes() if sound else b"{", None)
    listing = archive.listing()
    for number, (kinds, _) in enumerate(documents):
        if "removed" in kinds:
            listing[document_hash(f"d{number}")] = ["save/" + "0" * 64 + "/000000000001"]
    store = archive.store
    assert isinstance(store, CountingStore)
    store.asked.clear()
    found = list(archive.listed(listing))
    names = {digest: len(own) + 1 for digest, own in listing.items()}
    assert all(asked <= max(AT_ONCE, *names.values()) for asked in store.asked)
    assert len(store.asked) <= 1 + 2 * sum(names.values()) // AT_ONCE
    assert len(found) == len(listing)
    identities = {document_hash(f"d{number}"): f"d{number}" for number in range(len(documents))}
    for digest, one in zip(listing, found, strict=True):
        if "removed" in documents[int(identities[digest][1:])][0]:
            assert one is None or isinstance(one, RecordCorrupt) or not one.saves
            continue
        try:
            assert one == archive.stored(identities[digest])
        except RecordCorrupt as error:
            assert str(one) == str(error)
    told = [isinstance(letter, RecordCorrupt) for letter in archive.dead_letters()]
    assert told == [not sound for sound in reversed(letters)]


def test_dead_letters_are_kept_until_they_are_taken_out(archive: Archive) -> None:
    """A second death of the job replaces the first."""
    letter = DeadLetter(job=JOB, document="a", sequence=1, stage="parse", cause="x", at_ms=1)
    archive.put_dead(letter)
    archive.put_dead(letter.model_copy(update={"cause": "y"}))
    found = archive.dead(JOB)
    assert found is not None
    assert (found.cause, archive.dead_jobs()) == ("y", [JOB])
    assert archive.remove_dead(JOB)
    assert not archive.remove_dead(JOB)
    assert archive.dead_jobs() == []


def test_an_output_is_a_blob_with_its_result_in_both_languages(archive: Archive) -> None:
    """O2's shape with the diagnostics in their place."""
    output = Output(
        files={"procedure.py": "x = 1\n"},
        result={"status": "succeeded", "document": {}, "diagnostics": [], "phases": [], "stages": []},
        diagnostics={"ja": [{"message": "警告"}], "en": [{"message": "warning"}]},
    )
    found = archive.output(archive.put_output(output))
    assert found == output
    result = result_of(output, "ja")
    assert list(result) == ["status", "document", "diagnostics", "phases", "stages"]
    assert result["diagnostics"] == [{"message": "警告"}]
    assert archive.output("0" * 64) is None


def test_fields_of_a_later_version_are_ignored_and_its_values_refused(archive: Archive) -> None:
    """Two versions run side by side during an upgrade; what is unreadable is named."""
    name = f"outcome/{document_hash('a')}/000000000001"
    data = json.loads(outcome().to_bytes())
    archive.store.set_pointer(name, json.dumps({**data, "colour": "red"}).encode(), None)
    assert archive.outcome("a", 1) == outcome()
    for changed in ({"schema": 2}, {"status": "glorious"}, {"sequence": "1"}, {"sequence": 0}, {"output": "../x"}):
        before = archive.store.get_pointer(name)
        archive.store.set_pointer(name, json.dumps({**data, **changed}).encode(), before)
        with pytest.raises(RecordCorrupt, match=f"{name}: {next(iter(changed))}"):
            archive.outcome("a", 1)


@given(st.binary(max_size=60) | st.from_regex(r"\{.{0,40}\}", fullmatch=True).map(str.encode))
def test_damaged_bytes_are_reported_and_nothing_else_is_raised(data: bytes) -> None:
    """Whatever lies under a pointer's name."""
    store = MemoryStore()
    store.set_pointer(f"published/{document_hash('a')}", data, None)
    with pytest.raises(RecordCorrupt):
        Archive(store).published("a")


def test_every_status_of_an_outcome_can_be_kept(archive: Archive) -> None:
    """And comes back."""
    statuses: tuple[Status, ...] = get_args(Status)
    for sequence, status in enumerate(statuses, 1):
        assert archive.put_outcome(outcome(sequence, status=status))
        found = archive.outcome("a", sequence)
        assert found is not None
        assert found.status == status
