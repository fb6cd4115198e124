"""Given a store that grows, when what is old is collected, then nothing that anybody may still ask for is gone."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from catalog.load import load_catalog
from pipeline.compiler import Compiler, Input
from pipeline.generators.registry import default_registry
from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import Store
from tests.service.saving import publish, settle, wipe, work
from workers.archive import Archive, Stored
from workers.intake import Intake
from workers.ledger.ledger import Ledger, new_id
from workers.ledger.records import Lease, LedgerLost, Message
from workers.records import Outcome, Published, Save
from workers.reindex import reindex
from workers.retention import Collected, Policy, collect, forgettable

DAY_S = 86_400


class Clock:
    """Seconds since the epoch; `later` is how far ahead of the real one."""

    def __init__(self) -> None:
        self.later = 0.0

    def __call__(self) -> float:
        return time.time() + self.later

    @property
    def ms(self) -> int:
        return int(self() * 1_000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore(clock=clock)
        return
    with FileStore(tmp_path, max_bytes=None, durable=True, clock=clock) as opened:
        yield opened


def put(ledger: Ledger, store: Store, text: str, document: str = "a") -> str:
    return Intake(ledger, Archive(store)).accept(document, data=text.encode(), source="s").job


def gone(ledger: Ledger, store: Store, clock: Clock, newest: int = 1, days: int = 1) -> Collected:
    return collect(ledger, Archive(store), Policy(newest=newest, days=days), clock.ms)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_old_history_goes_and_what_is_published_stays(ledger: Ledger, store: Store, clock: Clock) -> None:
    """With its text; the rest of the document's life goes on as if nothing had happened."""
    for number in range(5):
        put(ledger, store, f"text {number}")
        settle(ledger, Archive(store))
    clock.later = 3 * DAY_S
    found = gone(ledger, store, clock, newest=2)
    assert (found.documents, found.saves, found.damaged) == (1, 3, ())
    archive = Archive(store)
    assert [save.sequence for save, _ in archive.history("a", 5, 9)] == [5, 4]
    assert [archive.text(digest(f"text {number}")) is not None for number in range(5)] == [False] * 3 + [True] * 2
    put(ledger, store, "next")
    settle(ledger, archive)
    published = archive.published("a")
    assert published is not None
    assert published.sequence == 6


def test_what_is_young_stays(ledger: Ledger, store: Store, clock: Clock) -> None:
    """By the policy's days, and by the grace, whatever the policy says."""
    for number in range(5):
        put(ledger, store, f"text {number}")
    settle(ledger, Archive(store))
    store.put_blob(b"not named yet")
    assert gone(ledger, store, clock, days=0).saves == 0
    clock.later = 3 * DAY_S
    assert gone(ledger, store, clock, days=7).saves == 0
    assert store.get_blob(digest("not named yet")) is None
    assert gone(ledger, store, clock, days=2).saves == 4


def test_what_jobs_need_stays(ledger: Ledger, store: Store, clock: Clock) -> None:
    """Waiting, running with what its stages handed on, dead; and the saves of all of them."""
    archive = Archive(store)
    ledger.timing = type(ledger.timing)(quiet=0, longest_wait=0, most_attempts=1, patience=-1)
    dead = put(ledger, store, "dead")
    ledger.claim()
    lease = ledger.begin(dead, "parse", "w")
    assert isinstance(lease, Lease)
    ledger.release(lease, "cause", 0)
    running = put(ledger, store, "running")
    ledger.claim()
    lease = ledger.begin(running, "parse", "w")
    assert isinstance(lease, Lease)
    handed = store.put_blob(b"handed on")
    ledger.advance(lease, "resolve", f'{{"handed":"{handed}"}}')
    put(ledger, store, "waiting")
    store.flush()
    clock.later = 40 * DAY_S
    assert gone(ledger, store, clock).saves == 0
    for text in ("dead", "running", "waiting", "handed on"):
        assert store.get_blob(digest(text)) is not None, text
    for sequence in (1, 2, 3):
        assert archive.save("a", sequence) is not None


def test_a_recompile_keeps_the_save_that_it_compiles(ledger: Ledger, store: Store, clock: Clock) -> None:
    """Though newer ones have been accepted meanwhile, and its own job has ended long ago."""
    ledger.timing = type(ledger.timing)(quiet=0, longest_wait=0, patience=-1)
    put(ledger, store, "first")
    settle(ledger, Archive(store))
    message = ledger.recompile("a")
    assert isinstance(message, Message)
    for _ in range(2):
        put(ledger, store, "newer")
        work(ledger, Archive(store), ledger.claim())
    clock.later = 3 * DAY_S
    assert gone(ledger, store, clock).saves == 1
    assert Archive(store).save("a", 1) is not None
    work(ledger, Archive(store), [message])
    assert gone(ledger, store, clock).saves == 1


def test_compiles_go_on_reusing_what_was_made(ledger: Ledger, store: Store, clock: Clock) -> None:
    """The records of living documents and what they name; those of documents that are no more go."""
    archive = Archive(store)
    compiler = Compiler(load_catalog(), store, default_registry().find())
    for document in ("a", "retired"):
        text = b"# AOP\n\n## 1. First\n\n[exa] reads.\n\n## 2. Second\n\nWrites.\n"
        compiler.compile(Input(document, text))
        put(ledger, store, text.decode(), document)
    settle(ledger, archive)
    Intake(ledger, archive).accept("retired", data=None, source="s", action="retire")
    settle(ledger, archive)
    store.flush()
    before = set(store.trace_keys())
    clock.later = 3 * DAY_S
    gone(ledger, store, clock)
    after = set(store.trace_keys())
    assert after < before
    again = compiler.compile(Input("a", text))
    assert {report.outcome for report in again.stages} == {"reused"}


