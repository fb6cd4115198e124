"""The file store beyond the protocol: files, recency, growth, versions, forks, and folders that come and go."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from pipeline.stores.files import DEFAULT_BUFFER_BYTES, FileStore
from pipeline.stores.protocol import StoreError

DAY = 24 * 3600


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class Calendar:
    """A clock that a test sets, in days."""

    def __init__(self) -> None:
        self.day = 20_000

    def __call__(self) -> float:
        return self.day * DAY + 0.5


# -------------------------------------------------------------------------------------------------- on the disk


def test_a_store_is_one_file(tmp_path: Path) -> None:
    """Closed, nothing else is left of it; the folder tells git to leave it out."""
    with FileStore(tmp_path / "new" / ".aop") as store:
        store.put_blob(b"data")
    assert names(tmp_path / "new" / ".aop") == [".gitignore", "store-v1-1.db"]
    assert store.path == tmp_path / "new" / ".aop" / "store-v1-1.db"
    assert (tmp_path / "new" / ".aop" / ".gitignore").read_text() == "store-v*\n"


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    """A `.gitignore` of the user's too."""
    (tmp_path / ".gitignore").write_text("mine\n")
    (tmp_path / "tools").mkdir()
    (tmp_path / "store-mine.db").write_text("mine")
    with FileStore(tmp_path) as store:
        store.prune(0)
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
    assert names(tmp_path) == [".gitignore", "store-mine.db", "store-v1-1.db", "tools"]


