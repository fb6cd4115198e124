"""The garbage collector out of the way."""

from __future__ import annotations

import gc
from types import TracebackType


class _Uncollected:
    """Every document enters it a dozen times: one by `contextlib` takes five times as long."""

    __slots__ = ("_enabled",)

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._enabled:
            gc.enable()


def uncollected() -> _Uncollected:
    """Make many objects without cycles: the collector would look at them again and again, and never find anything.

    For millions of objects that is most of the time.
    """
    return _Uncollected()
