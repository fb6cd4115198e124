"""Given a running installation, when processes, messages or Redis are lost, then every save still has its outcome."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from workers.ledger.records import STAGES, Stage
from workers.local.valkey import Valkey
from workers.queues import queue_key
from workers.reindex import reindex

from ..saving import wipe
from .documents import MULTI, compiled, large
from .installation import Installation

Install = Callable[..., Installation]


@pytest.mark.parametrize("stage", STAGES)
def test_a_newer_save_supersedes_a_job_before_each_stage(installation: Installation, stage: Stage) -> None:
    """The older job waits for its stage; the newer save is claimed; the older one goes no further."""
    name = f"superseded-{stage}.md"
    with installation.frozen(stage):
        first = installation.save(name, MULTI)
        installation.until(lambda: installation.job(first.job).stage == stage)
        second = installation.save(name, MULTI + "\n新しい。\n")
        installation.until(lambda: installation.job(first.job).superseded == second.sequence)
    assert installation.outcome(first).status == "superseded"
    assert installation.outcome(second).status == "succeeded"
    assert installation.published(name).order == (second.sequence, 0)


@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_killed_at_work_loses_nothing(installation: Installation, stage: Stage, tmp_path: Path) -> None:
    """Parent and child die while the stage runs; another worker runs it again once the lease has ended."""
    found = installation
    name, text = f"killed-{stage}.md", large(1_200)
    accepted = found.save(name, text)
    key = f"{found.settings.redis_prefix}:job:{accepted.job}"
    found.until(lambda: found.redis.hmget(key, "stage")[0] == stage and found.redis.hget(key, "token"))
    found.kill_one(stage)
    at = found.job(accepted.job)
    found.start_one(stage)
    outcome = found.outcome(accepted)
    assert outcome.status == "succeeded"
    expected = compiled(tmp_path, {name: text})[name]
    assert found.output(name).files == {file: content for file, content in expected.items() if file != "result"}
    job = found.job(accepted.job)
    # It was at work indeed, unless it had finished between the look and the kill.
    assert job.total_attempts > len(STAGES) or at.stage != stage or at.state == "succeeded"
    assert_nothing_left(found)


def test_a_child_killed_at_work_is_replaced(installation: Installation) -> None:
    """The worker goes on with a new child, and the message is sent again."""
    found = installation
    accepted = found.save("child.md", large(1_200))
    key = f"{found.settings.redis_prefix}:job:{accepted.job}"
    worker = found.until(lambda: found.redis.hget(key, "stage") == "parse" and found.redis.hget(key, "worker"))
    os.kill(int(str(worker).rpartition(":")[2]), signal.SIGKILL)
    assert found.outcome(accepted).status == "succeeded"
    assert found.is_running("parse")
    assert_nothing_left(found)


def test_dropped_messages_are_sent_again(installation: Installation) -> None:
    """Of each stage, as a Redis that dies loses them; the reconciler finds what nobody began."""
    found = installation
    accepted = found.save("dropped.md", MULTI)
    for stage in STAGES:
        with found.frozen(stage):
            found.until_at(accepted.job, stage)
            key = queue_key(found.settings.redis_prefix, f"{stage}.interactive")
            # A worker whose blocking read was answered before it was frozen has it already.
            end = time.monotonic() + 1
            while not found.redis.delete(key) and time.monotonic() < end:
                time.sleep(0.01)
    assert found.outcome(accepted).status == "succeeded"
    assert_nothing_left(found)


def test_the_dispatcher_may_be_killed(installation: Installation) -> None:
    """Nothing is lost meanwhile, and its successor goes on; several may run."""
    found = installation
    found.kill_one("dispatcher")
    accepted = found.save("undispatched.md", MULTI)
    time.sleep(0.3)
    assert found.job(accepted.job).state == "queued"
    found.start_one("dispatcher")
    assert found.outcome(accepted).status == "succeeded"


def test_a_worker_that_is_asked_to_end_finishes_first(installation: Installation) -> None:
    """The soft shutdown: what runs may finish, and no attempt is wasted."""
    found = installation
    accepted = found.save("ends.md", large(1_200))
    key = f"{found.settings.redis_prefix}:job:{accepted.job}"
    found.until(lambda: found.redis.hget(key, "stage") == "parse" and found.redis.hget(key, "token"))
    found.stop_one("parse")
    found.start_one("parse")
    assert found.outcome(accepted).status == "succeeded"
    assert found.job(accepted.job).total_attempts == len(STAGES)
    assert_nothing_left(found)


def test_a_broker_that_restarts_and_one_that_is_away(install: Install, tmp_path: Path) -> None:
    """Twice in a row, and for seconds: all go on by themselves, and what was accepted before is published."""
    with Valkey(tmp_path / "valkey") as valkey:
        found = install(AOP_REDIS_URL=valkey.url).start()
        found.outcome(found.save("a.md", MULTI))
        accepted = [found.save(f"before-{number}.md", MULTI) for number in range(5)]
        for _ in range(2):
            valkey.kill()
            valkey.start()
        for save in accepted:
            assert found.outcome(save).status == "succeeded"
        accepted = [found.save(f"outage-{number}.md", MULTI) for number in range(5)]
        time.sleep(1.2)  # so that the append-only file was synced: what a crash of the machine may lose is not meant
        valkey.kill()
        time.sleep(4)  # longer than a lease and than a message that counts as lost
        valkey.start()
        for save in accepted:
            assert found.outcome(save).status == "succeeded"
        assert found.outcome(found.save("after.md", MULTI)).status == "succeeded"
        assert all(found.is_running(name) for name in (*STAGES, "dispatcher"))
        assert_nothing_left(found)
        found.stop()


def test_a_redis_that_is_full_is_waited_for(install: Install, tmp_path: Path) -> None:
    """A worker takes a message and cannot have Redis keep it as taken: it does not end, and goes on when there is
    memory again."""
    with Valkey(tmp_path / "valkey") as valkey:
        found = install(AOP_REDIS_URL=valkey.url).start()
        found.outcome(found.save("a.md", MULTI))
        with found.frozen("parse"):
            accepted = [found.save(f"full-{number}.md", MULTI) for number in range(5)]
            found.until(lambda: all(found.job(save.job).state == "parsing" for save in accepted))
            found.redis.config_set("maxmemory", 1)
        found.until(lambda: "OutOfMemoryError" in found.log("parse"))
        time.sleep(2)  # longer than a lease and than a message that counts as lost
        assert all(found.is_running(name) for name in (*STAGES, "dispatcher"))
        found.redis.config_set("maxmemory", 0)
        for save in accepted:
            assert found.outcome(save).status == "succeeded"
        assert all(found.is_running(name) for name in (*STAGES, "dispatcher"))
        assert_nothing_left(found)
        found.stop()


def test_a_ledger_that_is_lost_is_waited_for(install: Install) -> None:
    """Redis was wiped: nobody makes an empty ledger, nothing is begun, and all go on once it is rebuilt."""
    found = install().start()
    found.outcome(found.save("a.md", MULTI))
    with found.frozen("verify"):  # so that the job has not ended before the ledger is lost
        accepted = found.save("lost.md", MULTI)
        found.until_at(accepted.job, "verify")
        wipe(found.redis, found.context.ledger)
    time.sleep(1.5)
    assert found.redis.hget(f"{found.settings.redis_prefix}:meta", "schema") is None
    reindex(found.context.ledger, found.archive)
    assert found.outcome(accepted).status == "succeeded"
    assert found.outcome(found.save("after.md", MULTI)).status == "succeeded"
    assert all(found.is_running(name) for name in (*STAGES, "dispatcher"))


def assert_nothing_left(found: Installation) -> None:
    """No job is in any place, no lease is held, and every end is in the store."""
    found.until(lambda: set(found.context.ledger.depths().values()) == {0})
    found.until(lambda: not found.context.ledger.unrecorded())
