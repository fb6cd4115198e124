"""The SDK logs what it sends and receives, secrets included, and without a handler Python prints it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_LOGGERS: Final = ("mcp", "httpx2", "httpcore2")
_HANDLER: Final = logging.NullHandler()
_users: Final[list[object]] = []


@contextmanager
def quiet() -> Iterator[None]:
    """These loggers hand nothing on while any connection is open. Their own handlers, if somebody set some, go on."""
    user = object()
    if not _users:
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(_HANDLER)
            logging.getLogger(name).propagate = False
    _users.append(user)
    try:
        yield
    finally:
        _users.remove(user)
        if not _users:
            for name in _LOGGERS:
                logging.getLogger(name).removeHandler(_HANDLER)
                logging.getLogger(name).propagate = True
