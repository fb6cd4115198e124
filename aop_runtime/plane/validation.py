"""Arguments against a tool's schema (JSON Schema 2020-12), with faults that a model can correct itself by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from jsonschema import SchemaError
from jsonschema.exceptions import ValidationError
from rapidfuzz import process
from referencing.exceptions import Unresolvable

from aop_runtime.declarations import Json
from aop_runtime.messages import Message, Worded
from aop_runtime.plane.bounded import BUDGET_S, NoSchema, OutOfTime, errors, evaluator, unknown_fields
from aop_runtime.plane.schemas import TooDeep, closed

MOST_FAULTS: Final = 10
_SHOWN: Final = 200
_ALIKE: Final = 70

ArgumentFault: TypeAlias = "dict[str, Json]"
"""`path` (`a.b[0]`; "": all of it), `problem`, and where they help `expected`, `allowed` and `did_you_mean`."""


class UnusableSchema(Worded):
    """A tool's schema is no JSON Schema, or refers to what is not in it. The message says which."""


class ArgumentValidator:
    """Of one tool's arguments. `budget_s`: of the processor, for the arguments of one call.

    Raises UnusableSchema when it is made.
    """

    def __init__(self, schema: Mapping[str, Json], budget_s: float = BUDGET_S) -> None:
        self._budget_s = budget_s
        try:
            self._validator = evaluator(cast("dict[str, Json]", closed(dict(schema))))
        except SchemaError as error:
            raise UnusableSchema(Message("schema.none", said=_cut(error.message))) from error
        except (TooDeep, RecursionError) as error:
            raise UnusableSchema(Message("schema.deep")) from error
        except (ValueError, TypeError) as error:
            raise UnusableSchema(Message("schema.no-json")) from error

    def faults(self, arguments: Mapping[str, Json]) -> list[ArgumentFault]:
        """At most `MOST_FAULTS`, the outermost first; [] where the arguments fit. Raises UnusableSchema."""
        try:
            found = errors(self._validator, dict(arguments), MOST_FAULTS, self._budget_s)
        except Unresolvable as error:
            raise UnusableSchema(Message("schema.elsewhere")) from error
        except NoSchema as error:
            raise UnusableSchema(Message("schema.nowhere")) from error
        except RecursionError as error:
            raise UnusableSchema(Message("schema.circle")) from error
        except OutOfTime:
            return [{"path": "", "problem": "takes too long to check", "expected": "fewer or shorter values"}]
        found.sort(key=lambda error: len(error.absolute_path))
        return [fault for error in found for fault in _described(error)][:MOST_FAULTS]


def _described(error: ValidationError) -> Iterator[ArgumentFault]:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{_cut(part, 60)}" for part in error.absolute_path)
    place = place.lstrip(".")
    wanted = cast("Any", error.validator_value)
    match error.validator:
        case "required":
            missing = [name for name in wanted if isinstance(error.instance, dict) and name not in error.instance]
            for name in missing:
                yield {"path": f"{place}.{name}".lstrip("."), "problem": "missing", "expected": "a value"}
        case "additionalProperties" | "unevaluatedProperties":
            known = sorted(_fields(error.schema))
            for name in _unknown(error):
                fault: ArgumentFault = {
                    "path": f"{place}.{_cut(name, 60)}".lstrip("."),
                    "problem": "unknown field",
                    "allowed": list[Json](known[:50]),
                }
                close = process.extractOne(name, known, score_cutoff=_ALIKE) if len(name) < _SHOWN else None
                if close is not None:
                    fault["did_you_mean"] = close[0]
                yield fault
        case "enum":
            yield _not_allowed(place, wanted, error.instance)
        case "const":
            yield _not_allowed(place, [wanted], error.instance)
        case "type":
            yield {"path": place, "problem": "wrong type", "expected": " or ".join(_types(wanted))}
        case "anyOf" | "oneOf":
            yield from _of_branches(error, place)
        case _:
            yield {"path": place, "problem": str(error.validator), "expected": _cut(str(wanted))}


def _not_allowed(place: str, allowed: list[Json], given: object) -> ArgumentFault:
    fault: ArgumentFault = {"path": place, "problem": "not one of the allowed values", "allowed": allowed[:50]}
    words = [value for value in allowed if isinstance(value, str)]
    if isinstance(given, str) and len(given) < _SHOWN:
        close = process.extractOne(given, words, score_cutoff=_ALIKE)
        if close is not None:
            fault["did_you_mean"] = close[0]
    return fault


def _types(wanted: object) -> list[str]:
    return [str(name) for name in wanted] if isinstance(wanted, list) else [str(wanted)]


def _of_branches(error: ValidationError, place: str) -> Iterator[ArgumentFault]:
    """What is wrong by the one branch that the value was meant for, where that can be told by its type."""
    by_branch: dict[object, list[ValidationError]] = {}
    for inner in error.context:
        by_branch.setdefault(inner.schema_path[0], []).append(inner)
    meant: list[list[ValidationError]] = []
    types: list[str] = []
    for found in by_branch.values():
        wrong = [inner for inner in found if inner.validator == "type" and not inner.path]
        if wrong:
            types += _types(wrong[0].validator_value)
        else:
            meant.append(found)
    if not by_branch:
        yield {"path": place, "problem": "fits more than one of the allowed shapes", "expected": "one of them"}
    elif not meant:
        yield {"path": place, "problem": "wrong type", "expected": " or ".join(dict.fromkeys(types))}
    elif len(meant) == 1:
        for inner in meant[0]:
            yield from _described(inner)
    else:
        yield {"path": place, "problem": "fits none of the allowed shapes", "expected": f"one of {len(by_branch)}"}


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
    if not isinstance(error.instance, dict) or not isinstance(error.schema, dict):
        return []
    known = _fields(error.schema)
    return [name for name in unknown_fields(error.instance, error.schema) if name not in known][:MOST_FAULTS]


def _cut(text: str, most: int = _SHOWN) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
