"""A damaged file store: whatever is in its files, nothing wrong is read, nothing crashes, it can be written again."""

from __future__ import annotations

import functools
import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.stores.files import FileStore
from pipeline.stores.protocol import DamagedBlob
from pipeline.stores.tables import PAGE

BLOBS = [b"%d" % i * size for i, size in enumerate([0, 1, 100, 3000, 9000, 70_000] * 4)]
TRACES = {f"key-{i}": [b"newer %d " % i * 90, b"older %d " % i * 90] for i in range(20)}
POINTERS = {f"last:{i}": b"%d" % i * 700 for i in range(20)}
SOURCE = Path("store-v1-1.db")


@functools.cache
def sound() -> tuple[dict[str, bytes], bytes]:
    """The blobs by digest, and the file of a store that holds all of the above."""
    with tempfile.TemporaryDirectory() as folder:
        with FileStore(Path(folder)) as store:
            blobs = {store.put_blob(data): data for data in BLOBS}
            for key, traces in TRACES.items():
                for trace in reversed(traces):
                    store.add_trace(key, trace)
            for name, value in POINTERS.items():
                store.set_pointer(name, value, None)
        return blobs, store.path.read_bytes()


def noise(size: int) -> bytes:
    return hashlib.shake_256(b"noise").digest(size)


@contextmanager
def store_with(content: bytes) -> Iterator[FileStore]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / SOURCE).write_bytes(content)
        with FileStore(Path(folder)) as store:
            yield store


def check_nothing_wrong_is_read(store: FileStore) -> None:
    """Reads everything, all at once and one by one: what comes back is what was written, or nothing."""
    blobs, _ = sound()
    assert store.get_blobs(blobs).items() <= blobs.items()
    for digest, data in blobs.items():
        try:
            assert store.get_blob(digest) in (data, None)
        except DamagedBlob:
            assert store.get_blob(digest) is None
    for key, traces in store.get_traces_many(TRACES).items():
        assert set(traces) <= set(TRACES[key])
    assert store.get_pointers(POINTERS).items() <= POINTERS.items()


def write_everything(store: FileStore) -> None:
    for data in sound()[0].values():
        store.put_blob(data)
    for key, traces in TRACES.items():
        for trace in reversed(traces):
            store.add_trace(key, trace)
    for name, value in POINTERS.items():
        store.set_pointer(name, value, store.get_pointer(name))
    store.flush()


def check_it_can_be_written(store: FileStore) -> None:
    """Compiling again restores everything; or once or twice more, if only that shows what must be set aside."""
    wanted = (sound()[0], TRACES, POINTERS)
    for _ in range(3):
        write_everything(store)
        seen = (store.get_blobs(wanted[0]), store.get_traces_many(TRACES), store.get_pointers(POINTERS))
        if seen == wanted:
            break
    assert seen == wanted


# -------------------------------------------------------------------------------------------------- whole files


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=8))
def test_flipped_bytes(flips: list[tuple[float, int]]) -> None:
    """Anywhere in the file, header, tree pages and content alike."""
    content = bytearray(sound()[1])
    for where, mask in flips:
        content[int(where * len(content))] ^= mask
    with store_with(bytes(content)) as store:
        check_nothing_wrong_is_read(store)
        check_it_can_be_written(store)


@given(st.integers(0, PAGE - 1), st.integers(1, 255), st.integers(0, 15))
def test_flipped_bytes_in_one_of_the_first_pages(offset: int, mask: int, page: int) -> None:
    """Where the tables' roots are, a single byte does most harm."""
    content = bytearray(sound()[1])
    content[page * PAGE + offset] ^= mask
    with store_with(bytes(content)) as store:
        check_nothing_wrong_is_read(store)
        check_it_can_be_written(store)


@given(st.floats(0, 1, exclude_max=True))
def test_a_truncated_file(share: float) -> None:
    """To any length, nothing included."""
    content = sound()[1]
    with store_with(content[: int(share * len(content))]) as store:
        check_nothing_wrong_is_read(store)
        check_it_can_be_written(store)


