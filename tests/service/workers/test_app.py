"""Given an installation's settings, when its Celery application is made, then it has what the ledger relies on."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from celery.app.defaults import SETTING_KEYS
from kombu.transport import resolve_transport
from pydantic import SecretStr

from workers.app import broker_url, configuration, make_app, retry_options
from workers.broker import CheckedSentinelTransport, CheckedTransport
from workers.busy import Busy
from workers.queues import QUEUES
from workers.settings import Settings
from workers.tasks import register


def test_every_setting_is_one_of_celerys(service_settings: Settings) -> None:
    """A name with a slip of the pen would be ignored without a word."""
    assert configuration(service_settings).keys() <= SETTING_KEYS


def test_what_the_design_asks_for(service_settings: Settings) -> None:
    """Each of these has a reason, which stands beside it."""
    conf = make_app(service_settings).conf
    assert conf.task_acks_late
    assert not conf.task_reject_on_worker_lost
    assert conf.task_retry_on_worker_lost
    assert conf.worker_prefetch_multiplier == 1
    assert conf.task_ignore_result
    assert conf.accept_content == ["json"]
    assert conf.task_serializer == "json"
    assert not conf.task_create_missing_queues
    assert tuple(queue.name for queue in conf.task_queues) == QUEUES
    assert conf.broker_connection_max_retries is None
    assert conf.broker_transport_options["visibility_timeout"] > conf.task_time_limit + 30
    assert conf.task_time_limit > conf.task_soft_time_limit
    assert conf.broker_transport_options["socket_timeout"]
    assert conf.broker_transport_options["socket_keepalive"]
    assert conf.broker_transport_options["global_keyprefix"].startswith(service_settings.redis_prefix)
    assert conf.worker_soft_shutdown_timeout == service_settings.soft_shutdown_s
    assert not conf.worker_hijack_root_logger
    assert conf.worker_max_memory_per_child == service_settings.max_memory_mb * 1_024
    assert conf.worker_max_tasks_per_child is None
    assert conf.result_backend is None
    assert not conf.worker_enable_remote_control


def test_tasks_have_the_limits_and_send_lost_messages_again(service_settings: Settings) -> None:
    """After their lease, as often as a stage may be tried."""
    app = make_app(service_settings)
    register(app, service_settings, Busy())
    tasks = [app.tasks[name] for name in app.tasks if name.startswith("aop.")]
    assert len(tasks) == 4
    for task in tasks:
        assert task.acks_late
        assert task.retry_on_worker_lost
        assert task.max_retries == service_settings.most_attempts
        assert task.default_retry_delay * 1_000 > service_settings.lease_ms
    assert retry_options(service_settings)["max_retries"] == service_settings.most_attempts


@pytest.mark.parametrize(
    ("ours", "kombus"),
    [
        ("redis://u:p@h:1/4", "redis://u:p@h:1/4"),
        ("rediss://:p@h/0", "rediss://:p@h/0"),
        (
            "sentinel://:p%40ss@a:1,b,[::1]:3/main/2",
            "sentinel://:p%40ss@a:1/2;sentinel://:p%40ss@b:26379/2;sentinel://:p%40ss@[::1]:3/2",
        ),
        ("sentinel://a/main", "sentinel://a:26379/0"),
        ("unix:///run/redis.sock?db=3", "redis+socket:///run/redis.sock?virtual_host=3"),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock?virtual_host=0"),
    ],
)
def test_urls_in_kombus_words(ours: str, kombus: str) -> None:
    """Of one Redis, of a Sentinel, of a socket."""
    assert broker_url(ours) == kombus


def test_every_transport_checks_messages(service_settings: Settings) -> None:
    """Also the one that kombu turns to when a Sentinel does not answer."""
    url = SecretStr("sentinel://:p%40ss@a:1,b:2/main/2")
    app = make_app(service_settings.model_copy(update={"redis_url": url, "sentinel_password": SecretStr("x")}))
    connection = app.connection_for_read()
    assert connection.get_transport_cls() is CheckedSentinelTransport
    assert (connection.hostname, connection.password, connection.virtual_host) == ("a", "p@ss", "2")
    assert connection.transport_options["master_name"] == "main"
    assert connection.transport_options["sentinel_kwargs"] == {
        "socket_connect_timeout": 5.0,
        "socket_timeout": 30.0,
        "password": "x",
    }
    connection.maybe_switch_next()
    assert connection.hostname == "b"
    assert connection.get_transport_cls() is CheckedSentinelTransport
    for scheme in ("redis", "rediss"):  # and redis+socket, of which kombu takes the first part
        assert resolve_transport(scheme) is CheckedTransport


def test_the_servers_certificate_is_checked(service_settings: Settings, tmp_path: Path) -> None:
    """kombu would take any."""
    settings = service_settings.model_copy(
        update={"redis_url": SecretStr("rediss://h/0"), "redis_ca_file": tmp_path / "ca.pem"}
    )
    found = make_app(settings).connection_for_write().ssl
    assert found["ssl_cert_reqs"] is ssl.CERT_REQUIRED
    assert found["ssl_check_hostname"]
    assert found["ssl_ca_certs"] == str(tmp_path / "ca.pem")
    assert not make_app(service_settings).connection_for_write().ssl


def test_busy_children_are_seen() -> None:
    """One byte each; what is at work in one place does not hide another."""
    busy = Busy()
    assert not busy.any()
    with busy.at_work(3):
        with busy.at_work(7):
            assert busy.any()
        assert busy.any()
    assert not busy.any()
