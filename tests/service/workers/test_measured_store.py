"""Given a store that is measured, when it is used, then it does what it did, and its time and faults are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from pipeline.stores.files import FileStore
from pipeline.stores.protocol import Store, StoreError
from workers.measured_store import MeasuredStore


def value(name: str, operation: str) -> float:
    return REGISTRY.get_sample_value(name, {"operation": operation}) or 0.0


def test_it_is_a_store_whose_operations_are_timed(tmp_path: Path) -> None:
    """Blobs, traces, pointers, listings; what is closed raises and is counted as a fault."""
    before = value("aop_store_seconds_count", "put_blob")
    store: Store
    with MeasuredStore(FileStore(tmp_path, max_bytes=None, durable=True)) as store:
        digest = store.put_blob(b"a")
        assert (store.get_blob(digest), store.get_blobs([digest])) == (b"a", {digest: b"a"})
        store.add_trace("k", b"t")
        assert (store.get_traces("k"), store.get_traces_many(["k"])) == ([b"t"], {"k": [b"t"]})
        assert list(store.trace_keys()) == ["k"]
        assert store.set_pointer("p", b"1", None)
        assert not store.set_pointer("p", b"2", None)
        assert (store.get_pointer("p"), store.get_pointers(["p", "q"])) == (b"1", {"p": b"1"})
        assert list(store.pointer_names("")) == ["p"]
        store.flush()
        assert store.stats().blobs == 1
        assert store.sweep({digest}, 0).blobs == 0
        assert store.prune(1 << 30).blobs == 0
        assert store.delete_pointer("p", b"1")
    assert value("aop_store_seconds_count", "put_blob") == before + 1
    assert value("aop_store_seconds_count", "set_pointer") >= 2


def test_a_fault_is_counted_and_raised(tmp_path: Path) -> None:
    """Here a blob that was damaged on the disk."""
    content = b"unmistakable" * 50
    with FileStore(tmp_path, max_bytes=None, durable=True) as written:
        digest = written.put_blob(content)
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes().replace(b"unmistakable", b"unmistakeble"))
    before = value("aop_store_errors_total", "get_blob")
    with MeasuredStore(FileStore(tmp_path, max_bytes=None, durable=True)) as store, pytest.raises(StoreError):
        store.get_blob(digest)
    assert value("aop_store_errors_total", "get_blob") == before + 1
