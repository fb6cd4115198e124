"""A bucket of S3, or of any server that speaks S3 and honours conditional writes: objects by key, moved by their ETag.

What fails is a StoreError: `bucket-denied`, `bucket-unusable`, `unreachable`, `busy`, `too-large`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeVar, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import create_loader
from botocore.session import get_session

from pipeline.stores.protocol import StoreError

T = TypeVar("T")

MAX_ENTRY_BYTES: Final = 256 * 1024 * 1024
PARALLEL: Final = 16
"""How many requests one instance makes at once, where it makes several."""
_MOVES: Final = 40
"""How often a move by ETag is tried again when others move the same object."""
_MISSING: Final = ("NoSuchKey", "404")
_REFUSED: Final = ("PreconditionFailed", "412")


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


class Object(NamedTuple):
    data: bytes
    tag: str


class Listed(NamedTuple):
    """`modified`: seconds since the epoch, by the server's clock."""

    key: str
    size: int
    modified: float


class _Body(Protocol):
    def read(self, amount: int) -> bytes: ...


class _Dated(Protocol):
    def timestamp(self) -> float: ...


class _Client(Protocol):
    """What is used of boto3's client, which has no types of its own."""

    def get_object(self, **arguments: str) -> Mapping[str, object]: ...
    def head_object(self, **arguments: str) -> Mapping[str, object]: ...
    def put_object(self, **arguments: object) -> Mapping[str, object]: ...
    def delete_object(self, **arguments: str) -> Mapping[str, object]: ...
    def list_objects_v2(self, **arguments: object) -> Mapping[str, object]: ...


class Bucket:
    """Keys are below the settings' prefix, which is put in front of them here. Threads may share it."""

    def __init__(self, settings: S3Settings) -> None:
        self.where = f"s3://{settings.bucket}/{settings.prefix}"
        self._settings = settings
        self._client = _connect(settings)

    def get(self, key: str) -> Object | None:
        def request() -> Object:
            answer = self._client.get_object(**self._place(key))
            data = cast("_Body", answer["Body"]).read(MAX_ENTRY_BYTES + 1)
            self._check_size(data)
            return Object(data, str(answer["ETag"]))

        return self._asked(request, absent=_MISSING)

    def put(self, key: str, data: bytes, *, tag: str | None = None, missing: bool = False) -> str | None:
        """The object's new ETag. None: the condition does not hold; with `missing` the object is there already, else
        it is not the one with the ETag `tag`. A request whose answer was lost is made again, and may then be refused
        because of what it did itself."""
        self._check_size(data)
        arguments: dict[str, object] = {**self._place(key), "Body": data}
        if missing:
            arguments["IfNoneMatch"] = "*"
        elif tag is not None:
            arguments["IfMatch"] = tag
        if self._settings.encryption is not None:
            arguments["ServerSideEncryption"] = self._settings.encryption
        if self._settings.kms_key is not None:
            arguments["SSEKMSKeyId"] = self._settings.kms_key

        def request() -> str:
            for _ in tries():
                try:
                    return str(self._client.put_object(**arguments)["ETag"])
                except ClientError as error:
                    # Another conditional write to the same object is under way (S3's documentation: try again).
                    if _code(error) not in ("ConditionalRequestConflict", "409"):
                        raise
            raise StoreError("busy", self.where, key)

        # Missing: the object that the tag belongs to is gone.
        return self._asked(request, absent=_REFUSED if tag is None else (*_REFUSED, *_MISSING))

    def delete(self, key: str, tag: str | None = None) -> None:
        """`tag`: only the object of that ETag, where the server honours a condition on a deletion: not every one does,
        and some refuse it."""
        condition = {} if tag is None else {"IfMatch": tag}
        absent = _MISSING if tag is None else (*_MISSING, *_REFUSED, "NotImplemented", "501")
        self._asked(lambda: self._client.delete_object(**self._place(key), **condition), absent)

    def modified(self, key: str) -> float | None:
        """When the object was written, None if there is none."""

        def request() -> float:
            return cast("_Dated", self._client.head_object(**self._place(key))["LastModified"]).timestamp()

        return self._asked(request, absent=_MISSING)

    def list(self, start: str) -> Iterator[Listed]:
        """The objects whose keys begin with `start`, a page at a time."""
        prefix = self._settings.prefix
        arguments: dict[str, object] = {"Bucket": self._settings.bucket, "Prefix": prefix + start}
        while True:
            answer = self._asked(lambda: self._client.list_objects_v2(**arguments)) or {}
            for entry in cast("list[Mapping[str, object]]", answer.get("Contents", ())):
                modified = cast("_Dated", entry["LastModified"]).timestamp()
                yield Listed(str(entry["Key"]).removeprefix(prefix), cast("int", entry["Size"]), modified)
            if not answer.get("IsTruncated"):
                return
            arguments["ContinuationToken"] = answer["NextContinuationToken"]

    def _place(self, key: str) -> dict[str, str]:
        return {"Bucket": self._settings.bucket, "Key": self._settings.prefix + key}

    def _check_size(self, data: bytes) -> None:
        if len(data) > MAX_ENTRY_BYTES:
            raise StoreError("too-large", self.where, str(len(data)))

    def _asked(self, request: Callable[[], T], absent: tuple[str, ...] = ()) -> T | None:
        """None for the errors whose codes are in `absent`. boto3 has tried again already, where that helps; the rest
        is for a person."""
        try:
            return request()
        except ClientError as error:
            code = _code(error)
            if code in absent:
                return None
            denied = code in ("AccessDenied", "403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken")
            raise StoreError("bucket-denied" if denied else "bucket-unusable", self.where, code) from error
        except BotoCoreError as error:
            raise StoreError("unreachable", self.where, type(error).__name__) from error


def _connect(settings: S3Settings) -> _Client:
    config = Config(
        connect_timeout=settings.connect_timeout,
        read_timeout=settings.read_timeout,
        retries={"mode": "standard", "total_max_attempts": settings.attempts},
        max_pool_connections=2 * PARALLEL,
        s3={"addressing_style": "path" if settings.path_style else "auto"},
        # Checksums in trailers are not understood by every server that speaks S3; blobs are verified by their digest.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    inner = get_session()
    inner.register_component("data_loader", _models(inner.get_config_variable("data_path")))
    session = boto3.session.Session(
        botocore_session=inner,
        aws_access_key_id=settings.access_key,
        aws_secret_access_key=settings.secret_key,
        region_name=settings.region,
    )
    try:
        made = session.client("s3", endpoint_url=settings.endpoint, config=config, verify=settings.ca_bundle)
    except (BotoCoreError, ValueError) as error:
        raise StoreError("unreachable", f"s3://{settings.bucket}/{settings.prefix}", str(error)) from error
    return cast("_Client", made)


@cache
def _models(path: str | None) -> Any:  # noqa: ANN401 - botocore has no types
    """What botocore knows of services: read once a process, since reading it takes longer than most requests."""
    return create_loader(path)


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def tries() -> Iterator[int]:
    """With pauses between them that grow and differ, so that those who collide do not collide again."""
    for attempt in range(_MOVES):
        if attempt:
            time.sleep(random.uniform(0, min(0.5, 0.005 * 2**attempt)))  # noqa: S311 - no secret
        yield attempt
