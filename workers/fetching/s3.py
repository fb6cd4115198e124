"""An object's version, from one of the buckets that saves may name."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final, Protocol, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from workers.fetching.faults import FetchError
from workers.records import S3Reference
from workers.settings import Settings

CONNECT_S: Final = 5.0
READ_S: Final = 10.0
WHOLE_S: Final = 30.0
_CHUNK: Final = 1 << 16

_MISSING: Final = frozenset({"NoSuchKey", "NoSuchVersion", "NoSuchBucket", "404", "MethodNotAllowed"})
"""The last is what a version that is a delete marker answers."""
_DENIED: Final = frozenset({"AccessDenied", "403", "InvalidAccessKeyId", "SignatureDoesNotMatch"})
_OTHER_NOW: Final = frozenset({"PreconditionFailed", "412"})


class _Body(Protocol):
    def read(self, amount: int) -> bytes: ...
    def close(self) -> None: ...


class _Client(Protocol):
    """What is used of boto3's client, which has no types of its own."""

    def get_object(self, **arguments: str) -> Mapping[str, object]: ...
    def close(self) -> None: ...


class S3Fetcher:
    """Threads may share it. Close it."""

    def __init__(self, settings: Settings) -> None:
        self._buckets = frozenset(settings.s3_buckets)
        self._most = settings.max_document_bytes
        access, secret = settings.s3_access_key, settings.s3_secret_key
        self._client = cast(
            "_Client",
            boto3.client(
                "s3",
                endpoint_url=settings.s3_endpoint,
                region_name=settings.s3_region or ("us-east-1" if settings.s3_endpoint else None),
                aws_access_key_id=None if access is None else access.get_secret_value(),
                aws_secret_access_key=None if secret is None else secret.get_secret_value(),
                verify=None if settings.s3_ca_file is None else str(settings.s3_ca_file),
                config=Config(
                    connect_timeout=CONNECT_S,
                    read_timeout=READ_S,
                    retries={"mode": "standard", "total_max_attempts": 3},
                    s3={"addressing_style": "path" if settings.s3_path_style else "auto"},
                ),
            ),
        )

    def fetch(self, reference: S3Reference) -> bytes:
        """Of an unversioned bucket: the object as long as its ETag is the one that was notified. Raises FetchError."""
        where = f"s3://{reference.bucket}/{reference.key}"
        if reference.bucket not in self._buckets:
            raise FetchError("forbidden", where, "AOP_S3_BUCKETS")
        which: dict[str, str] = {"Bucket": reference.bucket, "Key": reference.key}
        if reference.version_id:
            which["VersionId"] = reference.version_id
        elif reference.etag:
            which["IfMatch"] = f'"{reference.etag}"'
        deadline = time.monotonic() + WHOLE_S
        try:
            answer = self._client.get_object(**which)
            return self._read(cast("_Body", answer["Body"]), where, deadline)
        except ClientError as error:
            raise _refusal(error, where) from error
        except BotoCoreError as error:
            raise FetchError("unreachable", where, type(error).__name__) from error

    def _read(self, body: _Body, where: str, deadline: float) -> bytes:
        data = bytearray()
        try:
            while chunk := body.read(_CHUNK):
                data += chunk
                if len(data) > self._most:
                    break
                if time.monotonic() > deadline:
                    raise FetchError("unreachable", where, f"more than {WHOLE_S:.0f} s")
        finally:
            body.close()
        return bytes(data[: self._most + 1])

    def close(self) -> None:
        self._client.close()


def _refusal(error: ClientError, where: str) -> FetchError:
    code = str(error.response.get("Error", {}).get("Code", ""))
    if code in _MISSING or code in _OTHER_NOW:
        # Overwritten before it was fetched: the newer object has a notification, and so a save, of its own.
        return FetchError("missing", where)
    if code in _DENIED:
        return FetchError("denied", where)
    if code in ("SlowDown", "TooManyRequests", "503"):
        return FetchError("limited", where, code)
    return FetchError("unreachable", where, code)
