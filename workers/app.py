"""The Celery application: every setting that matters here, with its reason.

Celery carries messages and runs processes, nothing else: what is to be done, what has been tried and what came out is
the ledger's to know. So there is no result backend, no remote control, no events, no chains.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from celery import Celery, signals
from kombu.entity import Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES

from workers.connections import CONNECT_TIMEOUT_S, HEALTH_CHECK_S, SOCKET_TIMEOUT_S, read_sentinel_url
from workers.queues import QUEUES, key_prefix
from workers.settings import Settings

NAME: Final = "aop"

WORKER_LOST_DELAY_MS: Final = 1_000
"""How long after its lease a job is offered again whose process was lost."""

# By the URL's scheme, not by a setting: kombu goes by the scheme again when it turns to another Sentinel.
TRANSPORT_ALIASES.update(
    redis="workers.broker:CheckedTransport",
    rediss="workers.broker:CheckedTransport",
    sentinel="workers.broker:CheckedSentinelTransport",
)


def make_app(settings: Settings) -> Celery:
    """With its queues, and without tasks: `workers.tasks` adds them."""
    app = Celery(NAME, set_as_current=True)
    app.conf.update(configuration(settings))
    # Celery would configure logging, each process anew; `workers.logs` has done that.
    signals.setup_logging.connect(_leave_logging_alone, weak=False)
    return app


def _leave_logging_alone(**_: object) -> None:
    """That somebody listens is all that Celery asks."""


def configuration(settings: Settings) -> dict[str, Any]:
    """Celery's own names and values."""
    return {
        **_broker(settings),
        **_messages(),
        **_tasks(settings),
        **_worker(settings),
    }


def _broker(settings: Settings) -> dict[str, Any]:
    return {
        "broker_url": broker_url(settings.redis_url.get_secret_value()),
        "broker_use_ssl": _tls(settings),
        # A worker outlives any outage: it tries again for ever, at the start as well as later.
        "broker_connection_retry": True,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # Nor does it end where Redis answers with an error: it is full, cannot write its file, or became a replica.
        "broker_channel_error_retry": True,
        "broker_connection_timeout": CONNECT_TIMEOUT_S,
        # Two are enough for a process that only sends again what a lost child had.
        "broker_pool_limit": 2,
        "broker_transport_options": _transport(settings),
        # AMQP's; Redis has none.
        "broker_heartbeat": 0,
    }


def _transport(settings: Settings) -> dict[str, Any]:
    options: dict[str, Any] = {
        # Several installations may share one Redis, and the ledger lies beside the queues.
        "global_keyprefix": key_prefix(settings.redis_prefix),
        # Redis hands a message to a second worker after this time, and never renews it: so it is longer than any task
        # may run (the settings see to that). A second delivery runs nothing, but costs.
        "visibility_timeout": settings.visibility_timeout_s,
        # A connection that died without a word (failover, NAT) must not be waited for.
        "socket_timeout": SOCKET_TIMEOUT_S,
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "socket_keepalive": True,
        "health_check_interval": HEALTH_CHECK_S,
        "retry_on_timeout": False,
        # One list a queue: fairness comes from queues of their own, not from Redis priorities.
        "priority_steps": [0],
        # A worker for both classes takes from its queues in turn: neither starves. Workers for saved documents alone
        # keep those fast while there is bulk work.
        "queue_order_strategy": "round_robin",
    }
    url = settings.redis_url.get_secret_value()
    if url.startswith("sentinel://"):
        options["master_name"] = read_sentinel_url(url).master
        asking: dict[str, Any] = {
            "socket_connect_timeout": CONNECT_TIMEOUT_S,
            "socket_timeout": SOCKET_TIMEOUT_S,
        }
        if settings.sentinel_password is not None:
            asking["password"] = settings.sentinel_password.get_secret_value()
        options["sentinel_kwargs"] = asking
    return options


def _tls(settings: Settings) -> Mapping[str, Any] | None:
    if not settings.redis_url.get_secret_value().startswith("rediss://"):
        return None
    # kombu would not check the server's certificate unless it is told to.
    options: dict[str, Any] = {"ssl_cert_reqs": ssl.CERT_REQUIRED, "ssl_check_hostname": True}
    if settings.redis_ca_file is not None:
        options["ssl_ca_certs"] = str(settings.redis_ca_file)
    return options


