"""Whether a schema's keywords have the form that the official meta-schema demands.

The meta-schema is taken apart into what it says of each keyword, with schemas inside schemas left out: those are asked
on their own, so that the whole takes time in proportion to the schema, whatever its shape.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Final, cast

from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped] # typed, but without the marker file

from catalog.lint.schema.dialect import Dialect
from catalog.lint.schema.evaluate import Budget, Evaluation
from catalog.lint.schema.references import NoReferences
from catalog.nodes import MAX_NODES, Json

_LONG: Final = 200
"""Characters of a text whose verdict is not worth remembering."""
_REMARKS: Final = frozenset({"$comment", "default", "title", "description", "deprecated"})
_SOURCES: Final = {
    "2020-12": (
        "https://json-schema.org/draft/2020-12/schema",
        *(
            f"https://json-schema.org/draft/2020-12/meta/{vocabulary}"
            for vocabulary in (
                "core",
                "applicator",
                "unevaluated",
                "validation",
                "meta-data",
                "format-annotation",
                "content",
            )
        ),
    ),
    "draft-07": ("http://json-schema.org/draft-07/schema",),
}


def faults_of(schema: dict[str, Json], dialect: Dialect) -> dict[str, str]:
    """The malformed keywords, each with what the meta-schema says of it as canonical JSON."""
    found: dict[str, str] = {}
    for keyword, value in schema.items():
        if not _allowed(keyword, value, dialect):
            found[keyword] = json.dumps(expectations(dialect)[keyword], separators=(",", ":"))
    return found


def _allowed(keyword: str, value: Json, dialect: Dialect) -> bool:
    if isinstance(value, list | dict) or (isinstance(value, str) and len(value) > _LONG):
        return _judged(keyword, value, dialect)
    return _allowed_scalar(keyword, value, type(value).__name__, dialect)


@lru_cache(maxsize=4_096)
def _allowed_scalar(keyword: str, value: str | int | float | bool | None, kind: str, dialect: Dialect) -> bool:
    """`kind`: because True is equal to 1."""
    return _judged(keyword, value, dialect)


def _judged(keyword: str, value: Json, dialect: Dialect) -> bool:
    expected = expectations(dialect).get(keyword)
    if expected is None:
        return True
    evaluation = Evaluation(NoReferences(dialect), Budget(50 * MAX_NODES), MAX_NODES)
    return evaluation.judge(expected)(value)


@lru_cache(maxsize=2)
def expectations(dialect: Dialect) -> dict[str, Json]:
    """By keyword, what the meta-schema says of its value; `true` stands for "a schema"."""
    found: dict[str, Json] = {}
    for address in _SOURCES[dialect.name]:
        document = _contents(address)
        properties = cast("dict[str, Json]", document.get("properties", {}))
        for keyword, value in properties.items():
            found[keyword] = _shallow(value, document, dialect)
    # Names that are required twice have a rule of their own.
    found["required"] = {"type": "array", "items": {"type": "string"}}
    return found


def _shallow(value: Json, document: dict[str, Json], dialect: Dialect) -> Json:
    """`value` without its references: a schema where one is expected becomes `true`, others are written out."""
    if not isinstance(value, dict):
        return value
    if "$dynamicRef" in value or value.get("$ref") == "#":
        return True
    result: dict[str, Json] = {}
    for keyword, entry in value.items():
        if keyword == "$ref":
            result.update(_referred(str(entry), document, dialect))
        elif keyword in ("anyOf", "allOf") and isinstance(entry, list):
            parts = [_shallow(part, document, dialect) for part in entry]
            # Among others "a schema" must be told from what is none.
            result[keyword] = [{"type": ["object", "boolean"]} if part is True else part for part in parts if part]
        elif keyword in ("items", "additionalProperties", "propertyNames"):
            result[keyword] = _shallow(entry, document, dialect)
        elif keyword not in _REMARKS:
            result[keyword] = entry
    only = result.get("allOf")
    return only[0] if isinstance(only, list) and len(only) == len(result) == 1 else result


def _referred(reference: str, document: dict[str, Json], dialect: Dialect) -> dict[str, Json]:
    """What a reference of `document`, a meta-schema, leads to."""
    address, _, pointer = reference.partition("#")
    holder = _contents(f"https://json-schema.org/draft/2020-12/{address}") if address else document
    target = holder
    for step in pointer.split("/")[1:]:
        target = cast("dict[str, Json]", target[step])
    return cast("dict[str, Json]", _shallow(target, holder, dialect))


def _contents(address: str) -> dict[str, Json]:
    return cast("dict[str, Json]", REGISTRY.contents(address))
