"""The tables of the file store, and every SQL statement on them. Errors are sqlite3's (`faults.py` reads them).

Content is kept apart from what describes it: looking up, touching, counting and choosing what to prune only read and
write narrow rows. A content's id grows with time, so it is also the rank of a trace, and decides between entries that
were last used on the same day. Rows are read as `object` and checked: a damaged file may yield anything.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.stores.protocol import TRACES_PER_KEY, StoreStats

SCHEMA = 1
"""Raised with any change of the tables or of what is stored in them."""

BUSY_S = 30.0

PAGE = 16384
"""Bytes of a database's page: what is stored of a document, 20 to 30 KB, takes two."""

_LOGGED = 100
"""Pages that the log of a cache may have before they go to the database. A short log is written over and over, and
stays in the processor's caches; one of SQLite's 1,000 pages takes a third longer to write."""

_LIST_SIZES = (1, 4, 16, 200)

_TABLES = """
CREATE TABLE content (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE blob (
  digest BLOB PRIMARY KEY, id INTEGER NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE trace (
  key BLOB NOT NULL, id INTEGER NOT NULL, size INTEGER NOT NULL, crc INTEGER NOT NULL, used INTEGER NOT NULL,
  PRIMARY KEY (key, id)
) WITHOUT ROWID;
CREATE TABLE pointer (name BLOB NOT NULL UNIQUE, crc INTEGER NOT NULL, value BLOB NOT NULL);
"""

Row = tuple[object, ...]


class Damage(sqlite3.DatabaseError):
    """The database holds what no statement of ours can have written."""


class OtherVersion(Damage):
    """Not damaged at all: the database is of another schema, for which only its name is wrong."""