def test_catalogs_go_a_day_after_the_last_one_named_them(ledger: Ledger, store: Store, clock: Clock) -> None:
    """A job may have taken one the moment before it was replaced, and note it only now."""
    for name in ("old", "current"):
        blob = store.put_blob(name.encode())
        record = f'{{"schema":1,"digest":"{digest(name)}","blob":"{blob}","loader":"1"}}'.encode()
        assert store.set_pointer(f"catalog/{digest(name)}", record, None)
        assert store.set_pointer("catalog/current", record, store.get_pointer("catalog/current"))
    clock.later = 5 * DAY_S
    assert gone(ledger, store, clock).catalogs == 0
    assert store.get_blob(digest("old")) is not None
    clock.later += DAY_S - 60
    assert gone(ledger, store, clock).catalogs == 0
    clock.later += 120
    assert gone(ledger, store, clock).catalogs == 1
    clock.later += 3 * DAY_S
    gone(ledger, store, clock)
    assert store.get_blob(digest("old")) is None
    assert store.get_blob(digest("current")) is not None
    assert set(store.pointer_names("catalog/")) == {"catalog/current", f"catalog/{digest('current')}"}


def test_nothing_goes_without_a_ledger(redis: Redis, ledger: Ledger, store: Store, clock: Clock) -> None:
    """Nobody knows what running jobs need."""
    put(ledger, store, "text")
    clock.later = 9 * DAY_S
    wipe(redis, ledger)
    with pytest.raises(LedgerLost):
        gone(ledger, store, clock)
    assert store.get_blob(digest("text")) is not None


def test_a_rebuilt_ledger_knows_the_same_after_a_collection(redis: Redis, ledger: Ledger, clock: Clock) -> None:
    """Whatever was removed: the order, and what is published."""
    store = MemoryStore(clock=clock)
    for number in range(30):
        put(ledger, store, f"{number}", document=f"d{number % 3}")
        settle(ledger, Archive(store))
    clock.later = 3 * DAY_S
    assert gone(ledger, store, clock).saves == 27
    before = {name: ledger.document(name) for name in ("d0", "d1", "d2")}
    wipe(redis, ledger)
    reindex(ledger, Archive(store))
    assert {name: ledger.document(name) for name in before} == before


@st.composite
def documents(draw: st.DrawFn) -> Stored:
    """Any history: saves with and without an outcome, removed ones, of any age."""
    saves: dict[int, Save] = {}
    outcomes: dict[int, Outcome] = {}
    for sequence in draw(st.sets(st.integers(1, 12), max_size=10)):
        at = draw(st.integers(0, 100)) * DAY_S * 1_000
        job = new_id()
        kind = draw(st.sampled_from(["save", "outcome", "both"]))
        if kind != "outcome":
            saves[sequence] = Save(document="a", sequence=sequence, source="s", job=job, received_ms=at)
        if kind != "save":
            outcomes[sequence] = Outcome(document="a", sequence=sequence, job=job, status="succeeded", at_ms=at)
    shown = draw(st.none() | st.sampled_from(sorted(outcomes))) if outcomes else None
    fields = {} if shown is None else outcomes[shown].model_dump(by_alias=False)
    return Stored("a", saves, outcomes, None if shown is None else Published(**fields))


@given(documents(), st.frozensets(st.integers(1, 12)), st.integers(0, 5), st.integers(0, 90))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_what_may_go_is_never_needed(stored: Stored, needed: frozenset[int], newest: int, days: int) -> None:
    """The newest, what is published, what has no outcome, what is young, and what jobs speak of all stay."""
    now = 100 * DAY_S * 1_000
    going = forgettable(stored, needed, Policy(newest=newest, days=days), now)
    everything = sorted({*stored.saves, *stored.outcomes}, reverse=True)
    assert not set(going) & {*needed, *everything[: max(1, newest)]}
    for sequence in going:
        assert sequence in stored.outcomes
        assert stored.published is None or stored.published.sequence != sequence
        save = stored.saves.get(sequence)
        came = stored.outcomes[sequence].at_ms if save is None else save.received_ms
        assert came < now - max(days, 1) * DAY_S * 1_000
    assert sorted(going) == going


def test_who_died_between_a_save_and_its_outcome_is_caught_up_with(ledger: Ledger, clock: Clock) -> None:
    """The outcome alone goes the next time."""
    store = MemoryStore(clock=clock)
    archive = Archive(store)
    for number in range(3):
        put(ledger, store, f"{number}")
        settle(ledger, archive)
    name = next(name for name in store.pointer_names("save/") if name.endswith("1"))
    store.delete_pointer(name, store.get_pointer(name) or b"")
    clock.later = 3 * DAY_S
    assert gone(ledger, store, clock).saves == 2
    assert len(list(store.pointer_names("outcome/"))) == 1


def test_publishing_beside_a_collection_loses_nothing(ledger: Ledger, clock: Clock) -> None:
    """A text that was saved long ago and forgotten is saved again while its blob is about to go."""
    store = MemoryStore(clock=clock)
    put(ledger, store, "the same")
    settle(ledger, Archive(store))
    for number in range(2):
        put(ledger, store, f"{number}")
        settle(ledger, Archive(store))
    clock.later = 3 * DAY_S
    sweep = store.sweep

    def meanwhile(*args: object, **kwargs: object) -> object:
        job = ledger.job(put(ledger, store, "the same"))
        assert job is not None
        publish(Archive(store), job)
        return sweep(*args, **kwargs)  # type: ignore[arg-type]  # as it was called

    store.sweep = meanwhile  # type: ignore[method-assign, assignment]  # a save comes in between
    assert gone(ledger, store, clock).saves == 2
    assert store.get_blob(digest("the same")) is not None
