"""A terminal in an event loop: what is written never fails, and reading a line holds nothing up."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
from typing import Final

_LINE: Final = 65_536


class Output:
    """Standard output, a line at a time. When nobody reads it any more, what is written is dropped: a run goes on."""

    def __init__(self) -> None:
        self._closed = sys.stdout is None

    def __call__(self, line: str) -> None:
        self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        if self._closed:
            return
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except (OSError, ValueError):
            self._closed = True

    async def ask(self, prompt: str) -> str:
        """A line from standard input, a terminal; "" at its end. Cancelled at once, which a thread would not be.

        What was typed before the prompt is dropped: nobody may approve what they have not seen.
        """
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str] = loop.create_future()
        descriptor = sys.stdin.fileno()
        if os.isatty(descriptor):
            with contextlib.suppress(termios.error):
                termios.tcflush(descriptor, termios.TCIFLUSH)
        self._write(prompt)

        def ready() -> None:
            if not line.done():
                try:
                    # A terminal gives one line at a time.
                    line.set_result(os.read(descriptor, _LINE).decode("utf-8", "replace"))
                except OSError:
                    line.set_result("")

        loop.add_reader(descriptor, ready)
        try:
            return await line
        finally:
            loop.remove_reader(descriptor)


def interactive() -> bool:
    """Whether a person can be asked."""
    return sys.stdin is not None and sys.stdout is not None and sys.stdin.isatty() and sys.stdout.isatty()
