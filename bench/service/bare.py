"""A worker of empty tasks that hand on as ours do, with the same settings: `python -m bench.service.bare STAGE`."""

from __future__ import annotations

import sys
from typing import Final

from celery import Celery
from redis import Redis

from workers.app import make_app
from workers.connections import open_redis
from workers.ledger.records import STAGES, Stage
from workers.queues import queue_of, task_of
from workers.settings import load

DONE: Final = "bench:bare"
"""Counts the documents that have gone through all four."""


def send(app: Celery, job: str, stage: Stage) -> None:
    """As Celery sends."""
    app.send_task(task_of(stage), (job,), queue=queue_of(stage, "interactive"))


def main(stage: Stage) -> None:
    settings = load()
    app = make_app(settings)
    redis: Redis = open_redis(settings)

    def task(job: str, *_: object, **__: object) -> None:
        place = STAGES.index(stage) + 1
        if place < len(STAGES):
            send(app, job, STAGES[place])
        else:
            redis.incr(DONE)

    app.task(name=task_of(stage))(task)
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--optimization=fair"]
    app.worker_main(["worker", "--queues", queue_of(stage, "interactive"), "--hostname", f"{stage}@bare", *quiet])


if __name__ == "__main__":
    main(sys.argv[1])  # type: ignore[arg-type]  # a stage: who starts it is `bench.service`
