"""The store in a bucket of S3, or of any server that speaks S3 and honours conditional writes.

* A blob is the object `blobs/DIGEST`, put with `If-None-Match: *`: write-once, whoever comes first.
* The traces of a key are the object `traces/KEY`, moved by its ETag.
* A pointer is the object `pointers/NAME`, moved by its ETag.

Nothing is gathered: what a method has written is durable and visible to all when it returns.
"""

from __future__ import annotations

import hashlib
import random
import secrets
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeVar, cast
from urllib.parse import quote

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from pipeline.stores.protocol import (
    TRACES_PER_KEY,
    DamagedBlob,
    NothingToClose,
    StoreError,
    StoreStats,
    check_digest,
    check_key,
)

T = TypeVar("T")

MAX_ENTRY_BYTES: Final = 256 * 1024 * 1024
_PARALLEL: Final = 16
_MOVES: Final = 40
"""How often a move by ETag is tried again when others move the same object."""


@dataclass(frozen=True, slots=True)
class S3Settings:
    """`endpoint` None: AWS's own. `prefix`: in front of all keys, "" or ending in "/". Credentials are found as boto3
    finds them (environment, profile, the pod's identity) unless both are given. `encryption`: what the bucket is asked
    to do with each object; `kms_key` goes with `aws:kms`. Times in seconds."""

    bucket: str
    prefix: str = "aop/"
    endpoint: str | None = None
    region: str | None = None
    access_key: str | None = None
    secret_key: str | None = None
    path_style: bool = False
    encryption: Literal["AES256", "aws:kms"] | None = None
    kms_key: str | None = None
    connect_timeout: float = 5.0
    read_timeout: float = 20.0
    attempts: int = 5
    ca_bundle: str | None = None


class _Body(Protocol):
    def read(self, amount: int) -> bytes: ...


class _Client(Protocol):
    """What is used of boto3's client, which has no types of its own."""

    def get_object(self, **arguments: str) -> Mapping[str, object]: ...
    def put_object(self, **arguments: object) -> Mapping[str, object]: ...
    def delete_object(self, **arguments: str) -> Mapping[str, object]: ...
    def list_objects_v2(self, **arguments: object) -> Mapping[str, object]: ...


class _Object(NamedTuple):
    data: bytes
    tag: str


class _Listed(NamedTuple):
    key: str
    size: int
    modified: float


