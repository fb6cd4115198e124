"""Schemas of operations: closed for the model, and compared with what a live server lists."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from aop_runtime.declarations import Json

Schema: TypeAlias = Mapping[str, Json]

_COMPOSED: Final = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
_BY_NAME: Final = ("properties", "$defs", "definitions", "dependentSchemas")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems",
                  "propertyNames", "contains", "not", "if", "then", "else")  # fmt: skip
_DEEPEST: Final = 64

NO_ARGUMENTS: Final[dict[str, Json]] = {"type": "object", "properties": {}, "additionalProperties": False}


def closed(schema: Schema, without: tuple[str, ...] = ()) -> dict[str, Json]:
    """An object that allows no argument but those that `schema` names, without the arguments in `without`.

    Where parts of a schema name arguments as well (`allOf` and the like), only `unevaluatedProperties` can tell.
    """
    result = {key: value for key, value in schema.items() if key not in ("$schema", "$id")}
    result["type"] = "object"
    properties = {name: entry for name, entry in _mapping(schema.get("properties")).items() if name not in without}
    result["properties"] = properties
    if isinstance(required := schema.get("required"), list):
        result["required"] = [name for name in required if name not in without]
    composed = any(key in schema for key in _COMPOSED)
    others = schema.get("additionalProperties")
    if composed:
        if others is True or others == {}:
            del result["additionalProperties"]
        result.setdefault("unevaluatedProperties", False)
    elif others in (None, True, {}):
        result["additionalProperties"] = False
    return result


def digest(value: Json) -> str:
    """The same for equal JSON values, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def without_patterns(schema: Json) -> Json:
    """A stranger's schema without its regular expressions, which could hold an evaluator up for ever. It refuses no
    value that `schema` allows; the server still judges by all of it."""
    if not isinstance(schema, dict):
        return schema
    result = dict(schema)
    result.pop("pattern", None)
    if result.pop("patternProperties", None) is not None:
        result.pop("additionalProperties", None)
        result.pop("unevaluatedProperties", None)
    for key, value in list(result.items()):
        if key in _BY_NAME and isinstance(value, dict):
            result[key] = {name: without_patterns(entry) for name, entry in value.items()}
        elif key in _LISTS and isinstance(value, list):
            result[key] = [without_patterns(entry) for entry in value]
        elif key in _SINGLE:
            result[key] = without_patterns(value)
    # Here a part that allows more makes the whole allow less.
    for key in ("not", "if", "oneOf", "contains"):
        if key in schema and result[key] != schema[key]:
            del result[key]
    return result


def depth(value: Json) -> int:
    """Levels of nesting, counted without recursion."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        current, level = waiting.pop()
        deepest = max(deepest, level)
        inner = current.values() if isinstance(current, dict) else current if isinstance(current, list) else ()
        waiting.extend((entry, level + 1) for entry in inner)
    return deepest


def gone(pinned: Schema, live: Schema) -> str | None:
    """An argument that `pinned` has and `live` does not: a server may ignore what it does not know, and do something
    else than was asked. All other differences show when the arguments of a call are judged by `live`."""
    return next(_Comparison(pinned, live).gone(dict(pinned), dict(live), "", 0), None)


class _Comparison:
    def __init__(self, before: Schema, now: Schema) -> None:
        self._before, self._now = before, now
        self._seen: set[tuple[int, int]] = set()

    def gone(self, before: Json, now: Json, where: str, level: int) -> Iterator[str]:
        before, now = _resolved(before, self._before), _resolved(now, self._now)
        if level > _DEEPEST or not isinstance(before, dict) or not isinstance(now, dict):
            return
        # Schemas that refer to themselves lead to the same pair again.
        if before == now or (id(before), id(now)) in self._seen:
            return
        self._seen.add((id(before), id(now)))
        had, has = _mapping(before.get("properties")), _mapping(now.get("properties"))
        # Where parts of a schema name arguments as well, or it names none, an argument may have its place elsewhere.
        complete = not any(key in now for key in _COMPOSED) and (has or now.get("additionalProperties") is False)
        for name in sorted(had):
            place = f"{where}.{name}" if where else name
            if name in has:
                yield from self.gone(had[name], has[name], place, level + 1)
            elif complete:
                yield place
        if "items" in before and "items" in now:
            yield from self.gone(before["items"], now["items"], f"{where}[]", level + 1)


def _resolved(schema: Json, root: Schema) -> Json:
    """What a `$ref` within the document refers to, where nothing stands beside it."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        target: Json = dict(root)
        for part in reference[2:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, dict) else None
        if target is None:
            break
        schema = target
    return schema


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
