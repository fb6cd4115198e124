"""Given anything at all on a queue, when it is checked, then only messages of ours pass."""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from redis import Redis

from workers.app import make_app
from workers.broker import MAX_BODY, MAX_WAIT, checked
from workers.busy import Busy
from workers.connections import open_ledger
from workers.ledger.ledger import new_id
from workers.ledger.records import CLASSES, STAGES, JobClass, Lease, Message, Stage
from workers.local.valkey import Valkey
from workers.queues import QUEUES, key_prefix, queue_key, queue_of, queues_of, stage_of_task, task_of
from workers.settings import Settings
from workers.tasks import register

from ..celery_messages import fault_of, send, take_all
from .given import claimed_job

JOB = "0" * 27
Raw = dict[str, Any]
"""A message as it lies in Redis: what it holds is what is tested."""


def raw(args: object = None, kwargs: object = None, embed: object = None, task: str = "aop.parse") -> Raw:
    body = json.dumps([[JOB] if args is None else args, {} if kwargs is None else kwargs, embed])
    return {
        "body": base64.b64encode(body.encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"task": task, "id": "x", "eta": None, "expires": None, "timelimit": [None, None], "retries": 0},
        "properties": {
            "delivery_tag": "t",
            "body_encoding": "base64",
            "delivery_info": {"exchange": "", "routing_key": "parse.interactive"},
        },
    }


def changed(place: str, value: object) -> Raw:
    found = deepcopy(raw())
    *path, last = place.split("/")
    inner = found
    for key in path:
        inner = inner[key]
    if value is KeyError:
        del inner[last]
    else:
        inner[last] = value
    return found


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("job_class", CLASSES)
@pytest.mark.parametrize("registered", [False, True])
def test_what_we_send_passes(
    stage: Stage, job_class: JobClass, registered: bool, service_settings: Settings, redis: Redis
) -> None:
    """As Celery writes it, also when it is sent again later with the worker's limits."""
    settings = service_settings
    message = Message(new_id(), stage, job_class)
    app = make_app(settings)
    if registered:  # as in a worker, where Celery adds what it knows of its tasks
        register(app, settings, Busy())
    send(app, message)
    key = queue_key(settings.redis_prefix, message.queue)
    taken = redis.rpop(key)
    assert isinstance(taken, str)
    sent = json.loads(taken)
    assert fault_of(sent, message.queue) is None
    assert message.job in json.loads(base64.b64decode(sent["body"]))[0]
    assert sent["headers"]["timelimit"] == [None, None]
    sent["headers"]["timelimit"] = [75.0, 60]
    sent["headers"]["eta"] = (datetime.now(UTC) + timedelta(seconds=31)).isoformat()
    sent["headers"]["retries"] = 1
    assert fault_of(sent, message.queue) is None
    assert redis.llen(key) == 0


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("job_class", CLASSES)
def test_what_the_ledger_sends_is_celerys(
    stage: Stage, job_class: JobClass, service_settings: Settings, redis: Redis
) -> None:
    """kombu takes it from the queue, decodes it and acknowledges it; it calls the stage's task with the job's id. No
    two messages have the same tag."""
    settings = service_settings
    ledger = open_ledger(settings, redis)
    ledger.open(fresh=True)
    first = claimed_job(ledger)
    job = ledger.begin(first, "parse", "test")
    assert isinstance(job, Lease)
    ledger.complete(job, "succeeded", "{}")
    take_all(redis, settings.redis_prefix)
    message = ledger.recompile("a.md", job_class=job_class)
    assert isinstance(message, Message)
    for following in STAGES[1 : STAGES.index(stage) + 1]:
        lease = ledger.begin(message.job, message.stage, "test")
        assert isinstance(lease, Lease)
        message = ledger.advance(lease, following, "{}")
        assert message is not None
    lengths = {queue: redis.llen(queue_key(settings.redis_prefix, queue)) for queue in QUEUES}
    assert lengths[message.queue] == 1
    taken: list[Any] = []
    with make_app(settings).connection() as connection:
        channel = connection.default_channel
        for earlier in STAGES[: STAGES.index(stage) + 1]:
            found = channel.basic_get(queue_of(earlier, job_class), no_ack=False)
            assert found is not None
            assert fault_of(found.serializable(), queue_of(earlier, job_class)) is None
            taken.append(found)
        last = taken[-1]
        assert last.payload == [[message.job], {}, {}]
        assert last.headers["task"] == task_of(stage)
        assert len({found.delivery_tag for found in taken}) == len(taken)
        unacked = f"{key_prefix(settings.redis_prefix)}unacked"
        assert redis.hlen(unacked) == len(taken)
        for found in taken:
            found.ack()
        assert redis.hlen(unacked) == 0