@given(
    st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from(["zero", "noise", "copy"])), min_size=1, max_size=4
    )
)
def test_overwritten_pages(damages: list[tuple[float, str]]) -> None:
    """Zeroed, filled with noise, or replaced by another page of the same file."""
    content = bytearray(sound()[1])
    for where, kind in damages:
        at = int(where * len(content)) // PAGE * PAGE
        other = (len(content) - at) // PAGE * PAGE // 2
        page = {"zero": bytes(PAGE), "noise": noise(PAGE), "copy": bytes(content[other : other + PAGE])}[kind]
        content[at : at + PAGE] = page
    with store_with(bytes(content)) as store:
        check_nothing_wrong_is_read(store)
        check_it_can_be_written(store)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * PAGE,
        b"not a database, but text\n" * 1000,
        b"SQLite format 3\0" + b"\xff" * 8176,
        noise(100_000),
    ],
    ids=["empty", "zeros", "text", "header", "noise"],
)
def test_what_is_no_database_is_set_aside(content: bytes) -> None:
    """It is kept for a look, a new store is begun, and there is a sentence about it to show."""
    with store_with(content) as store:
        assert store.stats().blobs == 0
        check_it_can_be_written(store)
        (note,) = store.notes
        assert str(SOURCE) in str(note)
        assert "a new cache was begun" in str(note)
        assert store.path.name == "store-v1-2.db"
        assert (store.folder / SOURCE).read_bytes() == content


