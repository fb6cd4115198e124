"""Whether a value fits a schema, in words that hold nothing of the value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from jsonschema import SchemaError
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import Draft202012Validator, validator_for
from referencing.exceptions import Unresolvable

from aop_runtime.declarations import Json
from aop_runtime.plane.bounded import OutOfTime, errors, evaluator
from aop_runtime.sources.words import one_line

_SHOWN: Final = 300
_MOST_ERRORS: Final = 100


def misfit(value: Json, schema: Mapping[str, Json]) -> str | None:
    """Where `value` does not fit `schema`, in one line without the value; None: it fits."""
    try:
        validator = _validator(_Hashed(schema))
        error = best_match(errors(validator, value, _MOST_ERRORS))
    except (SchemaError, ValueError, TypeError):
        return "its schema is no JSON Schema"
    except Unresolvable:
        return "its schema refers to what is not in it"
    except RecursionError:
        return "its schema goes round in a circle"
    except OutOfTime:
        return "it takes too long to judge by its schema"
    if error is None:
        return None
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    wanted = "no further fields" if error.validator in ("additionalProperties", "unevaluatedProperties") else None
    if error.validator == "required":
        wanted = one_line(error.message, _SHOWN)
    shown = wanted or one_line(f"{error.validator}: {error.validator_value}", _SHOWN)
    return f"{one_line(place, 200) or 'the value'}: {shown}"


class _Hashed:
    """A schema by identity: those that are compared live as long as their source."""

    def __init__(self, schema: Mapping[str, Json]) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.schema is other.schema


@lru_cache(maxsize=512)
def _validator(hashed: _Hashed) -> Validator:
    """Raises SchemaError."""
    schema = dict(hashed.schema)
    return evaluator(schema, validator_for(schema, default=Draft202012Validator))
