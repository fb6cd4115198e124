"""The store in a bucket: what only S3 can do wrong. Sound use is the conformance suite's."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import boto3
import pytest

from pipeline.stores.protocol import DamagedBlob, StoreError
from pipeline.stores.s3 import S3Settings, S3Store

from .backends import BUCKET, s3_server, s3_settings


def put_behind(settings: S3Settings, key: str, data: bytes) -> None:
    """Write past the store."""
    server = s3_server()
    client = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        region_name="us-east-1",
    )
    client.put_object(Bucket=BUCKET, Key=settings.prefix + key, Body=data)


class Careless(BaseHTTPRequestHandler):
    """A server that speaks enough S3 and ignores the conditions of a write. `failures`: what it answers first."""

    objects: ClassVar[dict[str, bytes]] = {}
    failures: ClassVar[list[int]] = []
    protocol_version = "HTTP/1.1"

    def reply(self, status: int, body: bytes = b"", tag: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if tag:
            self.send_header("ETag", tag)
        self.end_headers()
        self.wfile.write(body)

    def failing(self) -> bool:
        if not self.failures:
            return False
        status = self.failures.pop()
        self.reply(status, b"<Error><Code>InternalError</Code></Error>")
        return True

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.failing():
            self.objects[self.path] = data
            self.reply(200, tag=f'"{md5(data, usedforsecurity=False).hexdigest()}"')

    def do_GET(self) -> None:
        if self.failing():
            return
        data = self.objects.get(self.path)
        if data is None:
            self.reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            self.reply(200, data, f'"{md5(data, usedforsecurity=False).hexdigest()}"')

    def do_DELETE(self) -> None:
        self.objects.pop(self.path, None)
        self.reply(204)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def careless() -> Iterator[S3Settings]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Careless)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Careless.objects.clear()
    Careless.failures.clear()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    yield S3Settings("b", "p/", endpoint, "us-east-1", "a", "s", path_style=True, attempts=3)
    server.shutdown()
    server.server_close()


def test_a_server_that_honours_conditions_is_accepted() -> None:
    """And the check leaves nothing behind."""
    store = S3Store(s3_settings())
    store.check()
    assert list(store._bucket.list("checks/")) == []


def test_a_server_that_ignores_conditions_is_refused(careless: S3Settings) -> None:
    """At start, not when two writers have met."""
    with pytest.raises(StoreError, match="ignores the conditions") as refused:
        S3Store(careless).check()
    assert refused.value.fault == "unconditional"
    assert Careless.objects == {}


def test_passing_failures_are_tried_again(careless: S3Settings) -> None:
    """500 and 503, twice; a third time in a row it is reported."""
    store = S3Store(careless)
    Careless.failures[:] = [500, 503]
    digest = store.put_blob(b"x")
    Careless.failures[:] = [503, 500]
    assert store.get_blob(digest) == b"x"
    Careless.failures[:] = [500] * 3
    with pytest.raises(StoreError) as failed:
        store.get_blob(digest)
    assert failed.value.fault == "bucket-unusable"


def test_wrong_credentials_are_named_and_not_shown() -> None:
    """The sentence tells what to check."""
    settings = replace(s3_settings(), secret_key="wr0ng-s3cret")
    with pytest.raises(StoreError, match="access to the bucket is denied") as refused:
        S3Store(settings).put_blob(b"x")
    assert "wr0ng" not in str(refused.value) + refused.value.text("ja")


def test_a_bucket_that_is_missing_is_not_made() -> None:
    """It is said which."""
    settings = replace(s3_settings(), bucket="no-such-bucket")
    with pytest.raises(StoreError, match="s3://no-such-bucket/"):
        S3Store(settings).put_blob(b"x")


def test_a_server_that_cannot_be_reached() -> None:
    """After the attempts that are set."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{holder.getsockname()[1]}"
        settings = S3Settings("b", "p/", endpoint, "us-east-1", "a", "s", attempts=1, connect_timeout=1)
        with pytest.raises(StoreError) as failed:
            S3Store(settings).get_pointer("x")
    assert failed.value.fault == "unreachable"


