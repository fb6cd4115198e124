"""What every store promises (`pipeline/stores/protocol.py`), and nothing that only some of them do."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.stores.protocol import TRACES_PER_KEY, Store, StoreStats

from .backends import BACKENDS, Clock, Open

ABSENT = hashlib.sha256(b"never stored").hexdigest()
NOTHING = StoreStats(0, 0, 0, 0, 0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=BACKENDS)
def open_store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Open:
    return BACKENDS[request.param](tmp_path, clock)


@pytest.fixture
def store(open_store: Open) -> Store:
    return open_store()


# --------------------------------------------------------------------------------------------------- blobs


def test_a_blob_is_found_under_the_sha256_of_its_bytes(store: Store) -> None:
    """The digest is the only name a blob has."""
    digest = store.put_blob("本文\n".encode())
    assert digest == hashlib.sha256("本文\n".encode()).hexdigest()
    assert store.get_blob(digest) == "本文\n".encode()


def test_an_absent_blob_is_none(store: Store) -> None:
    """A miss is no error."""
    assert store.get_blob(ABSENT) is None


@pytest.mark.parametrize(
    "data", [b"", b"\0", bytes(range(256)), b"\xff" * 5_000_000], ids=["empty", "nul", "all", "5 MB"]
)
def test_any_bytes_come_back_as_they_were(open_store: Open, data: bytes) -> None:
    """Also zero bytes and five million of them, from the instance that wrote them and from the next one."""
    with open_store() as store:
        digest = store.put_blob(data)
        assert store.get_blob(digest) == data
    assert open_store().get_blob(digest) == data


def test_a_blob_that_is_put_twice_is_stored_once(store: Store) -> None:
    """Whether the first one had been flushed or not."""
    first = store.put_blob(b"same")
    second = store.put_blob(b"same")
    store.flush()
    third = store.put_blob(b"same")
    assert first == second == third
    assert store.stats() == StoreStats(1, 4, 0, 0, 0)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 16, 17, 199, 200, 201, 401])
def test_many_blobs_are_read_at_once(open_store: Open, count: int) -> None:
    """In the order asked; absent ones are left out, and it makes no difference what has been flushed."""
    store = open_store()
    data = {hashlib.sha256(b"%d" % i).hexdigest(): b"%d" % i for i in range(count)}
    for i, blob in enumerate(data.values()):
        store.put_blob(blob)
        if i == count // 2:
            store.flush()
    assert list(store.get_blobs([ABSENT, *reversed(data)]).items()) == list(reversed(data.items()))
    store.flush()
    assert open_store().get_blobs([ABSENT, *data, *data]) == data


@pytest.mark.parametrize(
    "digest", ["", "abc", "A" * 64, "g" * 64, "0" * 63, "0" * 65, "0" * 64 + "\n", "../" + "0" * 61]
)
def test_what_is_no_digest_is_refused(store: Store, digest: str) -> None:
    """A slip of the caller is not a miss."""
    with pytest.raises(ValueError, match="not a digest"):
        store.get_blob(digest)
    with pytest.raises(ValueError, match="not a digest"):
        store.get_blobs([ABSENT, digest])


# -------------------------------------------------------------------------------------------------- traces


def test_a_key_without_traces_has_none(store: Store) -> None:
    """A miss is an empty list, and is left out of many."""
    assert store.get_traces("absent") == []
    assert store.get_traces_many(["absent"]) == {}


@pytest.mark.parametrize("flushed", [True, False])
def test_traces_come_newest_first(open_store: Open, flushed: bool) -> None:
    """The next reader tries the most recent run first."""
    store = open_store()
    for trace in (b"one", b"two", b"", b"three"):
        store.add_trace("key", trace)
        if flushed:
            store.flush()
    assert store.get_traces("key") == [b"three", b"", b"two", b"one"]
    store.flush()
    assert open_store().get_traces("key") == [b"three", b"", b"two", b"one"]


@pytest.mark.parametrize("flushed", [True, False])
@pytest.mark.parametrize("again", [b"one", b"two", b"three"])
def test_an_equal_trace_only_changes_its_rank(open_store: Open, flushed: bool, again: bytes) -> None:
    """It becomes the newest and exists once."""
    store = open_store()
    for trace in (b"one", b"two", b"three"):
        store.add_trace("key", trace)
    if flushed:
        store.flush()
    store.add_trace("key", again)
    expected = [again, *(trace for trace in (b"three", b"two", b"one") if trace != again)]
    assert store.get_traces("key") == expected
    store.flush()
    assert open_store().get_traces("key") == expected
    assert store.stats().traces == 3


@pytest.mark.parametrize("flush_after", [0, 1, 5, TRACES_PER_KEY, TRACES_PER_KEY + 3])
def test_a_key_keeps_its_newest_traces(open_store: Open, flush_after: int) -> None:
    """However they were gathered, no more than `TRACES_PER_KEY` remain, and other keys are not affected."""
    store = open_store()
    store.add_trace("other", b"0")
    added = [b"%d" % i for i in range(2 * TRACES_PER_KEY + 1)]
    for i, trace in enumerate(added):
        store.add_trace("key", trace)
        if i + 1 == flush_after:
            store.flush()
    kept = added[: -TRACES_PER_KEY - 1 : -1]
    assert store.get_traces("key") == kept
    store.flush()
    assert open_store().get_traces_many(["key", "other"]) == {"key": kept, "other": [b"0"]}
    assert store.stats().traces == TRACES_PER_KEY + 1


def test_traces_of_many_keys_are_read_at_once(open_store: Open) -> None:
    """As with the keys one by one, flushed or not."""
    store = open_store()
    expected = {}
    for i in range(220):
        store.add_trace(f"key-{i}", b"older %d" % i)
        store.add_trace(f"key-{i}", b"newer %d" % i)
        expected[f"key-{i}"] = [b"newer %d" % i, b"older %d" % i]
        if i == 110:
            store.flush()
    assert store.get_traces_many(["absent", *expected]) == expected
    store.flush()
    assert open_store().get_traces_many([*expected, "absent"]) == expected


def test_instances_add_to_the_same_key(open_store: Open) -> None:
    """Two compiles at once record their runs side by side; the one that is flushed last is the newest."""
    first, second = open_store(), open_store()
    first.add_trace("key", b"first")
    first.flush()
    second.add_trace("key", b"second")
    second.flush()
    assert open_store().get_traces("key") == [b"second", b"first"]


# ------------------------------------------------------------------------------------------------ pointers


def test_a_pointer_is_set_where_none_was(store: Store) -> None:
    """`expected` None means absent, before and after."""
    assert store.get_pointer("last") is None
    assert store.set_pointer("last", b"1", None)
    assert store.get_pointer("last") == b"1"
    assert not store.set_pointer("last", b"2", None)
    assert store.get_pointer("last") == b"1"


def test_a_pointer_moves_only_from_what_was_expected(store: Store) -> None:
    """Compare-and-set; an empty value is not an absent one."""
    assert store.set_pointer("last", b"", None)
    assert not store.set_pointer("last", b"2", None)
    assert not store.set_pointer("last", b"2", b"1")
    assert store.set_pointer("last", b"2", b"")
    assert store.set_pointer("last", b"2", b"2")
    assert store.get_pointer("last") == b"2"


def test_of_two_instances_one_moves_the_pointer(open_store: Open) -> None:
    """At once: nothing has to be flushed in between."""
    first, second = open_store(), open_store()
    assert first.set_pointer("last", b"first", None)
    assert second.get_pointer("last") == b"first"
    assert not second.set_pointer("last", b"second", None)
    assert second.set_pointer("last", b"second", b"first")
    assert first.get_pointer("last") == b"second"


def test_nobody_sees_a_pointer_before_what_it_points_to(open_store: Open) -> None:
    """What the instance wrote before it moved the pointer is visible with it."""
    writer, reader = open_store(), open_store()
    digest = writer.put_blob(b"artifact")
    writer.add_trace("key", b"trace")
    writer.set_pointer("last", digest.encode(), None)
    seen = reader.get_pointer("last")
    assert seen is not None
    assert reader.get_blob(seen.decode()) == b"artifact"
    assert reader.get_traces("key") == [b"trace"]


@pytest.mark.parametrize("count", [0, 1, 3, 16, 300])
def test_many_pointers_are_read_at_once(store: Store, count: int) -> None:
    """Absent ones are left out."""
    expected = {f"last:{i}": b"%d" % i for i in range(count)}
    for name, value in expected.items():
        assert store.set_pointer(name, value, None)
    assert store.get_pointers([*expected, "absent"]) == expected


def test_a_deleted_pointer_is_absent(open_store: Open) -> None:
    """For everybody, one by one, among many, and where names are listed or counted; and it can be set again."""
    store, other = open_store(), open_store()
    for name, value in (("a", b""), ("b", b"2")):
        assert store.set_pointer(name, value, None)
    assert not store.delete_pointer("a", b"2")
    assert store.delete_pointer("a", b"")
    assert not store.delete_pointer("a", b"")
    for reader in (store, other, open_store()):
        assert reader.get_pointer("a") is None
        assert reader.get_pointers(["a", "b"]) == {"b": b"2"}
        assert list(reader.pointer_names("")) == ["b"]
        assert reader.stats().pointers == 1
    assert not other.set_pointer("a", b"3", b"")
    assert other.set_pointer("a", b"3", None)
    assert not store.set_pointer("a", b"4", None)
    assert store.get_pointer("a") == b"3"
    assert store.delete_pointer("a", b"3")


def test_of_two_instances_one_deletes_the_pointer(open_store: Open) -> None:
    """What either has read before makes no difference."""
    first, second = open_store(), open_store()
    first.set_pointer("last", b"1", None)
    assert second.get_pointer("last") == b"1"
    assert first.set_pointer("last", b"2", b"1")
    assert not second.delete_pointer("last", b"1")
    assert second.delete_pointer("last", b"2")
    assert not first.set_pointer("last", b"3", b"2")
    assert not first.delete_pointer("last", b"2")


def test_a_pointer_that_was_moved_away_and_back_is_as_expected(open_store: Open) -> None:
    """Only its value counts, whoever wrote it and how often."""
    first, second = open_store(), open_store()
    first.set_pointer("last", b"1", None)
    for value, expected in ((b"2", b"1"), (b"1", b"2")):
        assert second.set_pointer("last", value, expected)
    assert first.set_pointer("last", b"3", b"1")
    assert second.delete_pointer("last", b"3")
    assert second.set_pointer("last", b"3", None)
    assert first.set_pointer("last", b"4", b"3")


def test_names_of_pointers_are_listed_by_their_beginning(open_store: Open) -> None:
    """All of them, also beyond one page, by a prefix that is compared as it is."""
    store = open_store()
    wanted = {f"save/{i:04}" for i in range(1203)}
    others = {"save", "saved", "SAVE/1", "a.b/c", "..", "save.", "x%2Fy", "~"}
    store.set_pointer("save/gone", b"", None)
    for name in (*wanted, *others):
        assert store.set_pointer(name, b"", None)
    store.delete_pointer("save/gone", b"")
    reader = open_store()
    assert sorted(reader.pointer_names("save/")) == sorted(wanted)
    assert sorted(reader.pointer_names("")) == sorted(wanted | others)
    assert list(reader.pointer_names("a.b")) == ["a.b/c"]
    assert list(reader.pointer_names("x%2F")) == ["x%2Fy"]
    assert list(reader.pointer_names("never")) == []


# ---------------------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize("key", ["a", "0" * 64, "last:weekly.md", "A/b.c_d-e@f=1,2;~!", "..", "x" * 200])
def test_keys_are_short_ascii_names(store: Store, key: str) -> None:
    """The same name can be a trace's key and a pointer's name."""
    store.add_trace(key, b"trace")
    assert store.set_pointer(key, b"pointer", None)
    store.flush()
    assert store.get_traces(key) == [b"trace"]
    assert store.get_pointer(key) == b"pointer"


def test_keys_differ_in_case_and_prefix(store: Store) -> None:
    """Keys are compared as they are."""
    for key in ("key", "KEY", "key1", "key/", "ke"):
        store.add_trace(key, key.encode())
        store.set_pointer(key, key.encode(), None)
    store.flush()
    for key in ("key", "KEY", "key1", "key/", "ke"):
        assert store.get_traces(key) == [key.encode()]
        assert store.get_pointer(key) == key.encode()


@pytest.mark.parametrize("key", ["", "a b", "a\n", "\t", "\0", "\x7f", "週次", "é", "\ud800", "x" * 201])
@pytest.mark.parametrize(
    "use",
    [
        lambda store, key: store.get_traces(key),
        lambda store, key: store.get_traces_many(["fine", key]),
        lambda store, key: store.add_trace(key, b""),
        lambda store, key: store.get_pointer(key),
        lambda store, key: store.get_pointers(["fine", key]),
        lambda store, key: store.set_pointer(key, b"", None),
        lambda store, key: store.delete_pointer(key, b""),
        lambda store, key: [*store.pointer_names(key)] if key else store.get_pointer(key),
    ],
    ids=[
        "get_traces",
        "get_traces_many",
        "add_trace",
        "get_pointer",
        "get_pointers",
        "set_pointer",
        "delete_pointer",
        "pointer_names",
    ],
)
def test_other_keys_are_refused(store: Store, key: str, use: Callable[[Store, str], object]) -> None:
    """So that every kind of store can keep them, and nothing is stored."""
    with pytest.raises(ValueError, match="not a key"):
        use(store, key)
    assert store.stats() == NOTHING


# ------------------------------------------------------------------------------------- flush, close, upkeep


def test_what_was_flushed_is_seen_by_others(open_store: Open) -> None:
    """Another instance need not be opened anew for it."""
    writer, reader = open_store(), open_store()
    digest = writer.put_blob(b"data")
    writer.add_trace("key", b"trace")
    writer.flush()
    assert reader.get_blob(digest) == b"data"
    assert reader.get_traces("key") == [b"trace"]


def test_closing_flushes(open_store: Open) -> None:
    """And closing again does nothing."""
    store = open_store()
    digest = store.put_blob(b"data")
    store.close()
    store.close()
    assert open_store().get_blob(digest) == b"data"


def test_what_was_done_before_an_error_is_kept(open_store: Open) -> None:
    """The error passes through, and the work of the stages that ran before it is not lost."""
    digest = ""
    with pytest.raises(ZeroDivisionError), open_store() as store:
        digest = store.put_blob(b"data")
        raise ZeroDivisionError
    assert open_store().get_blob(digest) == b"data"


def test_stats_count_content(store: Store) -> None:
    """What has just been written counts as well."""
    assert store.stats() == NOTHING
    store.put_blob(b"")
    store.put_blob(b"12345")
    store.add_trace("a", b"123")
    store.add_trace("b", b"123")
    store.set_pointer("last", b"1", None)
    assert store.stats() == StoreStats(blobs=2, blob_bytes=5, traces=2, trace_bytes=6, pointers=1)


def fill(store: Store) -> list[str]:
    digests = [store.put_blob(b"%d" % i * 100) for i in range(20)]
    for i in range(20):
        store.add_trace(f"key-{i}", b"%d" % i * 50)
    store.set_pointer("last", b"1", None)
    return digests


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_pruning_leaves_at_most_what_was_allowed(open_store: Open, share: float) -> None:
    """It says what it dropped, drops no pointer, and what it dropped is gone for everybody."""
    store = open_store()
    digests = fill(store)
    before = store.stats()
    allowed = int((before.blob_bytes + before.trace_bytes) * share)
    dropped = store.prune(allowed)
    after = store.stats()
    assert after.blob_bytes + after.trace_bytes <= allowed
    assert dropped == StoreStats(
        before.blobs - after.blobs,
        before.blob_bytes - after.blob_bytes,
        before.traces - after.traces,
        before.trace_bytes - after.trace_bytes,
        0,
    )
    assert after.pointers == 1
    other = open_store()
    assert len(other.get_blobs(digests)) == after.blobs
    assert len(other.get_traces_many([f"key-{i}" for i in range(20)])) == after.traces


def test_pruning_drops_no_more_than_it_must(store: Store) -> None:
    """What fits stays."""
    fill(store)
    before = store.stats()
    assert store.prune(before.blob_bytes + before.trace_bytes) == NOTHING
    assert store.stats() == before


def test_what_was_pruned_can_be_stored_again(store: Store) -> None:
    """Pruning leaves no mark."""
    digests = fill(store)
    store.prune(0)
    assert store.get_blobs(digests) == {}
    assert fill(store) == digests
    assert store.stats().blobs == store.stats().traces == 20


HOUR = 3600.0
DAYS = 3 * 24 * HOUR


def test_sweeping_drops_what_is_old_and_not_kept(open_store: Open, clock: Clock) -> None:
    """It says what it dropped; traces stay unless it is said which are kept, and pointers always."""
    store = open_store()
    digests = fill(store)
    before = store.stats()
    clock.ahead = DAYS
    assert store.sweep(set(digests), HOUR) == NOTHING
    gone = store.sweep({digests[3]}, HOUR)
    assert gone == StoreStats(19, before.blob_bytes - 100, 0, 0, 0)
    assert store.get_blobs(digests) == {digests[3]: b"3" * 100}
    gone = store.sweep({digests[3]}, HOUR, {"key-1", "key-19"})
    assert (gone.blobs, gone.traces, gone.trace_bytes) == (0, 18, before.trace_bytes - 150)
    other = open_store()
    assert sorted(other.trace_keys()) == ["key-1", "key-19"]
    assert other.get_traces("key-19") == [b"19" * 50]
    assert other.get_pointer("last") == b"1"
    assert other.stats() == StoreStats(1, 100, 2, 150, 1)


def test_sweeping_leaves_what_is_young(open_store: Open, clock: Clock) -> None:
    """Whether it was flushed or not: who stores something names it only afterwards."""
    store = open_store()
    digests = fill(store)
    assert store.sweep(set(), HOUR, set()) == NOTHING
    store.flush()
    assert open_store().sweep(set(), HOUR, set()) == NOTHING
    assert len(store.get_blobs(digests)) == 20


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "s3"])  # its server has its own clock
def test_what_is_stored_again_is_young_again(tmp_path: Path, clock: Clock, backend: str) -> None:
    """Although it was there all the time, and nobody keeps it yet."""
    open_store = BACKENDS[backend](tmp_path, clock)
    old = open_store()
    digests = fill(old)
    old.flush()
    clock.ahead = DAYS
    store = open_store()
    assert store.put_blob(b"7" * 100) == digests[7]
    store.add_trace("key-7", b"newer")
    store.flush()
    gone = open_store().sweep(set(), HOUR, set())
    assert (gone.blobs, gone.traces) == (19, 20)
    assert store.get_blobs(digests) == {digests[7]: b"7" * 100}
    assert store.get_traces("key-7") == [b"newer"]


def test_what_was_swept_can_be_stored_again(open_store: Open, clock: Clock) -> None:
    """Sweeping leaves no mark, also not on instances that know what was there."""
    store = open_store()
    digests = fill(store)
    clock.ahead = DAYS
    open_store().sweep(set(), 0.0, set())
    store.flush()
    clock.ahead = 2 * DAYS
    open_store().sweep(set(), 0.0, set())
    assert store.get_blobs(digests) == {}
    assert [store.put_blob(b"%d" % i * 100) for i in range(20)] == digests
    store.flush()
    assert open_store().stats().blobs == 20


def test_keys_of_traces_are_listed(open_store: Open) -> None:
    """Each once, also those that were just written and beyond one page."""
    store = open_store()
    assert list(store.trace_keys()) == []
    keys = {f"key/{i}" for i in range(1203)}
    for key in keys:
        store.add_trace(key, b"1")
    store.add_trace("key/7", b"2")
    listed = list(store.trace_keys())
    assert len(listed) == 1203
    assert set(listed) == keys


def test_threads_share_a_store(open_store: Open) -> None:
    """Each with an instance of its own: no write is lost, and a counter moved by compare-and-set counts every step."""

    def work(number: int) -> None:
        with open_store() as store:
            for step in range(25):
                store.put_blob(b"%d %d" % (number, step))
                store.add_trace(f"key-{number}-{step}", b"trace")
                while True:
                    seen = store.get_pointer("counter")
                    if store.set_pointer("counter", b"%d" % (int(seen or b"0") + 1), seen):
                        break

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    store = open_store()
    assert store.get_pointer("counter") == b"100"
    assert (store.stats().blobs, store.stats().traces) == (100, 100)