def of_version(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


def test_the_store_of_another_version_is_not_called_damaged(tmp_path: Path) -> None:
    """Nobody is told to delete it, and it stays as it is, however many damaged ones follow."""
    (tmp_path / SOURCE).write_bytes(sound()[1])
    of_version(tmp_path / SOURCE, 99)
    before = (tmp_path / SOURCE).read_bytes()
    with FileStore(tmp_path) as store:
        (note,) = store.notes
        check_it_can_be_written(store)
    assert note.fault == "other-version"
    for sentence in (note.text("ja"), note.text("en")):
        assert str(tmp_path / SOURCE) in sentence
        assert "schema version 99" in sentence
    assert "Keep the file" in note.text("en")
    assert "消さないで" in note.text("ja")
    assert "壊れ" not in note.text("ja")
    assert "damaged" not in note.text("en")
    for _ in range(4):
        store.path.write_bytes(b"garbage")
        with FileStore(tmp_path) as store:
            assert [note.fault for note in store.notes] == ["set-aside"]
    assert (tmp_path / SOURCE).read_bytes() == before
    names = sorted(path.name for path in tmp_path.glob("store*"))
    assert names == ["store-v1-1.db", "store-v1-5.db", "store-v1-6.db"]


@pytest.mark.parametrize("version", [0, -1])
def test_a_version_that_none_ever_had_is_damage(tmp_path: Path, version: int) -> None:
    """A database has its version from the beginning."""
    (tmp_path / SOURCE).write_bytes(sound()[1])
    of_version(tmp_path / SOURCE, version)
    with FileStore(tmp_path) as store:
        assert [note.fault for note in store.notes] == ["set-aside"]


def test_damage_that_shows_while_the_store_is_open(tmp_path: Path) -> None:
    """Also what had been gathered and not yet flushed survives: it goes into the new store."""
    (tmp_path / SOURCE).write_bytes(sound()[1])
    store = FileStore(tmp_path)
    gathered = store.put_blob(b"gathered")
    with (tmp_path / SOURCE).open("r+b") as file:
        file.write(b"\xff" * len(sound()[1]))
    store.flush()
    check_nothing_wrong_is_read(store)
    assert store.get_blob(gathered) == b"gathered"
    assert len(store.notes) == 1
    store.close()
    with FileStore(tmp_path) as again:
        assert again.notes == []
        assert again.get_blob(gathered) == b"gathered"


def test_everybody_moves_to_the_same_new_store(tmp_path: Path) -> None:
    """Two instances that meet the same damage do not begin two stores."""
    (tmp_path / SOURCE).write_bytes(sound()[1])
    first, second = FileStore(tmp_path), FileStore(tmp_path)
    with (tmp_path / SOURCE).open("r+b") as file:
        file.write(b"\xff" * len(sound()[1]))
    assert first.set_pointer("new", b"first", None)
    assert not second.set_pointer("new", b"second", None)
    assert first.path == second.path == tmp_path / "store-v1-2.db"
    first.close()
    second.close()


def test_damaged_files_do_not_pile_up(tmp_path: Path) -> None:
    """However often it happens, the last damaged one is kept and no more."""
    for _ in range(6):
        with FileStore(tmp_path) as store:
            store.put_blob(b"data")
        store.path.write_bytes(b"garbage")
    with FileStore(tmp_path) as store:
        store.put_blob(b"data")
    assert sorted(path.name for path in tmp_path.glob("store*")) == ["store-v1-6.db", "store-v1-7.db"]


@pytest.mark.parametrize("companion", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("content", [b"", b"garbage", b"\0" * 100_000, noise(100_000)])
def test_garbage_in_place_of_a_log(companion: str, content: bytes) -> None:
    """A log that is none changes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / SOURCE).write_bytes(sound()[1])
        (Path(folder) / f"{SOURCE}{companion}").write_bytes(content)
        with FileStore(Path(folder)) as store:
            assert store.get_blobs(sound()[0]) == sound()[0]
            check_it_can_be_written(store)
            assert store.notes == []


@given(st.floats(0, 1, exclude_max=True), st.one_of(st.none(), st.integers(1, 255)))
def test_a_damaged_log(where: float, mask: int | None) -> None:
    """A byte of the write-ahead log is flipped, or the log cut there: only what came before is seen, and all of it."""
    with tempfile.TemporaryDirectory() as folder:
        live, copy = Path(folder) / "live", Path(folder) / "copy"
        with FileStore(live) as store:
            for i, data in enumerate(BLOBS):
                store.put_blob(data)
                assert store.set_pointer(f"last:{i}", b"%d" % i, None)
            shutil.copytree(live, copy)
        log = copy / f"{SOURCE}-wal"
        content = bytearray(log.read_bytes())
        at = int(where * len(content))
        if mask is None:
            del content[at:]
        else:
            content[at] ^= mask
        log.write_bytes(content)
        with FileStore(copy) as store:
            seen = store.get_pointers(f"last:{i}" for i in range(len(BLOBS)))
            assert seen == {f"last:{i}": b"%d" % i for i in range(len(seen))}
            digests = [digest for digest, data in sound()[0].items() if BLOBS.index(data) < len(seen)]
            assert len(store.get_blobs(digests)) == len(digests)


# ---------------------------------------------------------------------------------------------------- one entry


BLOB = next(digest for digest, data in sound()[0].items() if len(data) == 3000)
OTHER = next(digest for digest, data in sound()[0].items() if len(data) == 9000)
NAMES = {"blob": bytes.fromhex(BLOB), "other": bytes.fromhex(OTHER), "key": b"key-1", "pointer": b"last:1"}
FLIPPED = "UPDATE content SET data = x'00' || substr(data, 2) WHERE id = (SELECT id FROM blob WHERE digest = :blob)"
SHORTENED = "UPDATE content SET data = x'00' WHERE id = (SELECT id FROM blob WHERE digest = :blob)"
LOST = "DELETE FROM content WHERE id = (SELECT id FROM blob WHERE digest = :blob)"


@contextmanager
def tampered(*statements: str) -> Iterator[FileStore]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / SOURCE).write_bytes(sound()[1])
        with closing(sqlite3.connect(Path(folder) / SOURCE)) as connection:
            for statement in statements:
                assert connection.execute(statement, NAMES).rowcount != 0
            connection.commit()
        with FileStore(Path(folder)) as store:
            yield store


@pytest.mark.parametrize(
    "statement",
    [
        FLIPPED,
        SHORTENED,
        "UPDATE content SET data = substr(data, 2) WHERE id = (SELECT id FROM blob WHERE digest = :blob)",
        "UPDATE content SET data = x'' WHERE id = (SELECT id FROM blob WHERE digest = :blob)",
        "UPDATE content SET data = 42 WHERE id = (SELECT id FROM blob WHERE digest = :blob)",
        "UPDATE content SET data = 'text' WHERE id = (SELECT id FROM blob WHERE digest = :blob)",
        LOST,
        "UPDATE blob SET id = (SELECT id FROM blob WHERE digest = :other) WHERE digest = :blob",
        "UPDATE blob SET id = 1 << 62 WHERE digest = :blob",
    ],
    ids=["byte", "short", "length", "empty", "number", "text", "lost", "another's", "dangling"],
)
def test_a_damaged_blob_is_reported_once_and_dropped(statement: str) -> None:
    """Many at once leave it out, one by one says that it is damaged; then it is absent, and stored anew."""
    blobs, _ = sound()
    with tampered(statement) as store:
        assert BLOB not in store.get_blobs(blobs)
        assert len(store.get_blobs(blobs)) == len(blobs) - 1
        with pytest.raises(DamagedBlob) as caught:
            store.get_blob(BLOB)
        assert caught.value.digest == BLOB
        assert BLOB in str(caught.value)
        assert store.get_blob(BLOB) is None
        store.flush()
        assert store.get_blob(BLOB) is None
        assert store.put_blob(blobs[BLOB]) == BLOB
        store.flush()
        assert store.get_blob(BLOB) == blobs[BLOB]
        assert store.notes == []


def test_a_dropped_blob_that_another_restores_stays(tmp_path: Path) -> None:
    """Dropping is by row: an instance that saw the damage does not drop what somebody else stored since."""
    blobs, content = sound()
    (tmp_path / SOURCE).write_bytes(content)
    with closing(sqlite3.connect(tmp_path / SOURCE)) as connection, connection:
        connection.execute(SHORTENED, NAMES)
    first, second = FileStore(tmp_path), FileStore(tmp_path)
    for store in (first, second):
        with pytest.raises(DamagedBlob):
            store.get_blob(BLOB)
    second.put_blob(blobs[BLOB])
    second.close()
    assert first.get_blob(BLOB) == blobs[BLOB]
    first.close()
    assert FileStore(tmp_path).get_blob(BLOB) == blobs[BLOB]


@pytest.mark.parametrize("statement", [FLIPPED, SHORTENED, LOST])
def test_a_damaged_blob_is_healed_by_storing_it_again(statement: str) -> None:
    """It need not have been asked for by itself: planning reads many at once, and then runs what is missing."""
    blobs, _ = sound()
    with tampered(statement) as store:
        assert BLOB not in store.get_blobs(blobs)
        store.put_blob(blobs[BLOB])
        assert store.get_blob(BLOB) == blobs[BLOB]
        store.flush()
        assert store.get_blobs(blobs) == blobs
        assert FileStore(store.folder).get_blobs(blobs) == blobs


@pytest.mark.parametrize("statement", [SHORTENED, LOST])
def test_a_blob_that_lost_its_content_is_healed_unread(statement: str) -> None:
    """`reuse: never` stores without reading: what is not whole is not taken for stored."""
    blobs, _ = sound()
    with tampered(statement) as store:
        store.put_blob(blobs[BLOB])
        store.flush()
        assert store.get_blob(BLOB) == blobs[BLOB]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE content SET data = x'00' || substr(data, 2) WHERE id = (SELECT max(id) FROM trace WHERE key = :key)",
        "UPDATE content SET data = 7 WHERE id = (SELECT max(id) FROM trace WHERE key = :key)",
        "DELETE FROM content WHERE id = (SELECT max(id) FROM trace WHERE key = :key)",
        "UPDATE trace SET crc = crc + 1 WHERE id = (SELECT max(id) FROM trace WHERE key = :key)",
        "UPDATE trace SET crc = 'text' WHERE id = (SELECT max(id) FROM trace WHERE key = :key)",
    ],
    ids=["byte", "number", "lost", "checksum", "no checksum"],
)
def test_a_damaged_trace_is_skipped_and_dropped(statement: str) -> None:
    """The other traces of its key still count."""
    with tampered(statement) as store:
        expected = {**TRACES, "key-1": TRACES["key-1"][1:]}
        assert store.get_traces_many(TRACES) == expected
        assert store.get_traces("key-1") == expected["key-1"]
        assert store.stats().traces == 2 * len(TRACES) - 1
        store.add_trace("key-1", TRACES["key-1"][0])
        store.flush()
        assert store.get_traces_many(TRACES) == TRACES
        assert store.notes == []


def test_a_trace_under_a_wrong_key_is_damaged() -> None:
    """Its bytes are right and its key is not: it must never be taken for a run of that key."""
    with tampered("UPDATE trace SET key = CAST('key-2' AS BLOB) WHERE key = :key") as store:
        assert store.get_traces("key-1") == []
        assert store.get_traces("key-2") == TRACES["key-2"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE pointer SET value = x'00' || substr(value, 2) WHERE name = :pointer",
        "UPDATE pointer SET value = 5 WHERE name = :pointer",
        "UPDATE pointer SET crc = crc - 1 WHERE name = :pointer",
        "UPDATE pointer SET name = CAST('last:x' AS BLOB) WHERE name = :pointer",
    ],
    ids=["byte", "number", "checksum", "name"],
)
def test_a_damaged_pointer_is_absent(statement: str) -> None:
    """And can be set as if it never had been."""
    with tampered(statement) as store:
        assert store.get_pointer("last:1") is None
        assert store.get_pointer("last:x") is None
        assert store.set_pointer("last:1", b"new", None)
        assert store.get_pointer("last:1") == b"new"


@pytest.mark.parametrize(
    "statement",
    ["DROP TABLE trace", "ALTER TABLE blob RENAME COLUMN used TO x", "ALTER TABLE pointer ADD COLUMN more"],
)
@pytest.mark.parametrize("use", [check_nothing_wrong_is_read, check_it_can_be_written], ids=["read", "write"])
def test_tables_that_are_not_ours(statement: str, use: Callable[[FileStore], None]) -> None:
    """The store gets over a changed schema as over any other damage."""
    with tampered(statement) as store:
        use(store)
        check_it_can_be_written(store)
        assert len(store.notes) <= 1
