"""`aop config`: what the service is configured with, secrets masked."""

from __future__ import annotations

import json

from pydantic import SecretStr

from cli import streams
from cli.exits import OK
from cli.service import load_settings
from workers.logs import MASK, Masking
from workers.settings import Settings


def run(*, as_json: bool) -> int:
    """Each setting with its variable and whether it was set or is the default."""
    settings = load_settings()
    if as_json:
        streams.emit(
            json.dumps({name: value for name, value, _ in rows(settings)}, ensure_ascii=False, indent=2) + "\n"
        )
        return OK
    shown = [(name, _text(value), given) for name, value, given in rows(settings)]
    width = max(len(name) for name, _, _ in shown)
    for name, value, given in shown:
        streams.emit(f"{'*' if given else ' '} {name:<{width}}  {value}\n")
    return OK


def rows(settings: Settings) -> list[tuple[str, object, bool]]:
    """Variable, value with secrets masked, whether it was given."""
    given = settings.model_fields_set
    return [
        (f"AOP_{name.upper()}", _masked(name, getattr(settings, name)), name in given)
        for name in type(settings).model_fields
    ]


def _masked(name: str, value: object) -> object:
    if name == "redis_url" and isinstance(value, SecretStr):
        scheme, _, rest = value.get_secret_value().partition("://")
        rest, has_query, _ = rest.partition("?")
        credentials, _, place = rest.rpartition("@")
        # redis-py takes a password among the options, too.
        return f"{scheme}://{f'{MASK}@' if credentials else ''}{place}{f'?{MASK}' if has_query else ''}"
    if isinstance(value, SecretStr):
        return MASK
    if isinstance(value, str):
        return Masking(()).text(value)
    if isinstance(value, tuple):
        return [_masked("", part) for part in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