@pytest.mark.parametrize("how", ["ack", "reject", "requeue"])
def test_what_cannot_be_acknowledged_holds_up_nothing(how: str, service_settings: Settings, tmp_path: Path) -> None:
    """Redis went away in that moment. A worker of one place would else never ask for a message again."""
    with Valkey(tmp_path / "valkey") as valkey:
        settings = service_settings.model_copy(update={"redis_url": SecretStr(valkey.url)})
        app = make_app(settings)
        for _ in range(2):
            send(app, Message(new_id(), "parse", "interactive"))
        with app.connection() as connection:
            channel = connection.default_channel
            channel.basic_qos(0, 1, False)
            first = channel.basic_get("parse.interactive", no_ack=False)
            channel.qos.append(first, first.delivery_tag)
            assert not channel.qos.can_consume()
            valkey.kill()
            with pytest.raises(connection.connection_errors):
                first.ack() if how == "ack" else first.reject(requeue=how == "requeue")
            valkey.start()
            assert channel.qos.can_consume()
            assert channel.basic_get("parse.interactive") is not None


@pytest.mark.parametrize("how", ["ack", "reject", "requeue"])
def test_what_is_acknowledged_on_a_connection_that_was_left(how: str, service_settings: Settings) -> None:
    """A task went on while the worker connected anew. Its message comes once more, and then runs nothing; the worker
    must not end for it."""
    app = make_app(service_settings)
    send(app, Message(new_id(), "parse", "interactive"))
    with app.connection() as connection:
        found = connection.default_channel.basic_get("parse.interactive", no_ack=False)
        assert found is not None
        # What is left of a channel that was closed while Redis was away.
        channel = connection.default_channel
        channel.close()
        channel._disconnect_pools()
        found.ack() if how == "ack" else found.reject(requeue=how == "requeue")


def test_another_versions_arguments_pass() -> None:
    """Two versions run side by side during an upgrade: further arguments and headers are ignored."""
    found = raw([JOB, "more", 1], {"option": True}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None})
    found["headers"]["new"] = {"a": 1}
    found["more"] = 1
    assert fault_of(found, "parse.interactive") is None


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("headers/chain", [{"task": "aop.verify", "args": [JOB]}]),
        ("headers/callbacks", [{"task": "aop.verify"}]),
        ("headers/compression", "gzip"),
        ("headers/timelimit", [1]),
        ("headers/timelimit", [1e-300, 1e-300]),
        ("headers/delivery_info", "x"),
        ("headers/eta", "0001-01-01T00:00:00+23:59"),
        ("properties/delivery_info", {"exchange": "x", "routing_key": "y"}),
        ("properties/reply_to", "x"),
        ("properties/headers", [1]),
        ("more", 1),
    ],
)
def test_celery_sees_nothing_but_what_was_checked(place: str, value: object) -> None:
    """It would run a task that a header names, or take up a worker's place for ever with what it cannot read."""
    assert checked(changed(place, value), "parse.interactive") == checked(raw(), "parse.interactive")


def test_a_message_is_made_of_what_was_checked() -> None:
    """Its task, its job, its tag, how often it was sent, and until when it waits."""
    when = datetime.now(UTC) + timedelta(minutes=1)
    given = raw([JOB, "more"], {"job": "x"})
    given["headers"] |= {"eta": when.astimezone(timezone(timedelta(seconds=1))).isoformat(), "retries": 2}
    found = checked(given, "parse.interactive")
    assert isinstance(found, dict)
    headers, properties = found["headers"], found["properties"]
    assert isinstance(headers, dict)
    assert isinstance(properties, dict)
    assert (headers["task"], headers["id"], headers["retries"], headers["eta"]) == (
        "aop.parse",
        "x",
        2,
        when.isoformat(),
    )
    assert properties["delivery_tag"] == "t"
    assert json.loads(base64.b64decode(str(found["body"]))) == [[JOB], {}, {}]
    assert fault_of(found, "parse.interactive") is None


