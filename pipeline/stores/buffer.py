"""What an instance of the file store has gathered since its last transaction."""

from __future__ import annotations

import sqlite3

from pipeline.stores import tables


class Buffer:
    """`blobs` and `traces` (newest last) are new; `dropped_*` are damaged rows to delete, by content id; `used_*` rows
    that were read and not yet marked as used today. `size` is the bytes of the new ones."""

    def __init__(self) -> None:  # a dataclass takes half a millisecond to make, at every start of the program
        self.blobs: dict[bytes, bytes] = {}
        self.traces: dict[bytes, list[bytes]] = {}
        self.size = 0
        self.dropped_blobs: dict[bytes, int] = {}
        self.dropped_traces: set[tuple[bytes, int]] = set()
        self.used_blobs: set[bytes] = set()
        self.used_traces: set[tuple[bytes, int]] = set()

    @property
    def holds_entries(self) -> bool:
        return bool(self.blobs or self.traces)

    @property
    def empty(self) -> bool:
        return not (
            self.holds_entries or self.dropped_blobs or self.dropped_traces or self.used_blobs or self.used_traces
        )

    def forget_rows(self) -> None:
        """The database has been replaced: keep only what does not refer to its rows."""
        self.dropped_blobs.clear()
        self.dropped_traces.clear()
        self.used_blobs.clear()
        self.used_traces.clear()

    def write(self, connection: sqlite3.Connection, day: int) -> None:
        """Inside a transaction. Changes nothing here, so that it can be repeated."""
        if self.dropped_blobs:
            tables.drop_blobs(connection, list(self.dropped_blobs.items()))
        if self.dropped_traces:
            tables.drop_traces(connection, list(self.dropped_traces))
        if self.used_blobs or self.used_traces:
            tables.touch(connection, self.used_blobs, self.used_traces, day)
        if self.blobs:
            tables.add_blobs(connection, self.blobs, day)
        if self.traces:
            tables.add_traces(connection, self.traces, day)
