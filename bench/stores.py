"""What the file store costs beside a plain dict and beside bare `sqlite3`, in one run on the same data.

    python bench/stores.py [--documents 1000] [--rounds 5]

A document is 3 blobs of 3 KB, 3 traces and 1 pointer of 2 KB. The best of all rounds counts; the last column is the
ratio to bare `sqlite3` doing the same thing: one table of keys and values, one transaction, nothing verified.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import Store


@dataclass(frozen=True, slots=True)
class Sample:
    blobs: list[bytes]
    digests: list[str]
    traces: list[tuple[str, bytes]]
    pointers: list[tuple[str, bytes]]

    @classmethod
    def make(cls, documents: int) -> Sample:
        def noise(kind: str, number: int, size: int) -> bytes:
            return hashlib.shake_128(f"{kind} {number}".encode()).digest(size)

        blobs = [noise("blob", i, 3000) for i in range(3 * documents)]
        traces = [(hashlib.sha256(b"%d" % i).hexdigest(), noise("trace", i, 2000)) for i in range(3 * documents)]
        pointers = [(f"last:{i}", noise("pointer", i, 2000)) for i in range(documents)]
        return cls(blobs, [hashlib.sha256(blob).hexdigest() for blob in blobs], traces, pointers)

    def rows(self) -> Iterator[tuple[str, bytes]]:
        yield from zip(self.digests, self.blobs, strict=True)
        yield from self.traces
        yield from self.pointers


def best(rounds: int, work: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> float:
    """Milliseconds of the fastest round."""
    times = []
    for _ in range(rounds):
        prepare()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def write(store: Store, sample: Sample) -> None:
    for i, (name, value) in enumerate(sample.pointers):
        for blob in sample.blobs[3 * i : 3 * i + 3]:
            store.put_blob(blob)
        for key, trace in sample.traces[3 * i : 3 * i + 3]:
            store.add_trace(key, trace)
        store.set_pointer(name, value, None)
    store.flush()


def bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, value BLOB)")
    return connection


def write_bare(path: Path, sample: Sample) -> None:
    connection = bare(path)
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO entry VALUES (?, ?)", sample.rows())
    connection.execute("COMMIT")
    connection.close()


def read_bare(path: Path, keys: list[str]) -> dict[str, bytes]:
    connection = sqlite3.connect(path, isolation_level=None)
    marks = ",".join("?" * len(keys))
    found = dict(connection.execute(f"SELECT key, value FROM entry WHERE key IN ({marks})", keys).fetchall())  # noqa: S608 - marks only
    connection.close()
    return found


def read_dict(plain: dict[str, bytes], keys: list[str]) -> list[bytes]:
    return [plain[key] for key in keys]


def line(name: str, milliseconds: float, reference: float) -> None:
    print(f"  {name:<34}{milliseconds:>9.2f} ms {milliseconds / reference:>8.2f}")


def report_writing(rounds: int, sample: Sample, folder: Path) -> None:
    fresh = iter(folder / f"w{i}" for i in range(10_000))

    def file_store() -> None:
        with FileStore(next(fresh)) as store:
            write(store, sample)

    reference = best(rounds, lambda: write_bare(folder / f"{next(fresh).name}.db", sample))
    print(f"write {len(sample.pointers)} documents, open and close included")
    line("dict", best(rounds, lambda: dict(sample.rows())), reference)
    line("sqlite3, one transaction", reference, reference)
    line("MemoryStore", best(rounds, lambda: write(MemoryStore(), sample)), reference)
    line("FileStore, a pointer a document", best(rounds, file_store), reference)


def report_reading(rounds: int, sample: Sample, folder: Path) -> None:
    plain = dict(sample.rows())
    write_bare(folder / "bare.db", sample)
    with FileStore(folder / "store") as filled:
        write(filled, sample)
    store = FileStore(folder / "store")
    names = [name for name, _ in sample.pointers]
    keys = [key for key, _ in sample.traces]
    cases: list[tuple[str, list[str], Callable[[], object], Callable[[], object]]] = [
        ("pointers", names, lambda: store.get_pointers(names), lambda: [store.get_pointer(name) for name in names]),
        ("traces", keys, lambda: store.get_traces_many(keys), lambda: [store.get_traces(key) for key in keys]),
        (
            "blobs",
            sample.digests,
            lambda: store.get_blobs(sample.digests),
            lambda: list(map(store.get_blob, sample.digests)),
        ),
    ]
    for kind, wanted, together, singly in cases:
        reference = best(rounds, partial(read_bare, folder / "bare.db", wanted))
        print(f"read {len(wanted)} {kind}")
        line("dict", best(rounds, partial(read_dict, plain, wanted)), reference)
        line("sqlite3, one statement", reference, reference)
        line("FileStore, together", best(rounds, together), reference)
        line("FileStore, one by one", best(rounds, singly), reference)
    print("upkeep")
    reference = best(rounds, lambda: read_bare(folder / "bare.db", names[:1]))
    store.close()
    line("sqlite3, open, read one, close", reference, reference)
    line("FileStore, open and close", best(rounds, lambda: FileStore(folder / "store").close()), reference)
    with FileStore(folder / "store") as store_again:
        line("FileStore, stats", best(rounds, store_again.stats), reference)


def report_start(rounds: int, folder: Path) -> None:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
    (folder / "store").mkdir(exist_ok=True)

    libraries = "import pydantic, markdown_it, typer; "
    store = f"from pipeline.stores.files import FileStore, Path; FileStore(Path({str(folder / 'store')!r})).close()"
    programs = {
        "nothing else": libraries,
        "import sqlite3": libraries + "import sqlite3",
        "import, open and close a FileStore": libraries + store,
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(3 * rounds):  # in turn, so that a busy moment of the machine meets all of them
        for name, code in programs.items():
            command = [sys.executable, "-c", code]
            run = partial(subprocess.run, command, check=True, env=environment, cwd=sys.path[0])
            times[name].append(best(1, run))
    print("start a process that imports pydantic, markdown_it and typer")
    for name in programs:
        line(name, min(times[name]), min(times["nothing else"]))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--documents", type=int, default=1000)
    arguments.add_argument("--rounds", type=int, default=5)
    chosen = arguments.parse_args()
    sample = Sample.make(chosen.documents)
    with tempfile.TemporaryDirectory() as folder:
        report_writing(chosen.rounds, sample, Path(folder))
        report_reading(chosen.rounds, sample, Path(folder))
        report_start(chosen.rounds, Path(folder))


if __name__ == "__main__":
    main()
