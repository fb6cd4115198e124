"""Where a worker, a dispatcher or a server shows what it and its children count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workers.metrics.folder import registry_of, use

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

    from prometheus_client import CollectorRegistry

    from workers.settings import Settings


@contextmanager
def shown(settings: Settings, group: str) -> Iterator[None]:
    """To be entered before anything imports prometheus-client (`folder.use`). `group`: `worker-parse`, `server` …

    Raises OSError where the folder or the port cannot be had.
    """
    own = use(settings.metrics_folder, group)
    if settings.metrics_port is None:
        yield
        return
    with listening(settings.metrics_host, settings.metrics_port, registry_of(own)):
        yield


@contextmanager
def listening(host: str, port: int, registry: CollectorRegistry) -> Iterator[WSGIServer]:
    """Raises OSError, with the address, where it cannot be had."""
    from prometheus_client import start_http_server  # noqa: PLC0415 - see above

    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), f"{host}:{port}") from error
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
