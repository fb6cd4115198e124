"""What became of an operation's arguments between two versions of its schema, and whether callers break.

Breaking is what an argument list that was right before may be refused for: a new required argument, a narrower type or
enum, a tighter bound. What cannot be told apart (`not`, `if`, a changed `$ref`) counts as breaking. Arguments that no
schema declared are not thought of: a new optional one breaks nobody, though somebody may have guessed its name before.

A part that allows more makes the whole allow more, but for what stands below `not`, `if`, `contains` or `oneOf`, or
beside `unevaluatedProperties` and `unevaluatedItems`: there every change counts as breaking.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

from catalog.nodes import Json

Change: TypeAlias = Literal[
    "added", "removed", "required", "optional", "type", "enum", "bounds", "closed", "opened", "default", "described",
    "other",
]  # fmt: skip


class ArgumentChange(NamedTuple):
    """`argument`: its name, below others as `lines[].item`; "" for the arguments as a whole."""

    argument: str
    change: Change
    breaking: bool


_Schema: TypeAlias = Mapping[str, Json]

_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_LOWER: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_UPPER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_EXACT: Final = ("pattern", "format", "multipleOf", "contentEncoding", "contentMediaType")
_WORDS: Final = ("description", "title", "examples", "$comment", "deprecated")
_DEFINITIONS: Final = ("$defs", "definitions")
_BY_NAME: Final = (*_DEFINITIONS, "patternProperties", "dependentSchemas")
_ALTERNATIVES: Final = ("anyOf", "oneOf")
_LISTS: Final = ("allOf", "prefixItems")
_AGAINST: Final = ("not", "if", "contains", *_ALTERNATIVES[1:])
"""Below these, allowing more may allow less."""
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
_EVALUATING: Final = (
    "items",
    "additionalProperties",
    "patternProperties",
    "dependentSchemas",
    "anyOf",
    "oneOf",
    *_LISTS,
)
_REFERENCES: Final = ("$ref", "$dynamicRef")
_IGNORED: Final = frozenset({"$schema", "$id", "properties", "required"})


def compare_schemas(before: Json, now: Json) -> tuple[ArgumentChange, ...]:
    """Of two input schemas (None: none given), in the order of the arguments' names, each change once."""
    references = list(_references(now))
    changes: Iterator[ArgumentChange] = chain(_schema(_open(before), _open(now), ""), _lost(before, now, references))
    if any(against for _, against in references):
        changes = _strictly(changes)
    return tuple(sorted(set(changes), key=lambda found: (found.argument, found.change, found.breaking)))


def _open(schema: Json) -> Json:
    return {} if schema is None or schema is True else schema


def _strictly(changes: Iterable[ArgumentChange]) -> Iterator[ArgumentChange]:
    """Of a part that may be looked at the other way round: whatever it means now, it means something else."""
    return (
        change if change.change in ("described", "default") else change._replace(breaking=True) for change in changes
    )


def _references(schema: Json, *, against: bool = False) -> Iterator[tuple[str, bool]]:
    """What is referred to, and whether from where allowing more may allow less."""
    if isinstance(schema, list):
        for entry in schema:
            yield from _references(entry, against=against)
    if not isinstance(schema, dict):
        return
    against = against or any(_open(schema.get(keyword)) != {} for keyword in _UNEVALUATED)
    for keyword, entry in schema.items():
        if keyword in _REFERENCES and isinstance(entry, str):
            yield entry, against
        else:
            yield from _references(entry, against=against or keyword in _AGAINST)


def _lost(before: Json, now: Json, references: Iterable[tuple[str, bool]]) -> Iterator[ArgumentChange]:
    """Definitions that are gone and still referred to: no value can be judged."""
    if isinstance(before, dict) and isinstance(now, dict):
        for keyword in _DEFINITIONS:
            gone = _mapping(before.get(keyword)).keys() - _mapping(now.get(keyword)).keys()
            if any(reference.split("/")[:3] == ["#", keyword, name] for reference, _ in references for name in gone):
                yield ArgumentChange("", "other", True)


def _schema(before: Json, now: Json, where: str) -> Iterator[ArgumentChange]:
    before, now = _open(before), _open(now)
    if _same(before, now):
        return
    if before is False or now is False:  # it allows nothing
        yield ArgumentChange(where, "closed" if now is False else "opened", now is False)
        return
    if not isinstance(before, dict) or not isinstance(now, dict):  # `items` of earlier drafts: a list
        yield ArgumentChange(where, "other", True)
        return
    yield from _properties(before, now, where)
    yield from _types(before, now, where)
    yield from _enum(before, now, where)
    yield from _bounds(before, now, where)
    parts = chain(_inner(before, now, where), _rest(before, now, where))
    if all(_open(now.get(keyword)) == {} for keyword in _UNEVALUATED):
        yield from parts
        return
    yield from _strictly(parts)
    # What allows everything is not nothing here: it evaluates.
    if not all(_same(before.get(keyword), now.get(keyword)) for keyword in _EVALUATING):
        yield ArgumentChange(where, "other", True)


def _properties(before: _Schema, now: _Schema, where: str) -> Iterator[ArgumentChange]:
    had, has = _mapping(before.get("properties")), _mapping(now.get("properties"))
    needed, needs = _names(before.get("required")), _names(now.get("required"))
    for name in sorted(had.keys() | has.keys() | needed | needs):
        place = f"{where}.{name}" if where else name
        if name in has and name not in had and name not in needed:
            yield ArgumentChange(place, "added", name in needs or _narrows(before, has[name]))
        elif name in had and name not in has:
            yield ArgumentChange(place, "removed", True)
        else:
            if name in needs and name not in needed:
                yield ArgumentChange(place, "required", True)
            elif name in needed and name not in needs:
                yield ArgumentChange(place, "optional", False)
            yield from _schema(had.get(name, {}), has.get(name, {}), place)


