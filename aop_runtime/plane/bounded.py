"""JSON Schema with an end: no schema and no value keeps the evaluator longer than its budget.

Patterns are searched with a time-out, uniqueness takes linear time, numbers of any size are divided exactly, and what
branches without end stops when the budget is used up.
"""

from __future__ import annotations

import ipaddress
import json
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from datetime import date
from fractions import Fraction
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Final, TypeAlias, cast

from jsonschema import FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import Draft202012Validator, extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from aop_runtime.declarations import Json
from aop_runtime.plane.patterns import LONGEST_SEARCH_S, occurs

BUDGET_S: Final = 2.0
"""Of the processor, for one value."""

_LONGEST_FORMATTED: Final = 1_000
_REMEMBERED: Final = 1_024
_REMEMBERED_BYTES: Final = 16 * 1024
"""So many schemas that were found sound are remembered, and none that is larger."""
_STEPS: Final = 128

_Keyword: TypeAlias = "Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]"
"""Validator (whose `descend` its protocol does not name), keyword's value, instance, schema: any JSON, as the library
hands them over."""


class OutOfTime(Exception):
    """The budget is used up before the value was judged."""


class NoSchema(ValueError):
    """A schema leads to a place in itself that holds no schema, which only a value that goes there shows."""


class _Budget:
    """Looks at the clock now and then: that costs more than a keyword does."""

    def __init__(self, seconds: float) -> None:
        self.pattern_s = min(LONGEST_SEARCH_S, seconds)
        self._end = time.thread_time() + seconds
        self._left = _STEPS

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._left = _STEPS
            self.check()

    def check(self) -> None:
        if time.thread_time() > self._end:
            raise OutOfTime


_budget: ContextVar[_Budget | None] = ContextVar("budget", default=None)


def evaluator(schema: Mapping[str, Json], dialect: type[Validator] = Draft202012Validator) -> Validator:
    """Of one schema. Nothing outside it is ever fetched.

    Raises SchemaError, and ValueError or TypeError where it holds what JSON cannot.
    """
    plain = cast("dict[str, Any]", schema)
    if len(json.dumps(plain, allow_nan=False)) <= _REMEMBERED_BYTES:
        _checked(_Written(plain), dialect)
    else:
        _check(plain, dialect)
    return _bounded(dialect)(plain, registry=Registry())


class _Written:
    """A schema that equals one that is written as it is."""

    def __init__(self, plain: dict[str, Any]) -> None:
        self.plain = plain
        self._text = repr(plain)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Written) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


@lru_cache(maxsize=_REMEMBERED)
def _checked(schema: _Written, dialect: type[Validator]) -> None:
    """Each phase of a run asks for the schemas of its tools again; to check one takes milliseconds."""
    _check(schema.plain, dialect)


def _check(plain: dict[str, Any], dialect: type[Validator]) -> None:
    # Its patterns may be of a dialect that is not Python's.
    cast("type[Draft202012Validator]", dialect).check_schema(plain, format_checker=FormatChecker(formats=()))


def errors(validator: Validator, value: Json, most: int, budget_s: float = BUDGET_S) -> list[ValidationError]:
    """The first ones. `budget_s`: of the processor.

    Raises OutOfTime, Unresolvable, NoSchema, and RecursionError where a schema goes round in a circle.
    """
    token = _budget.set(_Budget(budget_s))
    try:
        return list(islice(validator.iter_errors(value), most))
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
        # A `$ref` may lead to `required`, `examples` or a word that nobody knows: no check of the whole looks there,
        # and the library takes what it finds there for a schema.
        if isinstance(error, Unresolvable):
            raise
        raise NoSchema("it refers to a place that holds no schema") from error
    finally:
        _budget.reset(token)


