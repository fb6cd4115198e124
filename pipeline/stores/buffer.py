"""What an instance of the file store has gathered since its last transaction."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from pipeline.stores import tables


@dataclass(slots=True)
class Buffer:
    """`blobs` and `traces` (newest last) are new; `dropped_*` are damaged rows to delete, by content id; `used_*` rows
    that were read and not yet marked as used today. `size` is the bytes of the new ones."""

    blobs: dict[bytes, bytes] = field(default_factory=dict)
    traces: dict[bytes, list[bytes]] = field(default_factory=dict)
    size: int = 0
    dropped_blobs: dict[bytes, int] = field(default_factory=dict)
    dropped_traces: set[tuple[bytes, int]] = field(default_factory=set)
    used_blobs: set[bytes] = field(default_factory=set)
    used_traces: set[tuple[bytes, int]] = field(default_factory=set)

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
