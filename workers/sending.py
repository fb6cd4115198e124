"""Handing a message to the queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from celery import Celery
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from workers.ledger.records import Message
from workers.logs import get_logger
from workers.queues import task_of

Send: TypeAlias = Callable[[Message, str], None]
"""The message, and the W3C traceparent of its job ("" none). Never raises."""

_log = get_logger(__name__)


def sender(app: Celery) -> Send:
    def send(message: Message, trace: str) -> None:
        headers = {"traceparent": trace} if trace else {}
        try:
            app.send_task(
                task_of(message.stage),
                (message.job,),
                queue=message.queue,
                headers=headers,
                # Those of the worker that takes it count, not those of the process that sends it.
                time_limit=None,
                soft_time_limit=None,
            )
        except (KombuError, RedisError, OSError) as error:
            # The ledger knows that it is due: the reconciler sends it again.
            _log.warning("message not sent", job=message.job, queue=message.queue, cause=str(error))

    return send
