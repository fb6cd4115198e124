"""`aop exporter`: queue and ledger figures for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from cli import streams
from cli.exits import OK
from cli.service import load_settings, stop_on_signals
from workers import logs
from workers.connections import open_redis, open_store
from workers.exporter import serve
from workers.tokens import Tokens


def run() -> int:
    """Until it is asked to end."""
    settings = load_settings()
    logs.configure(settings, "exporter")
    tokens = Tokens(open_store(settings), open_redis(settings), settings.redis_prefix)

    def expiries() -> Iterator[tuple[str, float]]:
        for token, _ in tokens.all():
            if token.expires_ms and not token.revoked_ms:
                yield token.name, token.expires_ms / 1_000

    def ready(port: int) -> None:
        streams.note(f"aop exporter: http://{settings.exporter_host}:{port}/metrics")

    serve(settings, expiries, stop_on_signals(), ready)
    return OK
