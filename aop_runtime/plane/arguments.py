"""The arguments of a call as a model gave them, read strictly: what two readers could read differently is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final, NoReturn

from aop_runtime.declarations import Json

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_DEPTH: Final = 64

_WRITTEN_OUT: Final = 1e21
"""From here on JavaScript, too, writes whole numbers with an exponent."""


class UnreadableArguments(ValueError):
    """They are no JSON object, or one that is not accepted. The message says what to send instead."""


def read_arguments(raw: str | Mapping[str, object]) -> dict[str, Json]:
    """Raises UnreadableArguments."""
    if not isinstance(raw, str):
        try:
            raw = json.dumps(raw, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise UnreadableArguments("the arguments are not JSON: send one JSON object") from error
    try:
        size = len(raw.encode())
    except UnicodeEncodeError as error:
        raise UnreadableArguments("the arguments hold half a character (a lone surrogate): send whole ones") from error
    if size > MAX_BYTES:
        raise UnreadableArguments(f"the arguments take {size} bytes: send at most {MAX_BYTES}")
    if not raw.strip():
        return {}
    try:
        found = json.loads(raw, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int)
    except UnreadableArguments:
        raise
    except RecursionError as error:
        raise UnreadableArguments(f"the arguments are nested too deeply: at most {MAX_DEPTH} levels") from error
    except ValueError as error:
        raise UnreadableArguments(f"the arguments are not JSON ({error}): send one JSON object") from error
    if not isinstance(found, dict):
        raise UnreadableArguments("the arguments are not a JSON object: send one, {} where there are none")
    _check(found)
    return found


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnreadableArguments("the arguments name a field twice: name each once")
    return found


def _constant(name: str) -> NoReturn:
    raise UnreadableArguments(f"the arguments hold {name}, which is not JSON: send a number or null")


def _float(text: str) -> float:
    """1.0 is 1: rules compare what is written, and a model must not write its way around one."""
    number = float(text)
    if not math.isfinite(number):
        raise UnreadableArguments("the arguments hold a number that is too large")
    return int(number) if number.is_integer() and abs(number) < _WRITTEN_OUT else number


def _int(text: str) -> int:
    if len(text) > 400:
        raise UnreadableArguments("the arguments hold a number that is too large")
    return int(text)


def _check(value: Json) -> None:
    """Without recursion: `value` may be nested as deeply as the reader went."""
    waiting: list[tuple[Json, int]] = [(value, 1)]
    while waiting:
        current, level = waiting.pop()
        if level > MAX_DEPTH:
            raise UnreadableArguments(f"the arguments are nested too deeply: at most {MAX_DEPTH} levels")
        if isinstance(current, dict):
            for name, entry in current.items():
                _whole(name)
                waiting.append((entry, level + 1))
        elif isinstance(current, list):
            waiting += [(entry, level + 1) for entry in current]
        elif isinstance(current, str):
            _whole(current)


def _whole(text: str) -> None:
    """JSON may write half a character as an escape, which no encoding can carry on."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableArguments("the arguments hold half a character (a lone surrogate): send whole ones") from error


def canonical(arguments: Mapping[str, Json]) -> str:
    """Equal for equal arguments, whatever the order of their fields."""
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
