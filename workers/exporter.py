"""The exporter: queue and ledger figures for Prometheus, from one process for the whole installation.

Where the other processes of this machine count in `AOP_METRICS_FOLDER`, it shows their counts, too.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, make_wsgi_app

from workers.connections import open_ledger, open_redis
from workers.faults import SYSTEM
from workers.logs import get_logger
from workers.metrics.certificates import Certificates, endpoints
from workers.metrics.endpoint import listening
from workers.metrics.folder import GroupCollector
from workers.metrics.ledger_figures import Expiries, LedgerFigures
from workers.pulse import BEAT_S, Consumers, Pulse
from workers.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

_log = get_logger(__name__)


def registry_of(settings: Settings, tokens: Expiries) -> CollectorRegistry:
    """`tokens`: asked at each scrape, see `LedgerFigures`."""
    redis = open_redis(settings)
    certificates = Certificates(endpoints(settings))
    registry = CollectorRegistry()
    figures = LedgerFigures(redis, open_ledger(settings, redis), settings.redis_prefix, tokens, certificates)
    registry.register(figures)
    if settings.metrics_folder is not None:
        registry.register(GroupCollector(settings.metrics_folder))
    return registry


def serve(
    settings: Settings,
    tokens: Expiries,
    stop: threading.Event,
    ready: Callable[[int], None],
) -> None:
    """Until `stop` is set. `ready` is told the port. Raises OSError where it cannot be had."""
    registry = registry_of(settings, tokens)
    with listening(settings.exporter_host, settings.exporter_port, registry) as server:
        server.set_app(_answering(make_wsgi_app(registry)))
        pulse = Pulse(Consumers(open_redis(settings), settings.redis_prefix), settings.probe_folder, "exporter")
        ready(int(server.server_port))
        _log.info("exporter started", port=server.server_port)
        pulse.beat()
        while not stop.wait(BEAT_S):
            pulse.beat()
        pulse.end()


def _answering(app: WSGIApplication) -> WSGIApplication:
    """Where figures cannot be had the scrape fails, with the reason in the log instead of a traceback beside it."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            return list(app(environ, start_response))
        except SYSTEM as error:
            _log.warning("no figures", cause=str(error))
            start_response("503 Service Unavailable", [("Content-Type", "text/plain; charset=utf-8")])
            return [b"no figures: the log of the exporter says why\n"]

    return answer