def unknown_fields(value: Mapping[str, Json], schema: Mapping[str, Any]) -> list[str]:
    """What neither `properties` nor `patternProperties` of `schema` name."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [name for name in value if name not in known and not any(_found(pattern, name) for pattern in patterns)]


def _counted(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:  # noqa: ANN401 - see _Keyword
        budget = _budget.get()
        if budget is not None:
            budget.step()
        return keyword(validator, wanted, instance, schema)

    return check


# --------------------------------------------------------------------------------------------------- patterns


def _found(pattern: str, text: str) -> bool | None:
    """None: a pattern by which only the server can judge. One that takes too long finds nothing."""
    budget = _budget.get()
    try:
        return occurs(pattern, text, LONGEST_SEARCH_S if budget is None else budget.pattern_s)
    except TimeoutError:
        if budget is not None:
            budget.check()
        return False


def _pattern(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 - see _Keyword
    if isinstance(instance, str) and _found(wanted, instance) is False:
        yield ValidationError("does not match the pattern")


def _pattern_properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 - see _Keyword
    if not isinstance(instance, dict):
        return
    for pattern, part in wanted.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 - see _Keyword
    if not isinstance(instance, dict) or wanted is True:
        return
    extra = unknown_fields(instance, schema)
    if isinstance(wanted, dict):
        for name in extra:
            yield from validator.descend(instance[name], wanted, path=name)
    elif extra:
        yield ValidationError("unknown fields")


# ---------------------------------------------------------------------------------------------------- formats


def _date(text: str) -> bool:
    return re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) is not None and _holds(date.fromisoformat, text)


def _time(text: str) -> bool:
    found = re.fullmatch(
        r"([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])", text
    )
    return found is not None


def _date_time(text: str) -> bool:
    return _date(text[:10]) and text[10:11] in ("T", "t", " ") and _time(text[11:])


def _email(text: str) -> bool:
    return re.fullmatch(r"[^@\s]+@[^@\s]+", text) is not None


def _uuid(text: str) -> bool:
    return len(text) == 36 and text[8:24:5] == "----" and _holds(uuid.UUID, text)


def _holds(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


_FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date": _date,
    "time": _time,
    "date-time": _date_time,
    "email": _email,
    "uuid": _uuid,
    "ipv4": lambda text: _holds(ipaddress.IPv4Address, text),
    "ipv6": lambda text: "%" not in text and _holds(ipaddress.IPv6Address, text),
}
"""The others are remarks to a reader, as the standard has them."""


def _format(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 - see _Keyword
    check = _FORMATS.get(wanted) if isinstance(wanted, str) else None
    if check is not None and isinstance(instance, str) and (len(instance) > _LONGEST_FORMATTED or not check(instance)):
        yield ValidationError(f"no {wanted}")


# ------------------------------------------------------------------------------------------ numbers and lists


def _multiple_of(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 - see _Keyword
    """As the numbers are written: 0.3 is a multiple of 0.1."""
    if isinstance(instance, bool) or not isinstance(instance, int | float):
        return
    if Fraction(str(instance)) % Fraction(str(wanted)) != 0:
        yield ValidationError("no multiple")


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:  # noqa: ANN401 - see _Keyword
    if wanted and isinstance(instance, list):
        keys = {json.dumps(_comparable(entry), sort_keys=True) for entry in instance}
        if len(keys) < len(instance):
            yield ValidationError("an entry occurs twice")


def _comparable(value: Json) -> Json:
    """1 and 1.0 are one number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_comparable(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _comparable(entry) for name, entry in value.items()}
    return value


_OURS: Final[dict[str, _Keyword]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "format": _format,
    "multipleOf": _multiple_of,
    "uniqueItems": _unique_items,
}


@cache
def _bounded(dialect: type[Validator]) -> type[Validator]:
    keywords = {
        name: _counted(_OURS.get(name, cast("_Keyword", keyword))) for name, keyword in dialect.VALIDATORS.items()
    }
    return cast("type[Validator]", extend(dialect, keywords))  # type: ignore[no-untyped-call] # its stub has no types
