"""The names of queues and tasks, and where Redis keeps a queue.

One queue for each stage and class (`parse.interactive` … `verify.bulk`): bulk work waits in lists of its own, so that a
saved document never stands behind it, and a worker for saved documents alone can be started.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from workers.ledger.records import CLASSES, STAGES, JobClass, Stage

Taken: TypeAlias = Literal["interactive", "bulk", "both"]
"""Which classes a worker takes."""

QUEUES: Final = tuple(f"{stage}.{job_class}" for stage in STAGES for job_class in CLASSES)

_TASKS: Final[dict[str, Stage]] = {f"aop.{stage}": stage for stage in STAGES}


def queue_of(stage: Stage, job_class: JobClass) -> str:
    return f"{stage}.{job_class}"


def queues_of(stage: Stage, taken: Taken) -> tuple[str, ...]:
    """The interactive one first."""
    return tuple(queue_of(stage, job_class) for job_class in CLASSES if taken in (job_class, "both"))


def task_of(stage: Stage) -> str:
    return f"aop.{stage}"


def stage_of_task(name: str) -> Stage | None:
    """None: no task of ours."""
    return _TASKS.get(name)


def key_prefix(prefix: str) -> str:
    """What stands before each key of the broker, `prefix` being the installation's: several may share one Redis."""
    return f"{prefix}:queue:"


_SENT: Final = re.compile(r'"delivery_tag": ?"(\d+)-\d+"')


def sent_ms(message: str) -> int | None:
    """When the ledger put a message, as it lies on its queue, there (`enqueue` of `lua/keys.lua`). None: Celery did."""
    found = _SENT.search(message)
    return None if found is None else int(found[1])


def queue_key(prefix: str, queue: str) -> str:
    """The Redis list that holds a queue's messages."""
    return key_prefix(prefix) + queue