def broker_url(url: str) -> str:
    """The URL of the settings in kombu's words: it separates Sentinels by `;`, each with all parts of a URL, and calls
    a socket `redis+socket`."""
    if url.startswith("sentinel://"):
        found = read_sentinel_url(url)
        credentials = ""
        if found.password is not None:
            credentials = f"{quote(found.username or '', safe='')}:{quote(found.password, safe='')}@"
        places = (f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in found.hosts)
        return ";".join(f"sentinel://{credentials}{place}/{found.database}" for place in places)
    if url.startswith("unix://"):
        parts = urlsplit(url)
        database = dict(part.partition("=")[::2] for part in parts.query.split("&")).get("db", "0")
        return f"redis+socket://{parts.netloc}{parts.path}?virtual_host={database}"
    return url


def _messages() -> dict[str, Any]:
    return {
        # Nothing but JSON is read: a pickled message would run code.
        "accept_content": ["json"],
        "task_serializer": "json",
        "result_serializer": "json",
        "event_serializer": "json",
        # A queue that nobody consumes would swallow messages: only those declared here are known.
        "task_create_missing_queues": False,
        "task_queues": tuple(_queue(name) for name in QUEUES),
        "task_default_queue": QUEUES[0],
        "task_default_exchange": "",
        "task_default_routing_key": QUEUES[0],
        # The ledger sends (`lua/keys.lua`); Celery only sends again what a lost child had. What cannot be sent in a
        # moment is left to the reconciler.
        "task_publish_retry": True,
        "task_publish_retry_policy": {
            "max_retries": 3,
            "interval_start": 0,
            "interval_step": 0.2,
            "interval_max": 0.5,
        },
        "enable_utc": True,
        "timezone": "UTC",
    }


def _queue(name: str) -> Queue:
    # By the default exchange: a message finds its list by name, with no table in Redis that could be wiped.
    return Queue(name, Exchange("", type="direct"), routing_key=name)  # type: ignore[no-untyped-call]  # kombu's


def _tasks(settings: Settings) -> dict[str, Any]:
    return {
        # Acknowledged when the stage has run: a worker that dies has acknowledged nothing.
        "task_acks_late": True,
        # A stage that failed has said so in the ledger, and one that ran too long loses its lease: the message has
        # done its work in either case.
        "task_acks_on_failure": True,
        "task_acks_on_timeout": True,
        # Put back at once, the message of a task that kills its process would kill the next one at once, and so on.
        "task_reject_on_worker_lost": False,
        # Instead it is sent anew, later (`retry_options`), so that its lease has ended when it comes.
        "task_retry_on_worker_lost": True,
        # There is no result backend: the ledger has the outcome.
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "task_track_started": False,
        # Raised in the task, which hands its job back with the cause; the hard one kills the process.
        "task_soft_time_limit": settings.soft_time_limit_s,
        "task_time_limit": settings.time_limit_s,
    }


def retry_options(settings: Settings) -> dict[str, Any]:
    """Of each task: how a message is sent again whose process was lost."""
    return {
        "max_retries": settings.most_attempts,
        "default_retry_delay": (settings.lease_ms + WORKER_LOST_DELAY_MS) / 1_000,
    }


def _worker(settings: Settings) -> dict[str, Any]:
    return {
        "worker_pool": "prefork",
        "worker_concurrency": settings.concurrency,
        # A worker takes no message that it cannot run now: another one may be free.
        "worker_prefetch_multiplier": 1,
        "worker_enable_prefetch_count_reduction": True,
        # A stage that runs when the broker goes away goes on: its lease says whether its work still counts.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # Shorter than the pod's grace period. SIGTERM begins it (`workers.worker` remaps the signal): what runs may
        # finish; what does not is handed back at once.
        "worker_soft_shutdown_timeout": settings.soft_shutdown_s,
        "worker_enable_soft_shutdown_on_idle": False,
        # KiB after a task: then the child is replaced. Never by the number of tasks: such recycling has been seen to
        # end a worker whose broker restarted twice.
        "worker_max_memory_per_child": settings.max_memory_mb * 1_024,
        "worker_max_tasks_per_child": None,
        # A child may start while the machine is busy.
        "worker_proc_alive_timeout": 30.0,
        # How long a dead child's result is waited for.
        "worker_lost_wait": 2.0,
        # The root logger and the standard streams are the process's own.
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        # Nobody asks workers over the queue: probes are files, figures come from the ledger.
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "task_send_sent_event": False,
        "worker_detect_quorum_queues": False,
    }
