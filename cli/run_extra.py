"""What only the extra `run` installs: where a part of it is missing, that is said, with how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cli.trouble import Trouble

_OURS: Final = frozenset({"aop_runtime", "catalog", "cli", "pipeline"})


@contextmanager
def run_extra() -> Iterator[None]:
    """Around the imports that load the engine. Raises Trouble."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not package or package in _OURS:
            raise
        raise Trouble("trouble.not-installed", package=package) from error
