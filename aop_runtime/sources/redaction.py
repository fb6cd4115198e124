"""Keeping secrets out of whatever leaves a connector: results, failures, progress, logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from aop_runtime.declarations import Json

HIDDEN: Final = "***"

_SHORTEST: Final = 4


class Secrets:
    """Replaces secrets in texts, also as JSON and URLs write them.

    Of a value such as `Bearer abc` or `postgres://user:word@host` its parts are secrets as well. Values below four
    characters are let be: they occur everywhere, and hiding them would ruin results without keeping them secret.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.forms: Final = frozenset(
            form for value in values for part in _parts(value) for form in _forms(part) if len(form) >= _SHORTEST
        )
        longest_first = sorted(self.forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __repr__(self) -> str:
        return "Secrets(...)"

    def hide(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def hide_json(self, value: Json) -> Json:
        """The same value where it holds no secret."""
        return value if self._pattern is None else self._hide_json(value)

    def _hide_json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, list):
            return [self._hide_json(entry) for entry in value]
        if isinstance(value, dict):
            return {self.hide(key): self._hide_json(entry) for key, entry in value.items()}
        return value


def _parts(value: str) -> Iterable[str]:
    yield value.strip()
    yield from value.split()
    if "://" in value:
        try:
            password = urlsplit(value.strip()).password
        except ValueError:
            return
        if password:
            yield password
            yield unquote(password)


def _forms(part: str) -> Iterable[str]:
    yield part
    yield json.dumps(part)[1:-1]
    yield json.dumps(part, ensure_ascii=False)[1:-1]
    yield quote(_bytes(part), safe="")


def _bytes(part: str) -> bytes:
    """Values of the environment need not be UTF-8; those of a file may hold half a character."""
    try:
        return part.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return part.encode("utf-8", "surrogatepass")
