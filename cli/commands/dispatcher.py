"""`aop dispatcher`: what waits is sent, what was lost is sent again; any number may run."""

from __future__ import annotations

from cli.exits import OK
from cli.service import load_settings, stop_on_signals
from workers import logs
from workers.metrics.endpoint import shown


def run() -> int:
    """Until it is asked to end; the exit status. Raises OutputFault, StoreError, OSError."""
    settings = load_settings()
    logs.configure(settings, "dispatcher")
    with shown(settings, "dispatcher"):
        # Imported when the metrics' folder is set.
        from workers.dispatcher import run_dispatcher  # noqa: PLC0415 - see above

        run_dispatcher(settings, stop_on_signals())
    return OK