def test_a_server_that_hangs_is_given_up() -> None:
    """After the time-out that is set."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
        settings = S3Settings("b", "p/", endpoint, "us-east-1", "a", "s", attempts=1, read_timeout=0.3)
        with pytest.raises(StoreError) as failed:
            S3Store(settings).get_pointer("x")
    assert failed.value.fault == "unreachable"


def test_a_blob_with_other_bytes_is_dropped() -> None:
    """It is reported once, absent afterwards, and can be stored again."""
    settings = s3_settings()
    store = S3Store(settings)
    digest = store.put_blob(b"artifact")
    put_behind(settings, f"blobs/{digest}", b"artifacT")
    assert store.get_blobs([digest]) == {}
    put_behind(settings, f"blobs/{digest}", b"")
    with pytest.raises(DamagedBlob):
        store.get_blob(digest)
    assert store.get_blob(digest) is None
    assert store.put_blob(b"artifact") == digest
    assert store.get_blob(digest) == b"artifact"


def test_a_damaged_trace_is_skipped() -> None:
    """The others under its key are still found, and the next one can be added."""
    settings = s3_settings()
    store = S3Store(settings)
    store.add_trace("key", b"old")
    store.add_trace("key", b"new")
    found = store._bucket.get("traces/key")
    assert found is not None
    put_behind(settings, "traces/key", found.data.replace(b"new", b"nEw"))
    assert store.get_traces("key") == [b"old"]
    for cut in (0, 3, 20, 45):
        put_behind(settings, "traces/key", found.data[:cut])
        store.add_trace("key", b"third")
        assert store.get_traces("key")[0] == b"third"


def test_of_many_writers_each_adds_its_trace() -> None:
    """They move the same object, and none is lost."""
    settings = s3_settings()
    traces = [b"%d" % number for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda trace: S3Store(settings).add_trace("key", trace), traces))
    assert sorted(S3Store(settings).get_traces("key")) == traces


def test_of_many_writers_one_moves_a_pointer() -> None:
    """From the same place, exactly one."""
    settings = s3_settings()
    S3Store(settings).set_pointer("p", b"0", None)
    values = [b"%d" % number for number in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        moved = list(pool.map(lambda value: S3Store(settings).set_pointer("p", value, b"0"), values))
    assert sum(moved) == 1
    assert S3Store(settings).get_pointer("p") == values[moved.index(True)]


def test_objects_lie_below_the_prefix() -> None:
    """And no key leads out of it."""
    settings = s3_settings()
    store = S3Store(settings)
    for name in ("..", "../../x", "a/../../b", "/", "//x", "."):
        assert store.set_pointer(name, name.encode(), None)
        assert store.get_pointer(name) == name.encode()
    assert len(list(store._bucket.list("pointers/"))) == 6


class Counting(S3Store):
    """The requests that were made, by the methods of boto3's client."""

    def __init__(self, settings: S3Settings) -> None:
        super().__init__(settings)
        self.requests: list[str] = []
        events = self._bucket._client.meta.events  # type: ignore[attr-defined]  # boto3's
        events.register("before-send.s3", lambda request, **_: self.requests.append(request.method))

    def made(self) -> str:
        made = " ".join(self.requests)
        self.requests.clear()
        return made


def test_a_pointer_is_moved_with_as_few_requests_as_is_sound() -> None:
    """One where it is set first, or its value is the one that was read or written last; and never a wrong answer."""
    settings = s3_settings()
    store, other = Counting(settings), S3Store(settings)
    assert store.set_pointer("p", b"1", None)
    assert store.made() == "PUT"
    assert store.set_pointer("p", b"2", b"1")
    assert store.made() == "PUT"
    assert store.get_pointer("p") == b"2"
    assert store.made() == "GET"
    assert store.set_pointer("p", b"3", b"2")
    assert store.made() == "PUT"
    assert not store.set_pointer("p", b"4", b"1")
    assert store.made() == "GET"
    assert not store.set_pointer("p", b"4", None)
    assert store.made() == "PUT GET"
    assert other.set_pointer("p", b"5", b"3")
    assert not store.set_pointer("p", b"6", b"3")
    assert store.made() == "PUT GET"
    assert store.delete_pointer("p", b"5")
    assert store.made() == "PUT"
    assert store.set_pointer("p", b"7", None)
    assert store.made() == "PUT GET PUT"
    fresh = Counting(settings)
    assert fresh.set_pointer("p", b"8", b"7")
    assert fresh.made() == "GET PUT"


def test_a_deleted_pointer_leaves_nothing_for_ever() -> None:
    """Its tombstone goes with the next sweep; one that somebody has set again does not."""
    settings = s3_settings()
    store = S3Store(settings, clock=lambda: time.time() + 7200)
    for name in ("a", "b"):
        store.set_pointer(name, b"1", None)
        assert store.delete_pointer(name, b"1")
    assert store.set_pointer("b", b"2", None)
    assert len(list(store._bucket.list("pointers/"))) == 2
    store.sweep(set(), 3600)
    assert len(list(store._bucket.list("pointers/"))) == 1
    assert store.get_pointers(["a", "b"]) == {"b": b"2"}
    assert store.set_pointer("a", b"3", None)


def test_a_blob_that_is_stored_again_is_young_again() -> None:
    """By the server's clock: it is written anew if it has lain there for an hour, else one request says that it is
    there."""
    settings = s3_settings()
    store = Counting(settings)
    digests = [store.put_blob(b"a"), store.put_blob(b"b")]
    time.sleep(1.5)  # S3 tells time in seconds
    between = time.time()
    time.sleep(1.5)
    store.made()
    store.put_blob(b"a")
    assert store.made() == "PUT HEAD"
    later = S3Store(settings, clock=lambda: time.time() + 7200)
    later.put_blob(b"b")
    assert S3Store(settings, clock=lambda: between).sweep(set(), 0).blobs == 1
    assert store.get_blobs(digests) == {digests[1]: b"b"}


def test_of_many_who_delete_a_pointer_one_has_done_so() -> None:
    """From the same place, exactly one, however each knows it."""
    settings = s3_settings()
    stores = [S3Store(settings) for _ in range(8)]
    stores[0].set_pointer("p", b"0", None)
    for store in stores[::2]:
        store.get_pointer("p")
    with ThreadPoolExecutor(8) as pool:
        deleted = list(pool.map(lambda store: store.delete_pointer("p", b"0"), stores))
    assert sum(deleted) == 1