class S3Store(NothingToClose):
    """A `Store` in a bucket. Threads may share it.

    Raises StoreError from its methods: `denied`, `unreachable`, `unusable`, and `unconditional` from `check`.
    """

    def __init__(self, settings: S3Settings) -> None:
        self._settings = settings
        self._where = f"s3://{settings.bucket}/{settings.prefix}"
        self._client = _connect(settings)

    def check(self) -> None:
        """Refuse a bucket that cannot be used, and a server that ignores the conditions of a write: with it two writers
        would overwrite each other unseen. Raises StoreError."""
        key = self._key("checks", secrets.token_hex(8))
        try:
            first = self._put(key, b"1", missing=True)
            honoured = (
                first is not None
                and self._put(key, b"2", missing=True) is None
                and self._put(key, b"3", tag='"0123456789abcdef0123456789abcdef"') is None
                and self._put(key, b"4", tag=first) is not None
                and self._get(key) is not None
            )
        finally:
            self._delete(key)
        if not honoured:
            raise StoreError("unconditional", self._where)

    # ----------------------------------------------------------------------------------------------- blobs

    def get_blob(self, digest: str) -> bytes | None:
        key = self._key("blobs", check_digest(digest))
        found = self._get(key)
        if found is None:
            return None
        if hashlib.sha256(found.data).hexdigest() != digest:
            self._delete(key)
            raise DamagedBlob(self._where, digest)
        return found.data

    def get_blobs(self, digests: Iterable[str]) -> dict[str, bytes]:
        def sound(digest: str) -> bytes | None:
            try:
                return self.get_blob(digest)
            except DamagedBlob:
                return None

        return _present(list(map(check_digest, digests)), sound)

    def put_blob(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self._put(self._key("blobs", digest), data, missing=True)
        return digest

    # ---------------------------------------------------------------------------------------------- traces

    def get_traces(self, key: str) -> list[bytes]:
        found = self._get(self._key("traces", check_key(key)))
        return [] if found is None else _unpack(found.data)

    def get_traces_many(self, keys: Iterable[str]) -> dict[str, list[bytes]]:
        found = _present(list(map(check_key, keys)), self.get_traces)
        return {key: traces for key, traces in found.items() if traces}

    def add_trace(self, key: str, trace: bytes) -> None:
        place = self._key("traces", check_key(key))
        for _ in _tries():
            found = self._get(place)
            traces = [] if found is None else _unpack(found.data)
            if traces and traces[0] == trace:
                return
            kept = [trace, *(other for other in traces if other != trace)][:TRACES_PER_KEY]
            if self._put(place, _pack(kept), tag=found and found.tag, missing=found is None) is not None:
                return
        raise StoreError("busy", self._where, place)

    # -------------------------------------------------------------------------------------------- pointers

    def get_pointer(self, name: str) -> bytes | None:
        found = self._get(self._key("pointers", check_key(name)))
        return None if found is None else found.data

    def set_pointer(self, name: str, value: bytes, expected: bytes | None) -> bool:
        place = self._key("pointers", check_key(name))
        found = self._get(place)
        if (None if found is None else found.data) != expected:
            return False
        # The ETag is of these very bytes: whoever moved the pointer away and back has left it as it was expected.
        return self._put(place, value, tag=found and found.tag, missing=found is None) is not None

    def get_pointers(self, names: Iterable[str]) -> dict[str, bytes]:
        return _present(list(map(check_key, names)), self.get_pointer)

    # ---------------------------------------------------------------------------------------------- upkeep

    def flush(self) -> None:
        """Everything is durable already."""

    def stats(self) -> StoreStats:
        blobs = [entry.size for entry in self._list("blobs")]
        traces = [len(trace) for entry in self._list("traces") for trace in self._traces_at(entry.key)]
        return StoreStats(len(blobs), sum(blobs), len(traces), sum(traces), sum(1 for _ in self._list("pointers")))

    def prune(self, max_bytes: int) -> StoreStats:
        """A bucket does not know what was read last: what was written longest ago goes first."""
        entries = sorted([*self._list("blobs"), *self._list("traces")], key=lambda entry: entry.modified)
        sizes = {entry.key: self._content(entry) for entry in entries}
        excess = sum(sum(traces) if traces else blob for blob, traces in sizes.values()) - max_bytes
        blobs, traces_dropped = [], []
        for entry in entries:
            blob, traces = sizes[entry.key]
            if excess <= 0:
                break
            self._delete(entry.key)
            excess -= sum(traces) if traces else blob
            if self._is_blob(entry):
                blobs.append(blob)
            else:
                traces_dropped += traces
        return StoreStats(len(blobs), sum(blobs), len(traces_dropped), sum(traces_dropped), 0)

    # -------------------------------------------------------------------------------------------- requests

    def _key(self, kind: str, name: str) -> str:
        # A dot would let `..` mean a folder to servers that keep objects as files.
        return f"{self._settings.prefix}{kind}/{quote(name, safe='').replace('.', '%2E')}"

    def _is_blob(self, entry: _Listed) -> bool:
        return entry.key.startswith(f"{self._settings.prefix}blobs/")

    def _content(self, entry: _Listed) -> tuple[int, list[int]]:
        return (entry.size, []) if self._is_blob(entry) else (0, [len(trace) for trace in self._traces_at(entry.key)])

    def _traces_at(self, key: str) -> list[bytes]:
        found = self._get(key)
        return [] if found is None else _unpack(found.data)

    def _get(self, key: str) -> _Object | None:
        def request() -> _Object | None:
            try:
                answer = self._client.get_object(Bucket=self._settings.bucket, Key=key)
            except ClientError as error:
                if _code(error) in ("NoSuchKey", "404"):
                    return None
                raise
            data = cast("_Body", answer["Body"]).read(MAX_ENTRY_BYTES + 1)
            if len(data) > MAX_ENTRY_BYTES:
                raise StoreError("too-large", self._where, str(len(data)))
            return _Object(data, str(answer["ETag"]))

        return self._asked(request)

    def _put(self, key: str, data: bytes, *, tag: str | None = None, missing: bool = False) -> str | None:
        """The object's new ETag. None: the condition does not hold; with `missing` the object is there already."""
        if len(data) > MAX_ENTRY_BYTES:
            raise StoreError("too-large", self._where, str(len(data)))
        arguments: dict[str, object] = {"Bucket": self._settings.bucket, "Key": key, "Body": data}
        if missing:
            arguments["IfNoneMatch"] = "*"
        elif tag is not None:
            arguments["IfMatch"] = tag
        if self._settings.encryption is not None:
            arguments["ServerSideEncryption"] = self._settings.encryption
        if self._settings.kms_key is not None:
            arguments["SSEKMSKeyId"] = self._settings.kms_key

        def request() -> str | None:
            for _ in _tries():
                try:
                    return str(self._client.put_object(**arguments)["ETag"])
                except ClientError as error:
                    code = _code(error)
                    # 404: the object that the tag belongs to is gone.
                    if code in ("PreconditionFailed", "412") or (code in ("NoSuchKey", "404") and tag is not None):
                        return None
                    # Another conditional write to the same object is under way (S3's documentation: try again).
                    if code not in ("ConditionalRequestConflict", "409"):
                        raise
            raise StoreError("busy", self._where, key)

        return self._asked(request)

    def _delete(self, key: str) -> None:
        self._asked(lambda: self._client.delete_object(Bucket=self._settings.bucket, Key=key))

    def _list(self, kind: str) -> Iterator[_Listed]:
        arguments: dict[str, object] = {"Bucket": self._settings.bucket, "Prefix": f"{self._settings.prefix}{kind}/"}
        while True:
            answer = self._asked(lambda: self._client.list_objects_v2(**arguments))
            for entry in cast("list[Mapping[str, object]]", answer.get("Contents", ())):
                modified = cast("_Dated", entry["LastModified"]).timestamp()
                yield _Listed(str(entry["Key"]), cast("int", entry["Size"]), modified)
            if not answer.get("IsTruncated"):
                return
            arguments["ContinuationToken"] = answer["NextContinuationToken"]

    def _asked(self, request: Callable[[], T]) -> T:
        """boto3 has tried again already, where that helps; what remains is for a person."""
        try:
            return request()
        except ClientError as error:
            code = _code(error)
            denied = code in ("AccessDenied", "403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken")
            raise StoreError("bucket-denied" if denied else "bucket-unusable", self._where, code) from error
        except BotoCoreError as error:
            raise StoreError("unreachable", self._where, type(error).__name__) from error


class _Dated(Protocol):
    def timestamp(self) -> float: ...


def _connect(settings: S3Settings) -> _Client:
    config = Config(
        connect_timeout=settings.connect_timeout,
        read_timeout=settings.read_timeout,
        retries={"mode": "standard", "total_max_attempts": settings.attempts},
        max_pool_connections=2 * _PARALLEL,
        s3={"addressing_style": "path" if settings.path_style else "auto"},
        # Checksums in trailers are not understood by every server that speaks S3; blobs are verified by their digest.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    session = boto3.session.Session(
        aws_access_key_id=settings.access_key,
        aws_secret_access_key=settings.secret_key,
        region_name=settings.region,
    )
    try:
        made = session.client("s3", endpoint_url=settings.endpoint, config=config, verify=settings.ca_bundle)
    except (BotoCoreError, ValueError) as error:
        raise StoreError("unreachable", f"s3://{settings.bucket}/{settings.prefix}", str(error)) from error
    return cast("_Client", made)


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _tries() -> Iterator[int]:
    """With pauses between them that grow and differ, so that those who collide do not collide again."""
    for attempt in range(_MOVES):
        if attempt:
            time.sleep(random.uniform(0, min(0.5, 0.005 * 2**attempt)))  # noqa: S311 - no secret
        yield attempt


def _present(keys: list[str], read: Callable[[str], T | None]) -> dict[str, T]:
    """In the order asked, several at once."""
    if len(keys) <= 1:
        found = list(map(read, keys))
    else:
        with ThreadPoolExecutor(min(_PARALLEL, len(keys))) as pool:
            found = list(pool.map(read, keys))
    return {key: value for key, value in zip(keys, found, strict=True) if value is not None}


def _pack(traces: Iterable[bytes]) -> bytes:
    return b"".join([struct.pack(">I", len(trace)) + hashlib.sha256(trace).digest() + trace for trace in traces])


def _unpack(data: bytes) -> list[bytes]:
    """The traces whose bytes are what they were; the rest is left out, and dropped with the next move."""
    traces: list[bytes] = []
    place = 0
    while place + 36 <= len(data):
        (size,) = struct.unpack_from(">I", data, place)
        seal, trace = data[place + 4 : place + 36], data[place + 36 : place + 36 + size]
        if hashlib.sha256(trace).digest() == seal:
            traces.append(trace)
        place += 36 + size
    return traces
