"""Arguments against a tool's schema (JSON Schema 2020-12), with faults that a model can correct itself by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeAlias, cast

import regex
from jsonschema import SchemaError
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import Draft202012Validator, extend
from rapidfuzz import process
from referencing import Registry
from referencing.exceptions import Unresolvable

from aop_runtime.declarations import Json
from aop_runtime.plane.schemas import TooDeep, closed

MOST_FAULTS: Final = 10
_SHOWN: Final = 200
_PATTERN_S: Final = 0.1
_ALIKE: Final = 70

Fault: TypeAlias = "dict[str, Json]"
"""`path` (`a.b[0]`; "": all of it), `problem`, and where they help `expected`, `allowed` and `did_you_mean`."""


class UnusableSchema(ValueError):
    """A tool's schema is no JSON Schema, or refers to what is not in it. The message says which."""


class ArgumentValidator:
    """Of one tool's arguments. Raises UnusableSchema when it is made."""

    def __init__(self, schema: Mapping[str, Json]) -> None:
        try:
            shut = closed(dict(schema))
            Draft202012Validator.check_schema(cast("dict[str, Any]", shut))
        except SchemaError as error:
            raise UnusableSchema(f"no JSON Schema: {_cut(error.message)}") from error
        except (TooDeep, RecursionError) as error:
            raise UnusableSchema("nested too deeply") from error
        self._schema = cast("dict[str, Json]", shut)
        # An empty registry: nothing outside the schema is ever fetched.
        self._validator: Validator = _Bounded(cast("dict[str, Any]", shut), registry=Registry())

    def faults(self, arguments: Mapping[str, Json]) -> list[Fault]:
        """At most `MOST_FAULTS`, the outermost first; [] where the arguments fit. Raises UnusableSchema."""
        try:
            errors = list(islice(self._validator.iter_errors(dict(arguments)), MOST_FAULTS))
        except Unresolvable as error:
            raise UnusableSchema("it refers to what is not in it") from error
        except RecursionError as error:
            raise UnusableSchema("it goes round in a circle") from error
        errors.sort(key=lambda error: len(error.absolute_path))
        return [fault for error in errors for fault in _described(error)][:MOST_FAULTS]


def _described(error: ValidationError) -> Iterator[Fault]:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    wanted = cast("Any", error.validator_value)
    match error.validator:
        case "required":
            missing = [name for name in wanted if isinstance(error.instance, dict) and name not in error.instance]
            for name in missing:
                yield {"path": f"{place}.{name}".lstrip("."), "problem": "missing", "expected": "a value"}
        case "additionalProperties" | "unevaluatedProperties":
            known = sorted(_fields(error.schema))
            for name in _unknown(error):
                fault: Fault = {
                    "path": f"{place}.{_cut(name, 60)}".lstrip("."),
                    "problem": "unknown field",
                    "allowed": list[Json](known[:50]),
                }
                close = process.extractOne(name, known, score_cutoff=_ALIKE) if len(name) < _SHOWN else None
                if close is not None:
                    fault["did_you_mean"] = close[0]
                yield fault
        case "enum":
            yield {"path": place, "problem": "not one of the allowed values", "allowed": list[Json](wanted[:50])}
        case "type":
            names = wanted if isinstance(wanted, list) else [wanted]
            yield {"path": place, "problem": "wrong type", "expected": " or ".join(map(str, names))}
        case "anyOf" | "oneOf":
            yield {"path": place, "problem": "fits none of the allowed shapes, or more than one"}
        case _:
            yield {"path": place, "problem": str(error.validator), "expected": _cut(str(wanted))}


def _fields(schema: object) -> set[str]:
    """What an object may name: its own properties and those of the parts beside them."""
    if not isinstance(schema, dict):
        return set()
    names = set(schema.get("properties", ()))
    for key in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(key, ()):
            names |= _fields(part)
    return names


def _unknown(error: ValidationError) -> list[str]:
    names = list(error.instance) if isinstance(error.instance, dict) else []
    known = _fields(error.schema)
    return [name for name in names if name not in known][:MOST_FAULTS]


def _cut(text: str, most: int = _SHOWN) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _pattern(validator: Validator, wanted: object, instance: object, schema: object) -> Iterator[ValidationError]:
    """`pattern` with an end: one that would search for ever refuses the value."""
    if not isinstance(instance, str) or not isinstance(wanted, str):
        return
    try:
        found = regex.search(wanted, instance, timeout=_PATTERN_S)
    except TimeoutError:
        found = None
    except regex.error:
        # Of another dialect; the server judges by it.
        return
    if found is None:
        yield ValidationError(f"does not match {_cut(wanted)}")


_Bounded: Final = cast("type[Draft202012Validator]", extend(Draft202012Validator, {"pattern": _pattern}))  # type: ignore[no-untyped-call] # its stub has no types
