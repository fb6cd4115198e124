"""`aop server`: webhooks, REST and MCP over HTTP; any number may run behind a balancer."""

from __future__ import annotations

import signal

from redis.exceptions import RedisError

from cli import streams
from cli.administering import in_words
from cli.exits import OK, TROUBLE
from cli.service import load_settings, traced
from workers import logs
from workers.ledger.records import LedgerVersion
from workers.metrics.endpoint import shown


def run() -> int:
    """Until it is asked to end; the exit status. Raises OutputFault, StoreError, OSError."""
    settings = load_settings()
    logs.configure(settings, "server")
    with traced(settings, "server"), shown(settings, "server"):
        # Imported when the metrics' folder is set.
        from server.app import create_app  # noqa: PLC0415 - see above
        from server.serve import Server, listen  # noqa: PLC0415 - see above

        listening = listen(settings)
        app = create_app(settings)
        try:
            app.state.service.open()
        except (RedisError, LedgerVersion) as error:
            raise in_words(error) from error
        for sign in (signal.SIGTERM, signal.SIGINT):
            # What uvicorn leaves behind would end the process with a signal, as if it had been killed.
            signal.signal(sign, lambda *_: None)
        host, port = listening.getsockname()[:2]
        streams.note(f"aop server: http://{f'[{host}]' if ':' in host else host}:{port}")
        server = Server(app, settings)
        server.run(sockets=[listening])
    return OK if server.started else TROUBLE
