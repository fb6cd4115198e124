"""What the commands of the service have in common."""

from __future__ import annotations

import signal
import threading

from cli.trouble import OutputFault
from workers.settings import Settings, SettingsError, load


def load_settings() -> Settings:
    """From the environment. Raises OutputFault, which ends a command with a sentence for each wrong variable."""
    try:
        return load()
    except SettingsError as error:
        raise OutputFault(error.text("ja"), error.text("en")) from error


def stop_on_signals() -> threading.Event:
    """Set when the process is asked to end (SIGTERM, SIGINT)."""
    stop = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: stop.set())
    return stop