@pytest.mark.parametrize(
    ("task", "queue"),
    [("celery.backend_cleanup", "parse.bulk"), ("aop.prune", "parse.bulk"), ("aop.verify", "parse.interactive")],
)
def test_other_tasks_are_unknown(task: str, queue: str) -> None:
    """Celery's own too, and those of another queue."""
    found = fault_of(raw(task=task), queue)
    assert found is not None
    assert found[0] == "unknown-task"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("body", KeyError),
        ("body", 7),
        ("body", "%%%"),
        ("body", base64.b64encode(b"\xff\xfe").decode()),
        ("body", base64.b64encode(b"{}").decode()),
        ("body", base64.b64encode(b"[1,2]").decode()),
        ("body", base64.b64encode(b"[" * 100_000).decode()[:MAX_BODY]),
        ("body", "A" * (MAX_BODY * 2)),
        ("content-type", "application/x-python-serialize"),
        ("content-encoding", "binary"),
        ("headers", KeyError),
        ("headers", []),
        ("headers/task", KeyError),
        ("headers/task", 5),
        ("headers/id", KeyError),
        ("headers/eta", "soon"),
        ("headers/eta", "9999-12-31T23:59:59+00:00"),
        ("headers/expires", "2020-01-01T00:00:00"),
        ("headers/timelimit", [1, "x"]),
        ("headers/timelimit", [1e9, 1]),
        ("headers/group", "g"),
        ("headers/stamped_headers", ["x"]),
        ("properties", KeyError),
        ("properties/delivery_tag", KeyError),
        ("properties/delivery_tag", {"a": 1}),
        ("properties/delivery_info", KeyError),
        ("properties/delivery_info", {}),
        ("properties/body_encoding", None),
    ],
)
def test_a_message_that_lacks_something_is_malformed(place: str, value: object) -> None:
    """Each would end Celery's worker, run something else, or wait for ever."""
    found = fault_of(changed(place, value), "parse.interactive")
    assert found is not None
    assert found[0] == "malformed"


@pytest.mark.parametrize(
    ("args", "kwargs", "embed"),
    [
        ([], {}, None),
        ("abc", {}, None),
        (["../../etc"], {}, None),
        ([JOB.upper().replace("0", "G")], {}, None),
        ([7], {}, None),
        ([JOB], [], None),
        ([JOB] * 17, {}, None),
        ([JOB], {}, {"callbacks": [{"task": "aop.parse"}]}),
        ([JOB], {}, {"chain": [1]}),
        ([JOB], {}, [1]),
    ],
)
def test_arguments_are_a_jobs_id(args: object, kwargs: object, embed: object) -> None:
    """And nothing that makes Celery run something else afterwards."""
    found = fault_of(raw(args, kwargs, embed), "parse.interactive")
    assert found is not None
    assert found[0] == "malformed"


def test_a_message_is_not_put_off_for_longer_than_an_hour() -> None:
    """It would lie in a worker's memory."""
    late = (datetime.now(UTC) + MAX_WAIT + timedelta(minutes=1)).isoformat()
    assert fault_of(changed("headers/eta", late), "parse.interactive") is not None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_anything_else_is_refused_and_raises_nothing(value: object) -> None:
    """Whatever JSON it is."""
    assert fault_of(value, "parse.interactive") is not None


@given(
    st.sampled_from(["body", "content-type", "headers", "headers/task", "headers/id", "properties/delivery_tag"]),
    json_values,
)
def test_any_value_in_any_place_raises_nothing(place: str, value: object) -> None:
    """A field with another value is refused or harmless."""
    found = fault_of(changed(place, value), "parse.interactive")
    assert found is None or found[0] in ("malformed", "unknown-task")


def test_queues_and_tasks_have_names() -> None:
    """As the settings of Celery, the exporter and the chart have them."""
    assert QUEUES[:2] == ("parse.interactive", "parse.bulk")
    assert [queue_of(stage, job_class) for stage in STAGES for job_class in CLASSES] == list(QUEUES)
    assert queues_of("verify", "both") == ("verify.interactive", "verify.bulk")
    assert queues_of("verify", "bulk") == ("verify.bulk",)
    assert [stage_of_task(task_of(stage)) for stage in STAGES] == list(STAGES)
    assert stage_of_task("parse") is None