def _narrows(before: _Schema, added: Json) -> bool:
    """Whether values of names that `before` did not declare, but spoke of, may be refused now that one is declared."""
    others = before.get("additionalProperties", {})
    spoken_of = [
        schema for schema in (others, before.get("unevaluatedProperties", {})) if schema not in (False, True, {})
    ]
    spoken_of += _mapping(before.get("patternProperties")).values()
    return any(change.breaking for schema in spoken_of for change in _schema(schema, added, ""))


def _types(before: _Schema, now: _Schema, where: str) -> Iterator[ArgumentChange]:
    had, has = _type_set(before.get("type")), _type_set(now.get("type"))
    if had != has:
        yield ArgumentChange(where, "type", not had <= has)


def _type_set(value: Json) -> frozenset[str]:
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else sorted(_TYPES)
    types = {str(entry) for entry in listed}
    return frozenset(types | {"integer"} if "number" in types else types)


def _enum(before: _Schema, now: _Schema, where: str) -> Iterator[ArgumentChange]:
    had, has = _values(before), _values(now)
    if had == has:
        return
    narrower = has is not None and (had is None or not had <= has)
    yield ArgumentChange(where, "enum", narrower)


def _values(schema: _Schema) -> frozenset[str] | None:
    listed = schema.get("enum")
    values = frozenset(map(_key, listed)) if isinstance(listed, list) else None
    if "const" not in schema:
        return values
    only = frozenset({_key(schema["const"])})
    return only if values is None else only & values


def _key(value: Json) -> str:
    """1 and true are different values of JSON, and equal in Python; 1 and 1.0 are the same in both."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)


def _same(before: Json, now: Json) -> bool:
    return before == now and json.dumps(before, sort_keys=True) == json.dumps(now, sort_keys=True)


def _bounds(before: _Schema, now: _Schema, where: str) -> Iterator[ArgumentChange]:
    tighter = looser = False
    for keywords, sign in ((_LOWER, 1), (_UPPER, -1)):
        for keyword in keywords:
            absent = 1 if keyword == "minContains" else None
            had, has = _number(before.get(keyword, absent), sign), _number(now.get(keyword, absent), sign)
            tighter, looser = tighter or has > had, looser or has < had
    for keyword in (*_EXACT, "uniqueItems"):
        had_it, has_it = before.get(keyword) or None, now.get(keyword) or None
        if had_it != has_it:
            tighter, looser = tighter or has_it is not None, looser or has_it is None
    if tighter or looser:
        yield ArgumentChange(where, "bounds", tighter)


def _number(value: Json, sign: int) -> float:
    """The bound, the larger the tighter; minus infinity for none."""
    return sign * value if isinstance(value, int | float) and not isinstance(value, bool) else float("-inf")


def _inner(before: _Schema, now: _Schema, where: str) -> Iterator[ArgumentChange]:
    """Schemas within: what is not mentioned is open."""
    for keyword, place in (("items", f"{where}[]"), ("additionalProperties", where), ("propertyNames", where)):
        yield from _schema(before.get(keyword, {}), now.get(keyword, {}), place)
    for keyword in (*_UNEVALUATED, "additionalItems"):
        yield from _schema(before.get(keyword, {}), now.get(keyword, {}), where)
    for keyword in _BY_NAME:
        had, has = _mapping(before.get(keyword)), _mapping(now.get(keyword))
        for name in sorted(had.keys() & has.keys()):
            yield from _schema(had[name], has[name], where)
        # Definitions only matter where something refers to them, which is a change of its own; patterns always do.
        if had.keys() != has.keys() and keyword not in _DEFINITIONS:
            yield ArgumentChange(where, "other", True)
    for keyword in (*_ALTERNATIVES, *_LISTS):
        yield from _listed(before.get(keyword), now.get(keyword), where, keyword)


def _listed(before: Json, now: Json, where: str, keyword: str) -> Iterator[ArgumentChange]:
    if _same(before, now):
        return
    if isinstance(before, list) and isinstance(now, list):
        if len(before) == len(now):
            inner = (change for had, has in zip(before, now, strict=True) for change in _schema(had, has, where))
            # To allow more in one is to allow two at once.
            yield from _strictly(inner) if keyword == "oneOf" else inner
            return
        if keyword == "anyOf" and all(any(_same(had, has) for has in now) for had in before):
            yield ArgumentChange(where, "type", False)
            return
    # Without `prefixItems`, `items` is about the first ones as well.
    breaking = now is not None or keyword == "prefixItems"
    yield ArgumentChange(where, "type" if keyword in _ALTERNATIVES else "other", breaking)


def _rest(before: _Schema, now: _Schema, where: str) -> Iterator[ArgumentChange]:
    for keyword in sorted((before.keys() | now.keys()) - _HANDLED):
        if keyword in before and keyword in now and _same(before[keyword], now[keyword]):
            continue
        if keyword in _WORDS:
            yield ArgumentChange(where, "described", False)
        elif keyword == "default":
            yield ArgumentChange(where, "default", False)
        else:
            yield ArgumentChange(where, "other", keyword in now)


_HANDLED: Final = _IGNORED | {
    "type", "enum", "const", "uniqueItems", "items", "additionalProperties", "propertyNames", "unevaluatedProperties",
    "unevaluatedItems", "additionalItems", *_LOWER, *_UPPER, *_EXACT, *_BY_NAME, *_ALTERNATIVES, *_LISTS,
}  # fmt: skip


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _names(value: Json) -> frozenset[str]:
    return frozenset(str(entry) for entry in value) if isinstance(value, list) else frozenset()
