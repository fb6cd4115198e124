"""What only an extra installs: where a part of it is missing, that is said, with how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cli.trouble import Trouble

_OURS: Final = frozenset({"aop_runtime", "catalog", "cli", "pipeline", "server", "workers"})


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Around the imports that need the extra of that name. Raises Trouble."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not package or package in _OURS:
            raise
        raise Trouble("trouble.not-installed", package=package, extra=name) from error
