"""`aop exporter`: queue and ledger figures for Prometheus."""

from __future__ import annotations

from cli import streams
from cli.exits import OK
from cli.service import load_settings, stop_on_signals
from workers import logs
from workers.connections import open_store
from workers.exporter import serve
from workers.tokens import Tokens


def run() -> int:
    """Until it is asked to end."""
    settings = load_settings()
    logs.configure(settings, "exporter")
    tokens = Tokens(open_store(settings))

    def ready(port: int) -> None:
        streams.note(f"aop exporter: http://{settings.exporter_host}:{port}/metrics")

    serve(settings, tokens.expiries, stop_on_signals(), ready)
    return OK