def create(path: Path) -> None:
    """An empty database at `path`, complete and closed."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(
            f"PRAGMA page_size = {PAGE}; PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL;"
            f"BEGIN; {_TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;"
        )


def create_durable(path: Path) -> None:
    """As `create`, and the disk has it."""
    create(path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def connect(path: Path, durable: bool) -> sqlite3.Connection:
    """Open an existing database. Raises OtherVersion, Damage if it is none at all.

    synchronous = OFF: SQLite never waits for the disk. A killed process loses nothing (the operating system has the
    pages); a power cut may lose or damage the file, which every read detects, and a lost cache costs one compile.
    `wait_for_disk` is for what is more than a cache: a *durable* one, whose log is long, since emptying it waits, too.
    No mmap: reading a file that somebody truncates would end the process.
    """
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        connection.text_factory = bytes  # a damaged row must not fail on decoding
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA secure_delete = OFF")
        if not durable:
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOGGED}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != SCHEMA:
            # `create` gives a database its version with its tables, and none was ever below 1.
            kind = OtherVersion if version > 0 else Damage
            raise kind(f"schema version {version}, expected {SCHEMA}")
    except BaseException:
        connection.close()
        raise
    return connection


def wait_for_disk(connection: sqlite3.Connection, wait: bool) -> None:
    """Whether the next transactions wait until the disk has them, and with them all earlier ones of everybody: they are
    one log. If not, a power cut takes back the newest of them, and damages nothing."""
    connection.execute(f"PRAGMA synchronous = {'FULL' if wait else 'NORMAL'}")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction: taken at once, so that what it reads is still true when it writes."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite has rolled back by itself after some errors
            connection.execute("ROLLBACK")
        raise


def checksum(key: bytes, data: bytes) -> int:
    """Covers the key too: a row that ended up under another key is damaged."""
    return zlib.crc32(data, zlib.crc32(key))


def _select(connection: sqlite3.Connection, sql: str, keys: Sequence[bytes]) -> list[Row]:
    """Rows of `sql`, whose `{}` is the list of keys, asked in a few fixed sizes so that statements stay prepared."""
    rows: list[Row] = []
    start = 0
    while start < len(keys):
        left = len(keys) - start
        size = next(size for size in _LIST_SIZES if left <= size or size == _LIST_SIZES[-1])
        chunk = list(keys[start : start + size])
        chunk += chunk[-1:] * (size - len(chunk))
        rows += connection.execute(sql.format(",".join("?" * size)), chunk).fetchall()
        start += size
    return rows


# ------------------------------------------------------------------------------------------------- reading


def blobs(connection: sqlite3.Connection, digests: Sequence[bytes]) -> list[Row]:
    """(digest, id, used, data); data is None where the content is lost."""
    sql = "SELECT b.digest, b.id, b.used, c.data FROM blob b LEFT JOIN content c ON c.id = b.id WHERE b.digest IN ({})"
    return _select(connection, sql, digests)


def whole_blobs(connection: sqlite3.Connection, digests: Sequence[bytes]) -> set[object]:
    """Those that are stored and have their content, as far as sizes tell."""
    sql = (
        "SELECT b.digest FROM blob b JOIN content c ON c.id = b.id "
        "WHERE b.digest IN ({}) AND typeof(c.data) = 'blob' AND length(c.data) = b.size"
    )
    return {row[0] for row in _select(connection, sql, digests)}


def traces(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[Row]:
    """(key, id, used, crc, data); data is None where the content is lost."""
    sql = (
        "SELECT t.key, t.id, t.used, t.crc, c.data FROM trace t LEFT JOIN content c ON c.id = t.id WHERE t.key IN ({})"
    )
    return _select(connection, sql, keys)


def pointers(connection: sqlite3.Connection, names: Sequence[bytes]) -> tuple[dict[bytes, bytes], bool]:
    """The sound ones, and whether others are damaged: those count as absent, and can be set again."""
    rows = _select(connection, "SELECT name, crc, value FROM pointer WHERE name IN ({})", names)
    found = {
        name: value
        for name, crc, value in rows
        if isinstance(name, bytes) and isinstance(value, bytes) and checksum(name, value) == crc
    }
    return found, len(found) < len(rows)


class Name(NamedTuple):
    """Of a pointer, or the key of traces. `sound`: False for a pointer whose row is damaged."""

    name: bytes
    sound: bool


def pointer_names(connection: sqlite3.Connection, prefix: bytes, after: bytes) -> list[Name]:
    """A page of those that begin so and come behind `after`, in their order."""
    sql = "SELECT name, crc, value FROM pointer WHERE name > ? AND name >= ? AND name < ? ORDER BY name LIMIT 500"
    rows = connection.execute(sql, (after, prefix, prefix + b"\x7f"))
    return [
        Name(name, isinstance(value, bytes) and checksum(name, value) == crc)
        for name, crc, value in rows
        if isinstance(name, bytes)
    ]


def trace_keys(connection: sqlite3.Connection, prefix: bytes, after: bytes) -> list[Name]:
    """As `pointer_names`; whether a trace is sound is seen when it is read."""
    sql = "SELECT DISTINCT key FROM trace WHERE key > ? AND key >= ? AND key < ? ORDER BY key LIMIT 500"
    rows = connection.execute(sql, (after, prefix, prefix + b"\x7f"))
    return [Name(key, True) for (key,) in rows if isinstance(key, bytes)]


class Entries(NamedTuple):
    """Keys with content ids."""

    blobs: list[tuple[bytes, int]]
    traces: list[tuple[bytes, int]]


def unused_since(connection: sqlite3.Connection, day: int) -> Entries:
    """The entries that were last used before that day."""
    found = Entries([], [])
    for entries, sql in (
        (found.blobs, "SELECT digest, id FROM blob WHERE used < ?"),
        (found.traces, "SELECT key, id FROM trace WHERE used < ?"),
    ):
        rows = connection.execute(sql, (day,))
        entries += [(key, number) for key, number in rows if isinstance(key, bytes) and isinstance(number, int)]
    return found


def stats(connection: sqlite3.Connection) -> StoreStats:
    sql = (
        "SELECT b.n, b.size, t.n, t.size, p.n FROM (SELECT count(*) n, total(size) size FROM blob) b, "
        "(SELECT count(*) n, total(size) size FROM trace) t, (SELECT count(*) n FROM pointer) p"
    )
    row = connection.execute(sql).fetchone()
    return StoreStats(*(int(number) for number in row))


# ------------------------------------------------------------------------------- writing, inside `transaction`


def next_id(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT max(id) FROM content").fetchone()
    if last is not None and not 0 < last < 1 << 60:
        raise Damage(f"content id {last}")
    return (last or 0) + 1


def add_blobs(connection: sqlite3.Connection, new: dict[bytes, bytes], day: int) -> None:
    """Digest to data. One that is already there only counts as used."""
    there = whole_blobs(connection, list(new))
    connection.executemany("UPDATE blob SET used = ? WHERE digest = ? AND used < ?", [(day, key, day) for key in there])
    missing = [(digest, data) for digest, data in new.items() if digest not in there]
    first = next_id(connection)
    connection.executemany("INSERT INTO content VALUES (?, ?)", [(first + i, b) for i, (_, b) in enumerate(missing)])
    rows = [(digest, first + i, len(data), day) for i, (digest, data) in enumerate(missing)]
    connection.executemany("INSERT OR REPLACE INTO blob VALUES (?, ?, ?, ?)", sorted(rows))


def add_traces(connection: sqlite3.Connection, new: dict[bytes, list[bytes]], day: int) -> None:
    """Key to traces, newest last: makes them the newest of their key, and drops those beyond the limit."""
    stored: dict[object, dict[int, object]] = {}
    for key, number, crc in _select(connection, "SELECT key, id, crc FROM trace WHERE key IN ({})", list(new)):
        if isinstance(number, int):
            stored.setdefault(key, {})[number] = crc
    contents: list[tuple[int, bytes]] = []
    rows: list[tuple[bytes, int, int, int, int]] = []
    dropped: list[tuple[bytes, int]] = []
    next_number = next_id(connection)
    for key, added in new.items():
        old = stored.get(key, {})
        crcs = [checksum(key, trace) for trace in added]
        # A checksum decides which contents to compare, not which are equal.
        equal = [i for i, crc in old.items() if crc in crcs and _content(connection, i) in added]
        if len(added) == 1 and equal and equal[0] == max(old):
            continue  # it is the newest already
        kept = sorted(old.keys() - equal)
        beyond = max(0, len(kept) + len(added) - TRACES_PER_KEY)
        dropped += [(key, i) for i in (*equal, *kept[:beyond])]
        for crc, trace in zip(crcs, added, strict=True):
            contents.append((next_number, trace))
            rows.append((key, next_number, len(trace), crc, day))
            next_number += 1
    drop_traces(connection, dropped)
    connection.executemany("INSERT INTO content VALUES (?, ?)", contents)
    connection.executemany("INSERT INTO trace VALUES (?, ?, ?, ?, ?)", sorted(rows))


def _content(connection: sqlite3.Connection, number: int) -> object:
    row = connection.execute("SELECT data FROM content WHERE id = ?", (number,)).fetchone()
    return None if row is None else row[0]


def drop_blobs(connection: sqlite3.Connection, dropped: Sequence[tuple[bytes, int]]) -> None:
    """By digest and content id: one that somebody has stored anew in the meantime stays."""
    connection.executemany("DELETE FROM blob WHERE digest = ? AND id = ?", dropped)
    connection.executemany("DELETE FROM content WHERE id = ?", [(number,) for _, number in dropped])


def drop_traces(connection: sqlite3.Connection, dropped: Sequence[tuple[bytes, int]]) -> None:
    connection.executemany("DELETE FROM trace WHERE key = ? AND id = ?", dropped)
    connection.executemany("DELETE FROM content WHERE id = ?", [(number,) for _, number in dropped])


def drop_oldest(connection: sqlite3.Connection, max_bytes: int, at_once: int) -> StoreStats:
    """Drop what was not used for longest until `max_bytes` are left or `at_once` are gone. Returns what was dropped."""
    now = stats(connection)
    excess = min(now.blob_bytes + now.trace_bytes - max_bytes, at_once)
    sql = "SELECT used, id, size, digest, 0 FROM blob UNION ALL SELECT used, id, size, key, 1 FROM trace ORDER BY 1, 2"
    entries: tuple[list[tuple[bytes, int]], list[tuple[bytes, int]]] = ([], [])
    sizes = [0, 0]
    for _, number, size, key, kind in connection.execute(sql):
        if sum(sizes) >= excess:
            break
        entries[kind].append((key, number))
        sizes[kind] += size
    drop_blobs(connection, entries[0])
    drop_traces(connection, entries[1])
    return StoreStats(len(entries[0]), sizes[0], len(entries[1]), sizes[1], 0)


def touch(
    connection: sqlite3.Connection, blobs: Iterable[bytes], traces: Iterable[tuple[bytes, int]], day: int
) -> None:
    connection.executemany("UPDATE blob SET used = ? WHERE digest = ?", [(day, digest) for digest in blobs])
    connection.executemany(
        "UPDATE trace SET used = ? WHERE key = ? AND id = ?", [(day, key, number) for key, number in traces]
    )


def drop_unused(connection: sqlite3.Connection, entries: Entries, day: int) -> StoreStats:
    """Those of the entries that were not used on that day or later, also not since they were chosen."""
    sizes: list[list[int]] = []
    for chosen, sql, drop in (
        (entries.blobs, "SELECT size FROM blob WHERE digest = ? AND id = ? AND used < ?", drop_blobs),
        (entries.traces, "SELECT size FROM trace WHERE key = ? AND id = ? AND used < ?", drop_traces),
    ):
        found = [(entry, connection.execute(sql, (*entry, day)).fetchone()) for entry in chosen]
        drop(connection, [entry for entry, row in found if row is not None])
        sizes.append([row[0] for _, row in found if row is not None])
    blobs, traces = sizes
    return StoreStats(len(blobs), sum(blobs), len(traces), sum(traces), 0)


def write_pointer(connection: sqlite3.Connection, name: bytes, value: bytes | None) -> None:
    """None deletes it."""
    if value is None:
        connection.execute("DELETE FROM pointer WHERE name = ?", (name,))
        return
    sql = (
        "INSERT INTO pointer VALUES (?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET crc = excluded.crc, value = excluded.value"
    )
    connection.execute(sql, (name, checksum(name, value), value))


# -------------------------------------------------------------------------------------------- the file as a whole


def check_structure(connection: sqlite3.Connection) -> None:
    """Raises Damage if pages are used twice or keys out of order: writing would do more harm. Reads the whole file."""
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != b"ok":
        raise Damage("its pages do not fit together")


def disk_bytes(connection: sqlite3.Connection) -> int:
    """Bytes of the pages in use: read from the header, nothing is counted."""
    numbers = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    pages, free, size = numbers
    return int((pages - free) * size)


def compact(connection: sqlite3.Connection) -> None:
    """Give free pages back to the file system where they are many."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    if free > pages // 4:
        connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
