"""Standard output and error as every command needs them: UTF-8 wherever it runs, faults of writing told apart."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from typing import Final, TextIO

from cli.arguments import Color

DEFAULT_WIDTH: Final = 100
"""Columns, where nobody looks: files and pipes are the same on every terminal."""

_NARROWEST: Final = 20


def prepare() -> None:
    """UTF-8 whatever the locale says. What UTF-8 cannot carry (a file's name in another encoding) becomes `\\udcXX`,
    which JSON reads back as it was."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    _occupy_closed_descriptors()


def _occupy_closed_descriptors() -> None:
    """Without this the next file that is opened, a database perhaps, would become standard output."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class OutputClosed(Exception):
    """Nobody reads standard output any more: a pipe whose reader has ended."""


class OutputFailed(Exception):
    """Standard output could not be written; `error` says why, None where it was closed from the start."""

    def __init__(self, error: OSError | None) -> None:
        super().__init__(error)
        self.error = error


def emit(text: str, *, flush: bool = False) -> None:
    """Write a result. Raises OutputClosed, OutputFailed."""
    if sys.stdout is None:
        raise OutputFailed(None)
    try:
        sys.stdout.write(text)
        if flush:
            sys.stdout.flush()
    except BrokenPipeError:
        raise OutputClosed from None
    except OSError as error:
        raise OutputFailed(error) from error


def flush() -> None:
    """Raises OutputClosed, OutputFailed."""
    if sys.stdout is not None:
        emit("", flush=True)


def note(text: str) -> None:
    """A line on standard error: progress, notes, faults. Where that is closed, nobody wants to know."""
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is where printing happens
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO | None) -> None:
    """What is buffered goes nowhere, so that the interpreter does not complain about it when it ends."""
    if stream is not None:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, stream.fileno())
        os.close(sink)


def colored(stream: TextIO | None, when: Color, environment: Mapping[str, str] = os.environ) -> bool:
    """`auto`: on a terminal that shows colour, unless `NO_COLOR` is set."""
    if when != "auto":
        return when == "always"
    if stream is None or environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def width(stream: TextIO | None) -> int:
    """Columns of the terminal behind the stream; `DEFAULT_WIDTH` where there is none."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream is not None and stream.isatty() else 0
    except (OSError, ValueError):
        columns = 0
    return max(columns, _NARROWEST) if columns else DEFAULT_WIDTH
