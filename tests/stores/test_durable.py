"""The file store as what others rely on: nothing is got over silently, and what was stored is on the disk."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.stores.files import FileStore
from pipeline.stores.protocol import DamagedBlob, StoreError

ROOT = Path(__file__).parents[2]
SPAWN = multiprocessing.get_context("spawn")


def durable(folder: Path) -> FileStore:
    return FileStore(folder, max_bytes=None, durable=True)


def filled(folder: Path) -> tuple[Path, str]:
    """The database of a closed store, and the digest of its blob."""
    with durable(folder) as store:
        digest = store.put_blob(b"data" * 5000)
        store.add_trace("key", b"trace")
        store.set_pointer("installation", b"1", None)
    return store.path, digest


def spoil(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"noise" * 5000),
        lambda path: path.write_bytes(path.read_bytes()[:9000]),
        lambda path: spoil(path, "DROP TABLE pointer"),
        lambda path: spoil(path, "PRAGMA user_version = 2"),
    ],
    ids=["empty", "noise", "cut", "without a table", "of another version"],
)
def test_a_damaged_database_is_an_error(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    """It is not replaced by an empty one, which would forget what was published; it stays as it is."""
    path, _ = filled(tmp_path)
    damage(path)
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreError, match="artifact store is damaged") as caught, durable(tmp_path) as store:
            store.get_pointer("installation")
        assert caught.value.fault == "store-damaged"
        assert "バックアップ" in caught.value.text("ja")
    assert path.read_bytes() == before
    assert [other.name for other in tmp_path.glob("*.db")] == [path.name]


@pytest.mark.parametrize("column", ["crc = crc + 1", "value = x'32'", "value = 'text'"])
def test_a_damaged_pointer_is_an_error(tmp_path: Path, column: str) -> None:
    """It does not count as absent: an older save could be published over a newer one."""
    path, _ = filled(tmp_path)
    spoil(path, f"UPDATE pointer SET {column}")  # noqa: S608 - of this test
    store = durable(tmp_path)
    uses: list[Callable[[], object]] = [
        lambda: store.get_pointer("installation"),
        lambda: store.set_pointer("installation", b"2", None),
        lambda: store.delete_pointer("installation", b"1"),
        lambda: list(store.pointer_names("")),
    ]
    for use in uses:
        with pytest.raises(StoreError) as caught:
            use()
        assert caught.value.fault == "store-damaged"
    assert store.get_pointer("other") is None


def test_a_damaged_blob_is_reported_and_can_be_stored_again(tmp_path: Path) -> None:
    """As in every store."""
    path, digest = filled(tmp_path)
    spoil(path, "UPDATE content SET data = zeroblob(length(data)) WHERE length(data) = 20000")
    store = durable(tmp_path)
    with pytest.raises(DamagedBlob):
        store.get_blob(digest)
    assert store.get_blob(digest) is None
    assert store.put_blob(b"data" * 5000) == digest
    store.close()
    assert durable(tmp_path).get_blob(digest) == b"data" * 5000


def test_a_database_that_is_deleted_while_it_is_in_use(tmp_path: Path) -> None:
    """An error that says so: it is not begun anew behind the back of the others. Who starts again begins anew."""
    store = durable(tmp_path)
    store.set_pointer("installation", b"1", None)
    for path in tmp_path.glob("store-*"):
        path.unlink()
    for _ in range(2):
        with pytest.raises(StoreError, match="gone while it was in use") as caught:
            store.set_pointer("installation", b"2", b"1")
        assert caught.value.fault == "store-vanished"
    assert list(tmp_path.glob("store-*")) == []
    assert durable(tmp_path).get_pointer("installation") is None


def test_what_waits_for_the_disk(tmp_path: Path) -> None:
    """Moving a pointer does, and with it all that was written before; a flush of blobs and traces alone does not, nor a
    move that need not last by itself; and a new database does, with the names of its file and folder."""
    trace = tmp_path / "trace"
    script = (
        "import sys\nfrom pathlib import Path\nfrom pipeline.stores.files import FileStore\n"
        "def mark(text): sys.stderr.write(text); sys.stderr.flush()\n"
        f"folder = Path({str(tmp_path / 'store')!r})\n"
        "store = FileStore(folder, durable=sys.argv[1] == 'durable')\n"
        "store.put_blob(b'0'); store.flush()\n"  # the log begins
        "mark('<flush>'); store.put_blob(b'1'); store.flush(); mark('</flush>')\n"
        "mark('<passing>'); store.set_pointer('o', b'1', None, lasting=False); mark('</passing>')\n"
        "mark('<move>'); store.put_blob(b'2'); store.set_pointer('p', b'1', None); mark('</move>')\n"
    )
    if subprocess.run(["which", "strace"], capture_output=True, check=False).returncode:
        pytest.skip("no strace")
    counts = {}
    for kind in ("durable", "cache"):
        call = [
            "strace",
            "-f",
            "-e",
            "trace=fsync,fdatasync,write",
            "-s",
            "20",
            "-o",
            str(trace),
            sys.executable,
            "-c",
            script,
        ]
        done = subprocess.run([*call, kind], cwd=ROOT, capture_output=True, check=False)
        if done.returncode:
            pytest.skip("strace may not trace here")
        lines = trace.read_text().splitlines()
        marks = ("<flush>", "<passing>", "<move>", "</move>")
        places = [next(i for i, line in enumerate(lines) if mark in line) for mark in marks]
        syncs = [i for i, line in enumerate(lines) if "sync(" in line]
        counts[kind] = [
            sum(i < places[0] for i in syncs),
            sum(places[0] < i < places[1] for i in syncs),
            sum(places[1] < i < places[2] for i in syncs),
            sum(places[2] < i < places[3] for i in syncs),
        ]
        trace.unlink()
    assert counts["cache"] == [0, 0, 0, 0]
    created, flushed, passing, moved = counts["durable"]
    assert created >= 3
    assert (flushed, passing) == (0, 0)
    assert moved >= 1


# ------------------------------------------------------------------------------------------------- many at once


def save_documents(folder: Path, worker: int, steps: int) -> None:
    """What a worker of the service does: hand-offs and texts as blobs, pointers of its own, and one that all move."""
    store = durable(folder)
    for step in range(steps):
        store.put_blob(b"%d %d " % (worker, step) * 500)
        assert store.set_pointer(f"save/{worker}/{step:06}", b"%d" % step * 100, None)
        seen = store.get_pointer("counter")
        while not store.set_pointer("counter", b"%d" % (int(seen or b"0") + 1), seen):
            seen = store.get_pointer("counter")
        store.put_blob(b"handed %d %d " % (worker, step) * 500)
        store.flush()
    store.close()


def test_eight_processes_write_to_one_store(tmp_path: Path) -> None:
    """Nothing is lost, and nobody is kept waiting by the others until it is told that the store is busy."""
    workers = [SPAWN.Process(target=save_documents, args=(tmp_path, number, 40)) for number in range(8)]
    for process in workers:
        process.start()
    for process in workers:
        process.join(timeout=300)
        assert process.exitcode == 0
    with durable(tmp_path) as store:
        assert store.get_pointer("counter") == b"320"
        assert len(list(store.pointer_names("save/"))) == 320
        assert store.stats().blobs == 640


def test_threads_share_an_instance(tmp_path: Path) -> None:
    """As a server's do: no write is lost, and nothing of one thread ends up with another."""
    store = durable(tmp_path)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(30):
                data = b"%d %d" % (number, step)
                digest = store.put_blob(data)
                store.add_trace("key", data)
                assert store.set_pointer(f"p/{number}/{step}", digest.encode(), None)
                assert store.get_blob(digest) == data
                assert len(list(store.pointer_names(f"p/{number}/"))) == step + 1
        except BaseException as error:  # noqa: BLE001 - handed to the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert errors == []
    assert store.stats().blobs == store.stats().pointers == 240
    store.close()


def test_a_child_that_is_forked_while_a_thread_writes(tmp_path: Path) -> None:
    """It has an instance that works: the thread that held it is not there any more."""
    store = durable(tmp_path)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with store._entered():
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    child = os.fork()
    if child == 0:
        os._exit(0 if store.set_pointer("child", b"1", None) else 1)
    end = time.monotonic() + 120
    while time.monotonic() < end and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.02)
    done.set()
    thread.join()
    assert store.get_pointer("child") == b"1"
    store.close()
