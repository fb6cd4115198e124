"""Whether an operation's schema is well-formed JSON Schema, so that nothing later stumbles over it.

Only the shape of the keywords is looked at (what the 2020-12 meta-schema says of them): a schema that is merely unwise
is the lint's business. Written by hand because the answer must carry a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from catalog.checks import mapping
from catalog.lint.regex.pattern import read_pattern
from catalog.nodes import Fault, Node

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_ONLY_PYTHON = re.compile(r"\A\(\?[aimsux]+\)|(\(\?P)(?=[<=])|\\[AZ]")
_Check = Callable[[Node, str], None]


def check_input_schema(node: Node, where: str) -> dict[str, Node]:
    """A tool's arguments: an object schema. Returns its properties."""
    entries = mapping(node, where)
    check_schema(node, where)
    if "type" in entries and entries["type"].value != "object":
        raise Fault(entries["type"].line, "schema-invalid", where=f"{where}.type", expected="object")
    return mapping(entries["properties"], where) if "properties" in entries else {}


def check_schema(node: Node, where: str) -> None:
    if isinstance(node.value, bool):
        return
    if not isinstance(node.value, dict):
        raise _wrong(node, where, "object | boolean")
    for keyword, value in node.value.items():
        check = _KEYWORDS.get(keyword)
        if check is not None:
            check(value, f"{where}.{keyword}")


def _wrong(node: Node, where: str, expected: str) -> Fault:
    return Fault(node.line, "schema-invalid", where=where, expected=expected)


def _string(node: Node, where: str) -> None:
    if not isinstance(node.value, str):
        raise _wrong(node, where, "string")


def _boolean(node: Node, where: str) -> None:
    if not isinstance(node.value, bool):
        raise _wrong(node, where, "boolean")


def _number(node: Node, where: str) -> None:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise _wrong(node, where, "number")


def _positive_number(node: Node, where: str) -> None:
    _number(node, where)
    if isinstance(node.value, int | float) and node.value <= 0:
        raise _wrong(node, where, "number > 0")


def _size(node: Node, where: str) -> None:
    if isinstance(node.value, bool) or not isinstance(node.value, int) or node.value < 0:
        raise _wrong(node, where, "integer >= 0")


def _list(node: Node, where: str) -> None:
    if not isinstance(node.value, list):
        raise _wrong(node, where, "array")


def _names(node: Node, where: str) -> None:
    values = [entry.value for entry in node.value] if isinstance(node.value, list) else [None]
    if not all(isinstance(value, str) for value in values) or len(set(map(str, values))) != len(values):
        raise _wrong(node, where, "array of distinct strings")


def _type(node: Node, where: str) -> None:
    listed = node.value if isinstance(node.value, list) else [node]
    names = [entry.value for entry in listed]
    if not names or not all(name in _TYPES for name in names) or len(set(map(str, names))) != len(names):
        raise _wrong(node, where, " | ".join(_TYPES))


def _pattern(node: Node, where: str) -> None:
    """Of ECMA-262, which is JSON Schema's dialect, or with what Python alone has (`(?i)`, `(?P<name>`, `\\Z`), as
    servers in Python publish it. Not by Python's own compiler: it takes seconds for some short patterns."""
    _string(node, where)
    if read_pattern(_ONLY_PYTHON.sub(lambda found: "(?" if found[1] else "", str(node.value))).error is not None:
        raise _wrong(node, where, "regular expression")


def _schemas_by_name(node: Node, where: str) -> None:
    if not isinstance(node.value, dict):
        raise _wrong(node, where, "object")
    for name, entry in node.value.items():
        check_schema(entry, f"{where}.{name}")


def _schemas_by_pattern(node: Node, where: str) -> None:
    _schemas_by_name(node, where)
    for pattern in node.key_lines or {}:
        _pattern(Node((node.key_lines or {})[pattern], pattern), where)


def _schema_list(node: Node, where: str) -> None:
    if not isinstance(node.value, list) or not node.value:
        raise _wrong(node, where, "non-empty array")
    for index, entry in enumerate(node.value):
        check_schema(entry, f"{where}[{index}]")


def _items(node: Node, where: str) -> None:
    """Up to draft 2019-09 a list of schemas was allowed here; published tool schemas still use it."""
    if isinstance(node.value, list):
        _schema_list(node, where)
    else:
        check_schema(node, where)


def _dependent_names(node: Node, where: str) -> None:
    if not isinstance(node.value, dict):
        raise _wrong(node, where, "object")
    for name, entry in node.value.items():
        _names(entry, f"{where}.{name}")


_KEYWORDS: dict[str, _Check] = {
    "type": _type,
    "enum": _list,
    "required": _names,
    "pattern": _pattern,
    **dict.fromkeys(("title", "description", "format", "$ref", "$id", "$schema", "$anchor", "$comment"), _string),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _boolean),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    "multipleOf": _positive_number,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _size),
    **dict.fromkeys(("properties", "$defs", "definitions", "dependentSchemas"), _schemas_by_name),
    "patternProperties": _schemas_by_pattern,
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _schema_list),
    "items": _items,
    **dict.fromkeys(
        ("additionalProperties", "propertyNames", "not", "if", "then", "else", "contains", "unevaluatedProperties"),
        check_schema,
    ),
    "unevaluatedItems": check_schema,
    "dependentRequired": _dependent_names,
    "examples": _list,
}
