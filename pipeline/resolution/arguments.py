"""Argument values from the document's literals (V5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from pipeline.document.values import CODE_CLOSE, CODE_OPEN

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

_RUN = re.compile(r"[A-Za-z0-9_.:/@#-]+")
_CLOSING = {CODE_OPEN: CODE_CLOSE, "「": "」", '"': '"'}
_WORD_START, _WORD_END = r"(?<![A-Za-z0-9_-])", r"(?![A-Za-z0-9_-])"
_IS = rf"\s*+(?:{CODE_CLOSE}\s*+)?(?:[:：]|は)\s*+(?:{CODE_CLOSE}\s*+)?"
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_PLAIN_KEYWORDS = frozenset(("type", "description", "title", "default", "examples", "enum"))
"""A schema of these only is judged here; any other goes to jsonschema, whose import costs more than a compile."""


class Value(NamedTuple):
    value: JsonValue


class NoValue(NamedTuple):
    """Why there is none. `written`: the literals found, where they differ (`several`) or are refused by the schema."""

    reason: str
    written: tuple[str, ...] = ()


class Scope:
    """The text of a phase, or outside all phases. Each question is answered once: a document may have 10,000 fences."""

    def __init__(self, blocks: Sequence[str]) -> None:
        self._blocks = blocks
        self._known: dict[tuple[str, str], Value | NoValue] = {}

    def find(self, argument: str, schema: dict[str, JsonValue]) -> Value | NoValue:
        key = (argument, json.dumps(schema, sort_keys=True))
        if key not in self._known:
            self._known[key] = self._find(argument, schema)
        return self._known[key]

    def _find(self, argument: str, schema: dict[str, JsonValue]) -> Value | NoValue:
        lines = [literal for block in self._blocks for literal in _literals(argument, block)]
        accepted = _accepted(lines, schema)
        if not lines:
            accepted = {word: word for word in _enum_words(schema, self._blocks)}
        if len(_distinct(accepted)) > 1:
            return NoValue("several", tuple(accepted))
        if accepted:
            return Value(next(iter(accepted.values())))
        return NoValue("refused", tuple(dict.fromkeys(lines))) if lines else NoValue("")


def find_value(argument: str, schema: dict[str, JsonValue], scopes: Sequence[Scope]) -> Value | NoValue:
    """The argument's value: from the first scope (the phase, then what is outside all phases) that gives one."""
    refused: NoValue | None = None
    for scope in scopes:
        found = scope.find(argument, schema)
        if isinstance(found, Value) or found.reason == "several":
            return found
        if found.reason == "refused":
            refused = refused or found
    return refused or NoValue("")


def _distinct(values: dict[str, JsonValue]) -> set[str]:
    return {json.dumps(value, sort_keys=True) for value in values.values()}


def _literals(argument: str, block: str) -> Iterator[str]:
    """`ARGUMENT: VALUE`, `ARGUMENT：VALUE` or `ARGUMENT は VALUE`; blanks and code marks around the name may be."""
    if argument not in block:
        return
    name = re.compile(_WORD_START + re.escape(argument) + _WORD_END + _IS)
    unclosed: set[str] = set()  # not looked for again, or many of them would take quadratic time
    position = 0
    while match := name.search(block, position):
        position = match.end()
        closing = _CLOSING.get(block[position : position + 1])
        if closing is None:
            run = _RUN.match(block, position)
            if run is None:
                continue
            position = run.end()
            literal = run.group().rstrip(".:")
            if any(char.isalnum() for char in literal):
                yield literal
        elif closing not in unclosed:
            end = block.find(closing, position + 1)
            if end < 0:
                unclosed.add(closing)
                continue
            content = block[position + 1 : end]
            position = end + 1
            if content.strip():
                yield content.strip() if closing == CODE_CLOSE else content


def _enum_words(schema: dict[str, JsonValue], scope: Sequence[str]) -> list[str]:
    values = schema.get("enum")
    words = [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
    return [w for w in words if any(re.search(_WORD_START + re.escape(w) + _WORD_END, block) for block in scope)]


def _accepted(literals: Sequence[str], schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    accepted: dict[str, JsonValue] = {}
    for literal in literals:
        for value in _conversions(literal, schema):
            if _allows(schema, value):
                accepted.setdefault(literal, value)
                break
    return accepted


def _conversions(literal: str, schema: dict[str, JsonValue]) -> Iterator[JsonValue]:
    """What the literal may stand for, in the order of the schema's types; a string where it names none."""
    types = schema.get("type", ["string", "integer", "number", "boolean"])
    for kind in types if isinstance(types, list) else [types]:
        if kind == "string":
            yield literal
        elif kind == "integer" and _INTEGER.fullmatch(literal):
            yield int(literal)
        elif kind == "number" and _NUMBER.fullmatch(literal):
            yield int(literal) if _INTEGER.fullmatch(literal) else float(literal)
        elif kind == "boolean" and literal in ("true", "false"):
            yield literal == "true"


def _allows(schema: dict[str, JsonValue], value: JsonValue) -> bool:
    enum = schema.get("enum")
    if isinstance(enum, list) and not any(type(entry) is type(value) and entry == value for entry in enum):
        return False
    if schema.keys() <= _PLAIN_KEYWORDS:
        return True
    from jsonschema import Draft202012Validator  # noqa: PLC0415  (see _PLAIN_KEYWORDS)

    return bool(Draft202012Validator(schema).is_valid(value))
