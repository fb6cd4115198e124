"""Messages on the queues: taken from them, or put there as Celery itself writes what it sends again."""

from __future__ import annotations

import base64
import json
from typing import Any

from celery import Celery
from redis import Redis

from workers.broker import Refused, checked
from workers.ledger.records import Message
from workers.queues import QUEUES, queue_key, task_of


def send(app: Celery, message: Message) -> None:
    app.send_task(task_of(message.stage), (message.job,), queue=message.queue)


def fault_of(message: object, queue: str) -> Refused | None:
    """None: it is one of ours."""
    found = checked(message, queue)
    return found if isinstance(found, Refused) else None


def take_raw(redis: Redis, prefix: str, queue: str) -> dict[str, Any] | None:
    """The queue's next message, which a worker would take; None: it is empty. What it holds is what is tested."""
    taken = redis.rpop(queue_key(prefix, queue))
    if taken is None:
        return None
    assert isinstance(taken, str)
    found: dict[str, Any] = json.loads(taken)
    assert fault_of(found, queue) is None
    return found


def take_all(redis: Redis, prefix: str) -> list[Message]:
    """All that is on the queues: those of the earlier stages, and of saved documents, first."""
    found: list[Message] = []
    for queue in QUEUES:
        stage, _, job_class = queue.partition(".")
        while (raw := take_raw(redis, prefix, queue)) is not None:
            ((job,), _, _) = json.loads(base64.b64decode(raw["body"]))
            found.append(Message(job, stage, job_class))  # type: ignore[arg-type]  # a queue's name is made of them
    return found