@pytest.mark.parametrize("name", ["業務 手順", "a'b\"c", "100%?x=1#y", "-dash", "file:x"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    """Names are never read as addresses or options."""
    with FileStore(tmp_path / name) as store:
        digest = store.put_blob(b"data")
    assert FileStore(tmp_path / name).get_blob(digest) == b"data"
    assert names(tmp_path) == [name]


def test_the_working_directory_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative folder stays where it was when the store was opened."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with FileStore(Path(".aop")) as store:
        monkeypatch.chdir(tmp_path / "elsewhere")
        digest = store.put_blob(b"data")
    assert names(tmp_path / "elsewhere") == []
    assert FileStore(tmp_path / ".aop").get_blob(digest) == b"data"


def test_gathered_writes_do_not_grow_without_bound(tmp_path: Path) -> None:
    """Beyond the buffer they are written without a flush: others see most of them."""
    writer, reader = FileStore(tmp_path), FileStore(tmp_path)
    digests = [writer.put_blob(bytes([i]) * 300_000) for i in range(40)]
    assert len(reader.get_blobs(digests)) * 300_000 > 40 * 300_000 - DEFAULT_BUFFER_BYTES - 300_000


def test_a_compile_that_only_reads_writes_nothing(tmp_path: Path) -> None:
    """On the day of the last use reading leaves the file byte for byte as it was."""
    with FileStore(tmp_path) as store:
        digest = store.put_blob(b"data")
        store.add_trace("key", b"trace")
        store.set_pointer("last", b"1", None)
    before = store.path.read_bytes()
    with FileStore(tmp_path) as store:
        store.get_blob(digest)
        store.get_traces("key")
        store.get_pointers(["last"])
        store.add_trace("key", b"trace")
        assert not store.set_pointer("last", b"2", None)
    assert store.path.read_bytes() == before


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """Not an error of SQLite's."""
    store = FileStore(tmp_path)
    store.close()
    with pytest.raises(StoreError, match="has been closed") as caught:
        store.get_pointer("last")
    assert caught.value.fault == "closed"
    assert "閉じられています" in caught.value.text("ja")


# ------------------------------------------------------------------------------------------------------ recency


@pytest.mark.parametrize(("allowed", "blobs", "traces"), [(300, "rN", "r"), (200, "r", "r"), (0, "", "")])
def test_what_was_used_last_is_pruned_last(tmp_path: Path, allowed: int, blobs: str, traces: str) -> None:
    """Written on one day and read on a later one (r): it outlives what was written in between (N)."""
    calendar = Calendar()
    with FileStore(tmp_path, clock=calendar) as store:
        digests = {"r": store.put_blob(b"r" * 100), "n": store.put_blob(b"n" * 100)}
        store.add_trace("r", b"r" * 100)
        store.add_trace("n", b"n" * 100)
    calendar.day += 1
    with FileStore(tmp_path, clock=calendar) as store:
        digests["N"] = store.put_blob(b"N" * 100)
    calendar.day += 1
    with FileStore(tmp_path, clock=calendar) as store:
        store.get_blob(digests["r"])
        store.get_traces("r")
    with FileStore(tmp_path, clock=calendar) as store:
        store.prune(allowed)
        assert [name for name, digest in digests.items() if store.get_blob(digest)] == list(blobs)
        assert list(store.get_traces_many(digests)) == list(traces)


def test_putting_again_is_a_use(tmp_path: Path) -> None:
    """A stage that makes what is there already keeps it from being pruned."""
    calendar = Calendar()
    with FileStore(tmp_path, clock=calendar) as store:
        again = store.put_blob(b"a" * 100)
    calendar.day += 1
    with FileStore(tmp_path, clock=calendar) as store:
        other = store.put_blob(b"o" * 100)
    calendar.day += 1
    with FileStore(tmp_path, clock=calendar) as store:
        store.put_blob(b"a" * 100)
        store.prune(100)
        assert store.get_blobs([again, other]).keys() == {again}


def test_on_one_day_the_older_entry_goes_first(tmp_path: Path) -> None:
    """Days are coarse; within one the order of writing decides."""
    with FileStore(tmp_path, clock=Calendar()) as store:
        digests = [store.put_blob(b"%d" % i * 100) for i in range(9)]
        store.prune(300)
        assert list(store.get_blobs(digests)) == digests[-3:]


# ------------------------------------------------------------------------------------------------------- growth


def test_a_store_prunes_itself_when_it_is_closed(tmp_path: Path) -> None:
    """Beyond `max_bytes`, and then to what fits; pointers stay."""
    with FileStore(tmp_path, max_bytes=1_000_000) as store:
        for i in range(60):
            store.put_blob(bytes([i]) * 50_000)
        store.set_pointer("last", b"1", None)
    with FileStore(tmp_path, max_bytes=None) as store:
        stats = store.stats()
        assert 500_000 < stats.blob_bytes <= 800_000
        assert store.get_pointer("last") == b"1"
    assert store.path.stat().st_size < 1_000_000


def test_pruning_gives_the_space_back(tmp_path: Path) -> None:
    """The file becomes smaller, not only emptier, also while others have it open."""
    with FileStore(tmp_path) as other, FileStore(tmp_path) as store:
        digests = [store.put_blob(bytes([i]) * 50_000) for i in range(60)]
        store.flush()
        assert other.get_blob(digests[0]) is not None
        store.prune(100_000)
        assert store.path.stat().st_size < 500_000
        assert other.get_blob(digests[0]) is None
        assert other.get_blob(digests[-1]) is not None


# ----------------------------------------------------------------------------------------------------- versions


def test_other_versions_stores_are_left_alone(tmp_path: Path) -> None:
    """A store of an older and one of a newer schema stay beside ours, whatever they hold."""
    (tmp_path / "store-v0-3.db").write_bytes(b"older")
    (tmp_path / "store-v999-1.db").write_bytes(b"newer")
    with FileStore(tmp_path) as store:
        store.put_blob(b"data")
        store.prune(0)
        assert store.notes == []
    assert (tmp_path / "store-v0-3.db").read_bytes() == b"older"
    assert (tmp_path / "store-v999-1.db").read_bytes() == b"newer"


def test_pruning_removes_other_versions_stores_that_nobody_used_for_a_month(tmp_path: Path) -> None:
    """And drafts of a store whose making was interrupted. A recent one may be in use by another version of ours."""
    old = time.time() - 31 * DAY
    for name in ("store-v0-3.db", "store-v0-3.db-wal", "store-v0-3.db-shm", "store-v1.draft-1-0a"):
        (tmp_path / name).write_bytes(b"old")
        os.utime(tmp_path / name, (old, old))
    (tmp_path / "store-v2-1.db").write_bytes(b"recent")
    with FileStore(tmp_path) as store:
        store.prune(1_000_000)
    assert names(tmp_path) == [".gitignore", "store-v1-1.db", "store-v2-1.db"]


def test_a_database_that_says_it_is_of_another_schema_is_set_aside(tmp_path: Path) -> None:
    """Our name, another version inside: the store is begun anew beside it, and says so in both languages."""
    with FileStore(tmp_path) as store:
        digest = store.put_blob(b"data")
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    with FileStore(tmp_path) as store:
        assert store.get_blob(digest) is None
        assert store.path.name == "store-v1-2.db"
        (note,) = store.notes
        assert "store-v1-1.db is the cache of another version of aop (schema version 7" in str(note)
        assert "新しいキャッシュを作りました" in note.text("ja")


# -------------------------------------------------------------------------------------------------------- forks


def in_child(work: object) -> int:
    """Run in a forked child; its exit status. No exception may reach pytest there."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert callable(work)
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_opens_the_store_anew(tmp_path: Path) -> None:
    """It sees what was flushed, writes for all to see, and what the parent had gathered stays the parent's."""
    store = FileStore(tmp_path)
    flushed = store.put_blob(b"flushed")
    store.flush()
    gathered = store.put_blob(b"gathered")

    def work() -> None:
        assert store.get_blob(flushed) == b"flushed"
        assert store.get_blob(gathered) is None
        store.put_blob(b"child's")
        assert store.set_pointer("child", b"1", None)
        store.close()

    assert in_child(work) == 0
    assert store.get_pointer("child") == b"1"
    assert store.stats().blobs == 3
    assert in_child(store.close) == 0
    assert store.get_blob(gathered) == b"gathered"
    store.close()
    with FileStore(tmp_path) as again:
        assert again.notes == []
        assert again.get_blobs([flushed, gathered]) == {flushed: b"flushed", gathered: b"gathered"}


def test_parent_and_children_write_at_once(tmp_path: Path) -> None:
    """Forked workers that inherited an open store take turns with it, and with their parent."""
    store = FileStore(tmp_path)
    store.set_pointer("counter", b"0", None)

    def count() -> None:
        for _ in range(50):
            while True:
                seen = store.get_pointer("counter")
                assert seen is not None
                if store.set_pointer("counter", b"%d" % (int(seen) + 1), seen):
                    break

    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                count()
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    count()
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    assert store.get_pointer("counter") == b"200"


# ------------------------------------------------------------------------------------------------------ folders


def test_a_store_that_is_deleted_under_us_is_begun_anew(tmp_path: Path) -> None:
    """`rm -r .aop` during a watch: what is written afterwards is there for the next compile."""
    store = FileStore(tmp_path / ".aop")
    store.put_blob(b"before")
    store.flush()
    shutil.rmtree(tmp_path / ".aop")
    after = store.put_blob(b"after")
    store.flush()
    assert FileStore(tmp_path / ".aop").get_blob(after) == b"after"
    assert store.set_pointer("last", b"1", None)
    assert store.notes == []
    store.close()
    assert FileStore(tmp_path / ".aop").get_pointer("last") == b"1"


def test_a_store_that_was_replaced_under_us_is_followed(tmp_path: Path) -> None:
    """Deleted, and made anew by another process: both go on with the same one."""
    first = FileStore(tmp_path / ".aop")
    first.put_blob(b"lost")
    first.flush()
    shutil.rmtree(tmp_path / ".aop")
    second = FileStore(tmp_path / ".aop")
    assert second.set_pointer("last", b"second", None)
    assert not first.set_pointer("last", b"first", None)
    assert first.set_pointer("last", b"first", b"second")
    first.close()
    assert second.get_pointer("last") == b"first"
    second.put_blob(b"more")
    second.close()
    with FileStore(tmp_path / ".aop") as third:
        assert third.notes == []
        assert third.stats().blobs == 1
