"""Logs: one line an event, JSON in services, with `job` and `document` on every line that is about one.

Lines of libraries go the same way. No secret reaches a line: those of the settings are cut out of every text, and so is
whatever looks like one of our tokens.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote

import structlog
from pydantic import SecretStr

from workers.settings import Settings

MASK: Final = "***"
_TOKEN: Final = re.compile(r"\baop_[A-Za-z0-9]{4,}_[A-Za-z0-9_-]{16,}|\bwhsec_[A-Za-z0-9+/=]{16,}")
_CREDENTIALS: Final = re.compile(r"(?<=://)[^\s/@\"'?#]+@")
"""Whoever they belong to."""
_AUTHORIZATION: Final = re.compile(r"(?i)\b(authorization|x-api-token|webhook-signature)(['\"]?\s*[:=]\s*)(\S+ )?\S+")

_Line = MutableMapping[str, Any]
"""structlog's: what an event carries may be anything."""


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """All secret texts of the settings, the longest first."""
    found: set[str] = set()
    for name in type(settings).model_fields:
        value: object = getattr(settings, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, SecretStr):
                found.add(part.get_secret_value())
    url = settings.redis_url.get_secret_value()
    found.discard(url)
    place, _, query = url.partition("://")[2].partition("?")
    found.add(unquote(place.rpartition("@")[0].partition(":")[2]))
    found.update(value for name, value in parse_qsl(query) if name == "password")
    found.discard("")
    # As they stand in a URL, and as Python and JSON would write them.
    found |= {form for text in found for form in (quote(text, safe=""), repr(text)[1:-1], json.dumps(text)[1:-1])}
    return tuple(sorted(found, key=len, reverse=True))


class Masking:
    """A structlog processor that cuts secrets out of all texts of a line, however deep."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        self._known = re.compile("|".join(map(re.escape, secrets))) if secrets else None

    def __call__(self, _logger: object, _method: str, line: _Line) -> _Line:
        for key, value in line.items():
            line[key] = self._masked(value)
        return line

    def text(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(MASK, text)
        text = _CREDENTIALS.sub(f"{MASK}@", _TOKEN.sub(MASK, text))
        return _AUTHORIZATION.sub(rf"\1\2{MASK}", text)

    def _masked(self, value: object, depth: int = 0) -> object:
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if depth < 8:
            if isinstance(value, dict):
                return {self.text(str(key)): self._masked(part, depth + 1) for key, part in value.items()}
            if isinstance(value, list | tuple):
                return [self._masked(part, depth + 1) for part in value]
        return self.text(str(value))


def configure(settings: Settings, process: str) -> None:
    """For the whole process; `process` (`worker-parse`, `server` …) stands on every line. Lines go to stderr."""
    masking = Masking(secrets_of(settings))

    def named(_logger: object, _method: str, line: _Line) -> _Line:
        line["process"] = process
        return line

    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        named,
    ]
    if settings.log_format == "json":
        last: list[structlog.typing.Processor] = [
            structlog.processors.format_exc_info,
            masking,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
    else:
        last = [structlog.processors.format_exc_info, masking, structlog.dev.ConsoleRenderer(colors=False)]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for name, level in _QUIET.items():
        logging.getLogger(name).setLevel(max(level, root.level))
    logging.captureWarnings(capture=True)
    sys.excepthook = _last_words
    threading.excepthook = _last_words_of_thread


def _last_words(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What nobody caught becomes a line like any other, instead of a bare traceback."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    logging.getLogger(__name__).critical("uncaught: this is a bug of aop", exc_info=(kind, error, trace))


def _last_words_of_thread(arguments: threading.ExceptHookArgs) -> None:
    if arguments.exc_value is not None:
        _last_words(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)


_QUIET: Final = {
    "botocore": logging.WARNING,
    "boto3": logging.WARNING,
    "urllib3": logging.WARNING,
    "httpx": logging.WARNING,
    "kombu": logging.WARNING,
    "celery.worker.strategy": logging.WARNING,  # a line for each message received
    "celery.app.trace": logging.WARNING,  # and one for each that succeeded
    "uvicorn.access": logging.WARNING,
    "watchfiles": logging.WARNING,
}
"""Libraries that tell of each thing they do, or show what they send."""


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


@contextmanager
def bound(**values: str) -> Iterator[None]:
    """Every line that is logged inside has these values, too."""
    with structlog.contextvars.bound_contextvars(**values):
        yield
