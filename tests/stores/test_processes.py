"""Several processes with one file store, some of them killed: the others go on, and nobody sees anything by halves."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from pipeline.stores import tables
from pipeline.stores.files import FileStore
from pipeline.stores.protocol import StoreError

ROOT = Path(__file__).parents[2]
SPAWN = multiprocessing.get_context("spawn")


def bundle(worker: int, step: int) -> list[bytes]:
    return [hashlib.shake_128(b"%d %d %d" % (worker, step, i)).digest(500 * (i + 1)) for i in range(3)]


def compile_documents(folder: Path, worker: int, steps: int, started: Event) -> None:
    """What a compile does to the store, again and again: blobs, a trace, a pointer of its own, and a shared counter."""
    store = FileStore(folder)
    for step in range(steps):
        digests = [store.put_blob(data) for data in bundle(worker, step)]
        store.add_trace(f"worker-{worker}", b"%d" % step)
        store.set_pointer(f"last:{worker}:{step}", json.dumps(digests).encode(), None)
        seen = store.get_pointer("counter")
        while not store.set_pointer("counter", b"%d" % (int(seen or b"0") + 1), seen):
            seen = store.get_pointer("counter")
        started.set()
    store.close()


def start(folder: Path, workers: range, steps: int) -> tuple[list[BaseProcess], list[Event]]:
    events = [SPAWN.Event() for _ in workers]
    processes: list[BaseProcess] = [
        SPAWN.Process(target=compile_documents, args=(folder, worker, steps, started))
        for worker, started in zip(workers, events, strict=True)
    ]
    for process in processes:
        process.start()
    return processes, events


def check_bundles(store: FileStore, worker: int, steps: int) -> int:
    """The number of documents of that worker that can be seen; each one is whole."""
    names = [f"last:{worker}:{step}" for step in range(steps)]
    seen = store.get_pointers(names)
    assert list(seen) == names[: len(seen)]
    for step, value in enumerate(seen.values()):
        assert [store.get_blob(digest) for digest in json.loads(value)] == bundle(worker, step)
    if seen:
        assert int(store.get_traces(f"worker-{worker}")[0]) >= len(seen) - 1
    return len(seen)


def check_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_processes_write_to_one_store_from_the_start(tmp_path: Path) -> None:
    """They begin it together, in a folder that is not there yet; nothing of anybody's is lost."""
    folder = tmp_path / ".aop"
    processes, _ = start(folder, range(4), steps=40)
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    assert [path.name for path in folder.glob("store*")] == ["store-v1-1.db"]
    with FileStore(folder) as store:
        assert [check_bundles(store, worker, 40) for worker in range(4)] == [40] * 4
        assert store.get_pointer("counter") == b"160"
    check_database(store.path)


def test_a_killed_process_leaves_a_whole_store(tmp_path: Path) -> None:
    """SIGKILL in the middle of its work: the others finish, what it committed is whole, and the rest is not there."""
    folder = tmp_path / ".aop"
    processes, events = start(folder, range(4), steps=120)
    victim = processes[0]
    assert events[0].wait(timeout=60)
    time.sleep(0.02)
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    victim.join(timeout=60)
    with FileStore(folder) as store:  # while the others are at work
        check_bundles(store, 0, 120)
    for process in processes[1:]:
        process.join(timeout=60)
        assert process.exitcode == 0
    assert victim.exitcode == -signal.SIGKILL
    with FileStore(folder) as store:
        assert store.notes == []
        survived = check_bundles(store, 0, 120)
        assert [check_bundles(store, worker, 120) for worker in range(1, 4)] == [120] * 3
        assert store.get_pointer("counter") in (b"%d" % (360 + survived), b"%d" % (360 + survived - 1))
    check_database(store.path)


def test_all_processes_are_killed_again_and_again(tmp_path: Path) -> None:
    """At moments that differ from round to round: the store opens every time, without a note, and holds only whole
    documents."""
    folder = tmp_path / ".aop"
    for round_number in range(4):
        workers = range(2 * round_number, 2 * round_number + 2)
        processes, events = start(folder, workers, steps=100_000)
        for event in events:
            assert event.wait(timeout=60)
        time.sleep(0.013 * round_number)
        for process in processes:
            process.kill()
        for process in processes:
            process.join(timeout=60)
        with FileStore(folder) as store:
            assert store.notes == []
            for worker in range(workers.stop):
                assert check_bundles(store, worker, 1000) > 0
        check_database(store.path)


BEGINNING = """
import os, signal, sys
from pathlib import Path
from pipeline.stores import tables
from pipeline.stores import tables
from pipeline.stores.files import FileStore

def killed(path):
    path.write_bytes(b"half")
    path.with_name(path.name + "-wal").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)

tables.create = killed
FileStore(Path(sys.argv[1]))
"""


def test_a_process_that_is_killed_while_it_begins_the_store(tmp_path: Path) -> None:
    """Nobody opens its draft, and the next one removes it; that of a process that lives stays."""
    done = subprocess.run([sys.executable, "-c", BEGINNING, str(tmp_path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob("store-v*.draft-*"))) == 2
    living = f"store-v1.draft-{os.getpid()}-0123abcd"
    (tmp_path / living).write_bytes(b"")
    FileStore(tmp_path).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", "store-v1-1.db", living]


def test_a_store_that_is_deleted_while_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rm -r .aop` at the wrong moment: it is begun anew, without an error and without a note; but not for ever."""
    connect = tables.connect
    left = [2]

    def deleting(path: Path, durable: bool) -> sqlite3.Connection:
        if left[0]:
            left[0] -= 1
            shutil.rmtree(path.parent)
        return connect(path, durable)

    monkeypatch.setattr(tables, "connect", deleting)
    with FileStore(tmp_path / ".aop") as store:
        digest = store.put_blob(b"data")
        store.flush()
        assert store.get_blob(digest) == b"data"
        assert store.notes == []
    left[0] = 100
    with pytest.raises(StoreError):
        FileStore(tmp_path / ".aop")


def test_waiting_for_another_process_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody holds the store and does not let go: an error that says so, and reading goes on meanwhile."""
    monkeypatch.setattr("pipeline.stores.tables.BUSY_S", 0.05)
    store = FileStore(tmp_path)
    digest = store.put_blob(b"data")
    store.flush()
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert store.get_blob(digest) == b"data"
        with pytest.raises(StoreError, match="another process") as caught:
            store.set_pointer("last", b"1", None)
        assert caught.value.fault == "busy"
        other.execute("ROLLBACK")
    assert store.set_pointer("last", b"1", None)
    store.close()
