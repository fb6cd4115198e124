"""A progress bar for many documents, on a terminal only."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

MANY: Final = 50
"""From so many documents on it is worth a bar."""


_REDRAW_S: Final = 0.1


class Bar(Protocol):
    """Something at the bottom of the terminal that must not be in the way of what is printed."""

    def hide(self) -> None: ...

    def advance(self, done: int, total: int) -> None: ...


class NoBar:
    """Where nobody looks, or there is little to wait for."""

    def hide(self) -> None:
        """Nothing is there."""

    def advance(self, done: int, total: int) -> None:
        """Nobody sees it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to take away."""


class TerminalBar:
    """rich's bar on standard error. Gone when it is left, and while something is printed."""

    def __init__(self, label: str) -> None:
        from rich.console import Console  # noqa: PLC0415 - slow to load, and seldom wanted
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - see above

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        console = Console(file=sys.stderr)
        # Without a thread of its own: processes may be made as copies of this one while it is shown.
        self._progress: Progress = Progress(
            *columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._task: TaskID = self._progress.add_task(label, total=None)
        self._shown = False
        self._drawn = 0.0

    def hide(self) -> None:
        if self._shown:
            self._progress.stop()
            self._shown = False

    def advance(self, done: int, total: int) -> None:
        self._progress.update(self._task, completed=done, total=total)
        if not self._shown and done < total:
            self._progress.start()
            self._shown = True
        if self._shown and time.monotonic() - self._drawn >= _REDRAW_S:
            self._progress.refresh()
            self._drawn = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hide()


def bar_for(count: int, label: str) -> NoBar | TerminalBar:
    """A bar where it is of use."""
    terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return TerminalBar(label) if terminal and count >= MANY else NoBar()
