"""Given a real Valkey and a store, when saves come in, then each is durable and in order before anybody is told."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from redis import Redis

from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from tests.service.saving import Died, MortalStore, settle, wipe
from workers.archive import Archive
from workers.identifiers import InvalidDocumentId, document_hash
from workers.intake import Intake, TooLarge, open_installation
from workers.ledger.ledger import Ledger, new_id
from workers.ledger.records import Accepted, LedgerLost
from workers.records import GithubReference, RecordCorrupt
from workers.reindex import reindex


@pytest.fixture
def archive() -> Archive:
    return Archive(MemoryStore())


def put(ledger: Ledger, archive: Archive, text: str, *, revision: str = "", rank: str = "", key: str = "") -> Accepted:
    return Intake(ledger, archive).accept(
        "a", data=text.encode(), source="s", revision=revision, rank=rank, idempotency_key=key
    )


def text_of_newest(ledger: Ledger, archive: Archive) -> str:
    document = ledger.document("a")
    assert document is not None
    save = archive.save("a", document.sequence)
    assert save is not None
    return (archive.text(save.text) or b"").decode()


def test_a_save_is_in_the_store_before_it_is_accepted(ledger: Ledger, archive: Archive) -> None:
    """With its text, and all that a worker or a rebuilt ledger needs."""
    accepted = Intake(ledger, archive).accept(
        "部/手順.md", data=b"text", source="s", revision="7", rank="07", idempotency_key="k", trace="t"
    )
    save = archive.save("部/手順.md", 1)
    assert save is not None
    assert (accepted, archive.text(save.text)) == (Accepted("accepted", save.job, 1), b"text")
    kept = (save.source, save.revision, save.rank, save.idempotency_key, save.trace, save.bytes)
    assert kept == ("s", "7", "07", "k", "t", 4)
    assert [message.job for message in ledger.claim()] == [save.job]


def test_a_reference_is_kept_and_nothing_is_fetched(ledger: Ledger, archive: Archive) -> None:
    """The parse worker does that; a retirement has neither text nor reference."""
    intake, reference = Intake(ledger, archive), GithubReference(repository="o/r", commit="c", path="a.md")
    intake.accept("a", data=None, reference=reference, source="s")
    intake.accept("a", data=None, source="s", action="retire")
    saves = [archive.save("a", sequence) for sequence in (1, 2)]
    assert [(save.reference, save.text, save.action) for save in saves if save] == [
        (reference, "", "compile"),
        (None, "", "retire"),
    ]


def test_what_cannot_be_a_save_leaves_nothing_behind(ledger: Ledger, archive: Archive) -> None:
    """Neither a sequence nor a pointer."""
    intake = Intake(ledger, archive, max_bytes=4)
    with pytest.raises(InvalidDocumentId):
        intake.accept("../a", data=b"x", source="s")
    with pytest.raises(TooLarge) as raised:
        intake.accept("a", data=b"12345", source="s")
    assert (raised.value.size, raised.value.limit) == (5, 4)
    assert raised.value.text("ja") != raised.value.text("en")
    for data, reference, action in ((None, None, "compile"), (b"x", None, "retire")):
        with pytest.raises(ValueError, match="retirement"):
            intake.accept("a", data=data, reference=reference, source="s", action=action)  # type: ignore[arg-type]
    assert list(archive.store.pointer_names("")) == []
    assert ledger.reserve("a", source="s").sequence == 1


def test_the_same_save_again_has_the_same_answer_and_no_second_job(ledger: Ledger, archive: Archive) -> None:
    """By key, by revision, before and after it was compiled."""
    first = put(ledger, archive, "x", revision="1", key="k")
    assert put(ledger, archive, "x", revision="1", key="k") == Accepted("repeated", first.job, 1)
    settle(ledger, archive)
    assert put(ledger, archive, "x", revision="1", key="other") == Accepted("repeated", first.job, 1)
    assert list(archive.store.pointer_names("save/")) == [f"save/{document_hash('a')}/000000000001"]
    assert ledger.claim() == []


def test_a_late_revision_is_superseded_and_has_its_outcome(ledger: Ledger, archive: Archive) -> None:
    """It is kept, but not compiled."""
    newest = put(ledger, archive, "new", revision="10", rank="10")
    late = put(ledger, archive, "old", revision="09", rank="09")
    outcome = archive.outcome("a", 2)
    assert (late.answer, outcome and outcome.status, outcome and outcome.job) == ("superseded", "superseded", late.job)
    assert [message.job for message in ledger.claim()] == [newest.job]


def test_a_revision_that_was_outrun_is_stored_again(ledger: Ledger, archive: Archive) -> None:
    """An older revision of its source was accepted between its reservation and its acceptance."""
    store, overtaking = archive.store, iter([True])
    set_pointer = store.set_pointer

    def overtaken(name: str, value: bytes, expected: bytes | None, *, lasting: bool = True) -> bool:
        if next(overtaking, False):
            put(ledger, archive, "old", revision="3", rank="3")
        return set_pointer(name, value, expected, lasting=lasting)

    store.set_pointer = overtaken  # type: ignore[method-assign]  # another process comes in between
    accepted = put(ledger, archive, "new", revision="5", rank="5", key="k")
    assert (accepted.answer, accepted.sequence) == ("accepted", 3)
    assert text_of_newest(ledger, archive) == "new"
    outcome = archive.outcome("a", 1)
    assert outcome is not None
    assert outcome.status == "superseded"
    assert put(ledger, archive, "new", revision="5", rank="5", key="k") == Accepted("repeated", accepted.job, 3)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("writes", range(2))
@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_process_may_die_at_any_write(redis: Redis, ledger: Ledger, writes: int, after: bool, rebuilt: bool) -> None:
    """The sender, who was told nothing, asks again: the save is accepted once, and nothing is left without an end."""
    store = MortalStore()
    archive = Archive(store)
    put(ledger, archive, "first", revision="1", key="k1")
    store.left, store.after = writes, after
    with pytest.raises(Died):
        put(ledger, archive, "second", revision="2", key="k2")
    store.left = -1
    if rebuilt:
        wipe(redis, ledger)
        reindex(ledger, archive)
    again = put(ledger, archive, "second", revision="2", key="k2")
    assert again.answer in (("accepted", "repeated") if rebuilt else ("accepted",))
    assert text_of_newest(ledger, archive) == "second"
    settle(ledger, archive)
    published = archive.published("a")
    assert published is not None
    assert published.job == again.job
    reindex(ledger, archive)
    saves = archive.stored("a")
    assert set(saves.outcomes) == set(saves.saves)
    assert Counter(outcome.status for outcome in saves.outcomes.values())["succeeded"] == 1


def test_a_process_may_die_between_the_store_and_the_ledger_and_before_it_answers(
    ledger: Ledger, archive: Archive
) -> None:
    """Stored and not accepted: a new sequence. Accepted and not answered: the same job."""
    dying = Intake(ledger, archive)
    accept = ledger.accept

    def die(before: bool) -> Callable[..., Accepted]:
        def dies(*args: object, **kwargs: object) -> Accepted:
            if not before:
                accept(*args, **kwargs)  # type: ignore[arg-type]  # as it was called
            raise Died

        return dies

    for before in (True, False):
        ledger.accept = die(before)  # type: ignore[method-assign]  # the process dies there
        with pytest.raises(Died):
            dying.accept("a", data=b"x", source="s", revision=f"{before}", idempotency_key=f"{before}")
    ledger.accept = accept  # type: ignore[method-assign]
    stored = put(ledger, archive, "x", revision="True", key="True")
    assert (stored.answer, stored.sequence) == ("accepted", 3)
    accepted = put(ledger, archive, "x", revision="False", key="False")
    save = archive.save("a", 2)
    assert save is not None
    assert accepted == Accepted("repeated", save.job, 2)


def test_saves_from_many_threads_have_one_order(redis: Redis, ledger: Ledger, tmp_path: Path) -> None:
    """Every answer is another sequence, every save is in the store, and the greatest accepted one is the newest."""

    def work(thread: int) -> list[Accepted]:
        with FileStore(tmp_path, max_bytes=None, durable=True) as store:
            intake = Intake(ledger, Archive(store))
            return [intake.accept("a", data=f"{thread} {n}".encode(), source="s") for n in range(12)]

    with ThreadPoolExecutor(8) as pool:
        answers = list(itertools.chain(*pool.map(work, range(8))))
    assert sorted(answer.sequence for answer in answers) == list(range(1, 97))
    with FileStore(tmp_path, max_bytes=None, durable=True) as store:
        archive = Archive(store)
        stored = archive.stored("a")
        assert {save.sequence: save.job for save in stored.saves.values()} == {
            answer.sequence: answer.job for answer in answers
        }
        document = ledger.document("a")
        assert document is not None
        assert document.sequence == 96
        settle(ledger, archive)
        ends = Counter(outcome.status for outcome in archive.stored("a").outcomes.values())
        assert ends == {"superseded": 95, "succeeded": 1}


def test_replays_from_many_threads_make_one_job(ledger: Ledger, tmp_path: Path) -> None:
    """All get the answer of the one that was first."""

    def work(_: int) -> Accepted:
        with FileStore(tmp_path, max_bytes=None, durable=True) as store:
            return Intake(ledger, Archive(store)).accept("a", data=b"x", source="s", idempotency_key="k")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(24)))
    assert Counter(answer.answer for answer in answers) == {"accepted": 1, "repeated": 23}
    assert len({(answer.job, answer.sequence) for answer in answers}) == 1
    assert len(ledger.claim()) == 1


def test_numbers_that_redis_forgot_are_not_used_twice(redis: Redis, ledger: Ledger, archive: Archive) -> None:
    """After a failover to a replica that lagged: the store knows better, and tells the ledger."""
    first = put(ledger, archive, "one", revision="1", key="k")
    put(ledger, archive, "two", revision="2")
    redis.delete(f"{ledger._prefix}:doc:a", f"{ledger._prefix}:once:k", f"{ledger._prefix}:due")
    redis.delete(*redis.scan_iter(f"{ledger._prefix}:job:*"))
    accepted = put(ledger, archive, "three", revision="3")
    assert (accepted.answer, accepted.sequence) == ("accepted", 3)
    assert put(ledger, archive, "one", key="k") == Accepted("repeated", first.job, 1)
    settle(ledger, archive)
    ends = {sequence: outcome.status for sequence, outcome in archive.stored("a").outcomes.items()}
    assert ends == {1: "superseded", 2: "superseded", 3: "succeeded"}


def test_nothing_is_accepted_without_a_ledger(redis: Redis, ledger: Ledger, archive: Archive) -> None:
    """Redis was wiped: the sender is told to come back, and nobody makes an empty ledger beside a full store."""
    put(ledger, archive, "one")
    wipe(redis, ledger)
    with pytest.raises(LedgerLost):
        put(ledger, archive, "two")
    with pytest.raises(LedgerLost):
        open_installation(ledger, archive)
    reindex(ledger, archive)
    open_installation(ledger, archive)
    assert put(ledger, archive, "two").sequence == 2


def test_a_new_installation_makes_its_ledger(redis: Redis) -> None:
    """Any number of processes at once; an empty store that has lost its Redis, too."""
    ledger, archive = Ledger(redis, f"test-{new_id()}"), Archive(MemoryStore())
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: open_installation(ledger, archive), range(16)))
    ledger.open()
    installation = archive.installation()
    wipe(redis, ledger)
    open_installation(ledger, archive)
    assert archive.installation() == installation


def test_a_damaged_record_stops_only_its_document(redis: Redis, ledger: Ledger, archive: Archive) -> None:
    """The ledger is rebuilt around it, and names it."""
    put(ledger, archive, "one")
    Intake(ledger, archive).accept("b", data=b"x", source="s")
    name = f"save/{document_hash('a')}/000000000001"
    archive.store.set_pointer(name, b"{", archive.store.get_pointer(name))
    wipe(redis, ledger)
    found = reindex(ledger, archive)
    assert (found.documents, found.jobs) == (2, 1)
    assert [text.partition(":")[0] for text in found.damaged] == [name]
    with pytest.raises(RecordCorrupt, match=name):
        put(ledger, archive, "two")
    assert ledger.document("b") is not None
