"""The broker's transport, with every message checked before Celery sees it.

What is not a message of ours is dropped and counted: the ledger knows what is to be done, so no message is worth a
worker. Celery itself would end for some of them: what is no JSON, or lacks a field, raises in the middle of its loop.
And of one that passes Celery sees only what was checked, in a message that is made here: it knows many more headers
than ours, some of which run other tasks, and for the values of others its loop never asks for a message again.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Final, Literal, NamedTuple, cast

from kombu.transport.redis import Channel, QoS, SentinelChannel, SentinelTransport, Transport
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from redis import ConnectionPool, Redis
from redis.exceptions import RedisError

from workers.ledger.records import STAGES
from workers.logs import get_logger
from workers.queues import stage_of_task

MAX_BODY: Final = 16_384
"""Bytes of a message's body; ours have about a hundred."""
MAX_WAIT: Final = timedelta(hours=1)
"""For how long a message may ask to be put off."""

Fault = Literal["malformed", "unknown-task"]


class Refused(NamedTuple):
    """`problem`: in words, for the log."""

    fault: Fault
    problem: str


_UNDECODABLE: Final = (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Of decoding a message: kombu takes JSON with marks for dates and numbers, which fail each in its way."""

_log = get_logger(__name__)


class _Closed(BaseModel):
    """Fields that this version does not know are ignored: another version may send them."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Headers(_Closed):
    """Celery's, of protocol 2. What plainly asks for more than to run the task is refused."""

    task: Annotated[str, Field(max_length=255)]
    id: Annotated[str, Field(min_length=1, max_length=255)]
    eta: Annotated[str, Field(max_length=64)] | None = None
    expires: None = None
    group: None = None
    stamped_headers: None = None
    timelimit: Annotated[list[Annotated[float, Field(gt=0, le=86_400)] | None], Field(max_length=2)] | None = None
    retries: Annotated[int, Field(ge=0, le=1_000)] = 0


class _DeliveryInfo(_Closed):
    """By which kombu puts a message back that nobody acknowledged."""

    exchange: Annotated[str, Field(max_length=255)]
    routing_key: Annotated[str, Field(max_length=255)]


class _Properties(_Closed):
    delivery_tag: Annotated[str, Field(min_length=1, max_length=255)]
    body_encoding: Literal["base64"]
    delivery_info: _DeliveryInfo


class _Envelope(_Closed):
    body: Annotated[str, Field(max_length=MAX_BODY * 4 // 3 + 4)]
    content_type: Annotated[Literal["application/json"], Field(alias="content-type")]
    content_encoding: Annotated[Literal["utf-8"], Field(alias="content-encoding")]
    headers: _Headers
    properties: _Properties


class _Embed(_Closed):
    callbacks: None = None
    errbacks: None = None
    chain: None = None
    chord: None = None


class _Body(_Closed):
    """Celery's list of three. More arguments may come from another version."""

    args: Annotated[list[object], Field(min_length=1, max_length=16)]
    kwargs: dict[str, object]
    embed: _Embed


class _Job(_Closed):
    job: Annotated[str, Field(pattern=r"^[0-9a-f]{27}$")]


def checked(message: object, queue: str) -> dict[str, object] | Refused:
    """What Celery is to see of a message in that queue, or why nothing."""
    try:
        envelope = _Envelope.model_validate(message)
        headers = envelope.headers
        stage = stage_of_task(headers.task)
        if stage is None:
            return Refused("unknown-task", f"there is no task {headers.task[:80]!r}")
        if queue.partition(".")[0] != stage:
            return Refused("unknown-task", f"{headers.task} is not taken from the queue {queue}")
        decoded = json.loads(base64.b64decode(envelope.body, validate=True))
        if not isinstance(decoded, list) or len(decoded) != 3:
            return Refused("malformed", "the body is not a list of arguments, options and what follows")
        args, kwargs, embed = decoded
        body = _Body.model_validate({"args": args, "kwargs": kwargs, "embed": embed or {}})
        job = _Job.model_validate({"job": body.args[0]}).job
        eta = None if headers.eta is None else _time_of(headers.eta)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        return Refused("malformed", f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except (binascii.Error, UnicodeDecodeError, RecursionError, ValueError) as error:
        return Refused("malformed", str(error))
    return _made(headers, job, eta, envelope.properties.delivery_tag, queue)


def _time_of(eta: str) -> str | None:
    """None: it is over. Raises ValueError for what is no time, or too late a one."""
    when = datetime.fromisoformat(eta)
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    wait = when - datetime.now(UTC)
    if wait > MAX_WAIT:
        raise ValueError(f"it asks to be put off until {eta}")
    # In UTC: Celery does not read every offset that Python writes.
    return when.astimezone(UTC).isoformat() if wait > timedelta() else None


def _made(headers: _Headers, job: str, eta: str | None, tag: str, queue: str) -> dict[str, object]:
    return {
        "body": base64.b64encode(json.dumps([[job], {}, {}]).encode("ascii")).decode("ascii"),
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {
            "lang": "py",
            "task": headers.task,
            "id": headers.id,
            "root_id": headers.id,
            "parent_id": None,
            "retries": headers.retries,
            "eta": eta,
        },
        "properties": {
            "correlation_id": headers.id,
            "delivery_tag": tag,
            "delivery_mode": 2,
            "priority": 0,
            "body_encoding": "base64",
            "delivery_info": {"exchange": "", "routing_key": queue},
        },
    }


def refuse(fault: Fault, queue: str, problem: str) -> None:
    """Dropped: nothing of it is shown, it may hold anything."""
    from workers.metrics import metrics  # noqa: PLC0415 - the folder of metrics is chosen before the first import

    metrics.messages_refused.labels(fault).inc()
    _log.warning("message refused", reason=fault, queue=queue, problem=problem)


class ForgivingQoS(QoS):
    """A message that could not be acknowledged because Redis was away no longer takes its place: kombu would keep it,
    Celery only logs the fault, and a worker of one place would never ask for a message again, nor notice that its
    connection is gone. Redis hands the message out once more, and then it runs nothing."""

    def ack(self, delivery_tag: str) -> None:
        """Raises RedisError, OSError."""
        self._settle(delivery_tag, partial(super().ack, delivery_tag))

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Raises RedisError, OSError."""
        self._settle(delivery_tag, partial(super().reject, delivery_tag, requeue))

    def _settle(self, delivery_tag: str, settle: Callable[[], object]) -> None:
        if self.channel is None or self.channel.closed or self.channel.connection is None:
            # The connection was given up and another one is in use: a task that began before has its message from this
            # one, and kombu would end the worker for it.
            return
        try:
            settle()
        except (RedisError, OSError):
            self._quick_ack(delivery_tag)
            raise

    def restore_by_tag(self, tag: str, client: Redis | None = None, leftmost: bool = False) -> None:
        """What was kept as taken and is no message goes: it would hold up those behind it, each time anew. Raises
        RedisError, OSError."""
        try:
            super().restore_by_tag(tag, client, leftmost)  # type: ignore[no-untyped-call]  # kombu's
        except (*_UNDECODABLE, LookupError) as error:
            self._remove_from_indices(tag).execute()  # type: ignore[no-untyped-call]  # kombu's
            refuse("malformed", "", f"{type(error).__name__}: not a message")


class _CheckedChannel:
    """Mixed into kombu's: what cannot even be decoded is dropped; and one client serves all messages, where kombu makes
    a new one for each, which takes longer than sending it."""

    pool: ConnectionPool
    _kept: Redis | None = None

    def _create_client(self, asynchronous: bool = False) -> Redis:
        if asynchronous:  # of a channel's own reading connection, of which it makes one
            return cast("Redis", super()._create_client(asynchronous=True))  # type: ignore[misc]  # see above
        if self._kept is None or self._kept.connection_pool is not self.pool:  # after a fork it has another pool
            self._kept = cast("Redis", super()._create_client())  # type: ignore[misc]  # see above
        return self._kept

    def _brpop_read(self, **options: object) -> object:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]  # of the class that this is mixed into
        except _UNDECODABLE as error:
            refuse("malformed", "", f"{type(error).__name__}: not a message")
            return True


class _CheckedTransport:
    """Mixed into kombu's."""

    _callbacks: dict[str, Callable[[object], object]]

    def _deliver(self, message: object, queue: str) -> None:
        if queue.partition(".")[0] in STAGES:
            found = checked(message, queue)
            if isinstance(found, Refused):
                refuse(found.fault, queue, found.problem)
                return
            message = found
        super()._deliver(message, queue)  # type: ignore[misc]  # of the class that this is mixed into


class CheckedChannel(_CheckedChannel, Channel):
    """Of one Redis."""

    QoS = ForgivingQoS


class CheckedTransport(_CheckedTransport, Transport):
    """Of one Redis."""

    Channel = CheckedChannel


class CheckedSentinelChannel(_CheckedChannel, SentinelChannel):
    """Of a Redis that a Sentinel names."""

    QoS = ForgivingQoS


class CheckedSentinelTransport(_CheckedTransport, SentinelTransport):
    """Of a Redis that a Sentinel names."""

    Channel = CheckedSentinelChannel
