"""Any sequence of operations does to a store what it does to a few dictionaries."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pipeline.stores.protocol import TRACES_PER_KEY, Store

from .backends import BACKENDS, Clock

KEYS = st.sampled_from(["a", "A", "0" * 64, "last:x/y.md"])
# Sizes around a page of the database are where the file store has seams.
DATA = st.one_of(
    st.binary(max_size=2),
    st.builds(lambda byte, size: bytes([byte]) * size, st.integers(0, 3), st.sampled_from([1000, 9000, 70_000])),
)


class StoreMachine(RuleBasedStateMachine):
    """Two instances of one store in turn; whoever takes over from the other sees what that one has flushed."""

    backend: str

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.open = BACKENDS[self.backend](Path(self.folder.name), self.clock)
        self.stores: list[Store] = [self.open(), self.open()]
        self.current = 0
        self.blobs: dict[str, bytes] = {}
        self.traces: dict[str, list[bytes]] = {}
        self.pointers: dict[str, bytes] = {}

    @property
    def store(self) -> Store:
        return self.stores[self.current]

    @rule(data=DATA)
    def put_blob(self, data: bytes) -> None:
        digest = self.store.put_blob(data)
        assert digest == hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data

    @rule(key=KEYS, trace=DATA)
    def add_trace(self, key: str, trace: bytes) -> None:
        self.store.add_trace(key, trace)
        older = [other for other in self.traces.get(key, []) if other != trace]
        self.traces[key] = [trace, *older][:TRACES_PER_KEY]

    @rule(key=KEYS, value=DATA, data=st.data())
    def set_pointer(self, key: str, value: bytes, data: st.DataObject) -> None:
        expected = data.draw(st.sampled_from([None, b"", *self.pointers.values()]), label="expected")
        moved = self.store.set_pointer(key, value, expected)
        assert moved == (self.pointers.get(key) == expected)
        if moved:
            self.pointers[key] = value

    @rule(key=KEYS, data=st.data())
    def delete_pointer(self, key: str, data: st.DataObject) -> None:
        expected = data.draw(st.sampled_from([b"", *self.pointers.values()]), label="expected")
        deleted = self.store.delete_pointer(key, expected)
        assert deleted == (self.pointers.get(key) == expected)
        if deleted:
            del self.pointers[key]

    @rule(days=st.integers(0, 3))
    def wait(self, days: int) -> None:
        self.clock.ahead += days * 24 * 3600

    @rule(days=st.integers(0, 3), data=st.data())
    def sweep(self, days: int, data: st.DataObject) -> None:
        keep = data.draw(st.sets(st.sampled_from(["0" * 64, *self.blobs])), label="keep")
        keys = data.draw(st.none() | st.sets(st.sampled_from(["never", *self.traces])), label="keys")
        before = self.store.stats()
        gone = self.store.sweep(keep, days * 24 * 3600.0, keys)
        # When each entry was used is each store's affair, too.
        left = self.store.get_blobs(self.blobs)
        kept = self.store.get_traces_many(self.traces)
        assert keep & self.blobs.keys() <= left.keys()
        assert {key: kept[key] for key in self.traces if keys is None or key in keys} == {
            key: traces for key, traces in self.traces.items() if keys is None or key in keys
        }
        self.blobs, self.traces = left, kept
        after = self.store.stats()
        assert (before.blobs - after.blobs, before.traces - after.traces) == (gone.blobs, gone.traces)

    @rule()
    def flush(self) -> None:
        self.store.flush()

    @rule()
    def take_over(self) -> None:
        self.store.flush()
        self.current = 1 - self.current

    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.stores[self.current] = self.open()

    @rule(share=st.sampled_from([0.0, 0.5, 1.0]))
    def prune(self, share: float) -> None:
        before = self.store.stats()
        allowed = int(share * (before.blob_bytes + before.trace_bytes))
        self.store.prune(allowed)
        # Which entries are the oldest is each store's affair: the model forgets what has gone.
        left = self.store.get_blobs(self.blobs)
        kept = self.store.get_traces_many(self.traces)
        assert left.items() <= self.blobs.items()
        assert all(set(traces) <= set(self.traces[key]) for key, traces in kept.items())
        assert sum(map(len, left.values())) + sum(len(trace) for traces in kept.values() for trace in traces) <= allowed
        self.blobs, self.traces = left, kept

    @invariant()
    def everything_is_as_in_the_model(self) -> None:
        assert self.store.get_blobs(self.blobs) == self.blobs
        assert {digest: self.store.get_blob(digest) for digest in self.blobs} == self.blobs
        assert self.store.get_traces_many(["never", *self.traces]) == self.traces
        assert self.store.get_pointers(["never", *self.pointers]) == self.pointers
        assert sorted(self.store.pointer_names("")) == sorted(self.pointers)

    @rule()
    def count(self) -> None:
        stats = self.store.stats()
        traces = [trace for traces in self.traces.values() for trace in traces]
        assert (stats.blobs, stats.blob_bytes) == (len(self.blobs), sum(map(len, self.blobs.values())))
        assert (stats.traces, stats.trace_bytes) == (len(traces), sum(map(len, traces)))
        assert stats.pointers == len(self.pointers)

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        self.folder.cleanup()


class MemoryMachine(StoreMachine):
    backend = "memory"


class FilesMachine(StoreMachine):
    backend = "files"


class UnbufferedFilesMachine(StoreMachine):
    backend = "files, unbuffered"


class DurableFilesMachine(StoreMachine):
    backend = "files, durable"


TestMemoryStore = MemoryMachine.TestCase
TestFileStore = FilesMachine.TestCase
TestUnbufferedFileStore = UnbufferedFilesMachine.TestCase
TestDurableFileStore = DurableFilesMachine.TestCase
for machine in (MemoryMachine, FilesMachine, UnbufferedFilesMachine, DurableFilesMachine):
    machine.TestCase.settings = settings(stateful_step_count=30)
