"""How much a server may say within one listing, and what is remembered of it for the case that it fails."""

from __future__ import annotations

import signal
from typing import NoReturn

from catalog.live import Limits, ServerFault

SHOWN = 300
"""Characters of a server's own words in a message."""

_HEARD = 16 * 1024
_LINES = 4


class Budget:
    """`fault`: why a connection ended that the SDK only saw end. `garbled`: the line that is no message.
    `hung_up`: the process closed its output before it was asked to end; `status`: its exit status, if it then ended.
    `refusal`: the last HTTP status that was no success."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.fault: ServerFault | None = None
        self.hung_up = False
        self.status: int | None = None
        self.refusal: int | None = None
        self.garbled = ""
        self._total = 0
        self._heard = b""

    def take(self, size: int) -> None:
        """Raises ServerFault."""
        self._total += size
        if self._total > self.limits.total_bytes:
            self.refuse("server-flood", limit=self.limits.total_bytes)

    def message(self, size: int) -> None:
        """Raises ServerFault."""
        if size > self.limits.message_bytes:
            self.refuse("server-flood", limit=self.limits.message_bytes)

    def refuse(self, reason: str, **arguments: str | int) -> NoReturn:
        self.fault = self.fault or ServerFault(reason, **arguments)
        raise self.fault

    def overhear(self, chunk: bytes) -> None:
        """What a server says on standard error: the end of it may tell why it ended."""
        self._heard = (self._heard + chunk)[-_HEARD:]

    def last_words(self) -> str:
        """The last lines on standard error that begin at the margin: of tracebacks and stacks those that say
        something, where indented ones quote code."""
        lines = [line.rstrip() for line in self._heard.decode("utf-8", "replace").splitlines() if line.strip()]
        telling = [line for line in lines if not line[0].isspace()] or [line.strip() for line in lines]
        return " / ".join(telling[-_LINES:])


def status_text(status: int) -> str:
    """`7`, or `-11 (SIGSEGV)`."""
    if status >= 0:
        return str(status)
    try:
        return f"{status} ({signal.Signals(-status).name})"
    except ValueError:
        return str(status)
