"""What the commands of the service have in common."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cli import streams
from cli.arguments import read_lang
from cli.messages import say
from cli.trouble import OutputFault
from workers import tracing
from workers.settings import Settings, SettingsError, load, slips


def load_settings() -> Settings:
    """From the environment. A variable that nearly is one of ours is told. Raises OutputFault, which ends a command
    with a sentence for each wrong one."""
    try:
        settings = load()
    except SettingsError as error:
        raise OutputFault(error.text("ja"), error.text("en")) from error
    for name, close in slips(os.environ).items():
        text = say("trouble.slip", read_lang(None), name=name, close=close)
        streams.note(f"aop: {text}")
    return settings


@contextmanager
def traced(settings: Settings, process: str, *, by_children: bool = False) -> Iterator[None]:
    """Spans of this process go where AOP_OTLP_ENDPOINT says; `by_children`: of its children only, which see to it
    themselves. Raises OutputFault where the packages for it are missing."""
    try:
        if by_children:
            tracing.check(settings)
        else:
            tracing.begin(settings, process)
    except tracing.TracingUnavailable as error:
        raise OutputFault(error.text("ja"), error.text("en")) from error
    try:
        yield
    finally:
        tracing.end()


def stop_on_signals() -> threading.Event:
    """Set when the process is asked to end (SIGTERM, SIGINT), or its terminal was closed (SIGHUP, unless it is to
    outlive that: nohup)."""
    stop = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if sign != signal.SIGHUP or signal.getsignal(sign) is not signal.SIG_IGN:
            signal.signal(sign, lambda *_: stop.set())
    return stop
