"""A tool's `operations` in a catalog file (section 10)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from catalog.checks import Names, among, choice, fields, filled_text, mapping, sequence, text, wrong_type
from catalog.definition import OperationDefinition
from catalog.fold import fold
from catalog.json_schema import check_input_schema, check_schema
from catalog.model import Category, Effect, ToolKind
from catalog.nodes import Fault, Json, Node

_OPERATION_KEYS = (
    "category",
    "effect",
    "description",
    "input_schema",
    "text_argument",
    "output_schema",
    "confirm",
    "idempotency_argument",
    "timeout_s",
    "permission",
)
_HTTP_KEYS = ("method", "path", "mapping")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_PLACES = ("query", "body", "header")

_PATH = re.compile(r"/(?!/)[^\s?#\\]*\Z")
_PATH_ARGUMENT = re.compile(r"\{([^{}]*)\}")


def read_operations(
    node: Node | None, tool_node: Node, tool: str, kind: ToolKind, categories: tuple[Category, ...]
) -> tuple[OperationDefinition, ...] | None:
    if kind == "standard":
        return ()
    if node is None:
        # Only a server's operations may be unknown, and then nothing says what its categories hold (T11).
        if kind == "http" or categories:
            raise Fault(tool_node.line, "key-missing", where=tool, key="operations")
        return None
    known = {fold(category.name): category.name for category in categories}
    names = Names(f"{tool}.operations")
    found: list[OperationDefinition] = []
    for index, entry in enumerate(sequence(node, f"{tool}.operations")):
        operation = _operation(entry, f"{tool}.operations[{index}]", tool, kind, known)
        names.add(operation.name, mapping(entry, "operation")["name"].line)
        found.append(operation)
    return tuple(found)


def _operation(node: Node, where: str, tool: str, kind: ToolKind, categories: Mapping[str, str]) -> OperationDefinition:
    """`categories`: the tool's names for them, by folded name."""
    entries = fields(node, where, ("name",), _OPERATION_KEYS + _HTTP_KEYS)
    name = filled_text(entries["name"], f"{where}.name")
    where = f"{tool}.operations.{name}"
    if kind != "http":
        for key in _HTTP_KEYS:
            if key in entries:
                raise Fault((node.key_lines or {})[key], "not-for-kind", where=where, key=key, kind=kind)
    effect = choice(entries["effect"], f"{where}.effect", ("read", "write")) if "effect" in entries else "write"
    schema, arguments = None, {}
    if "input_schema" in entries:
        schema = cast("dict[str, Json]", entries["input_schema"].json())
        arguments = check_input_schema(entries["input_schema"], f"{where}.input_schema")
    return OperationDefinition(
        name=name,
        category=_category(entries.get("category"), node, where, categories),
        effect=cast(Effect, effect),
        description=text(entries["description"], f"{where}.description") if "description" in entries else "",
        input_schema=schema,
        text_argument=_text_argument(entries.get("text_argument"), f"{where}.text_argument", arguments),
        extras=_operation_extras(entries, where, arguments),
    )


def _category(node: Node | None, operation: Node, where: str, categories: Mapping[str, str]) -> str | None:
    if node is None:
        if categories:
            raise Fault(operation.line, "category-missing", where=where)
        return None
    if not categories:
        raise Fault(node.line, "category-unexpected", where=where)
    written = text(node, f"{where}.category")
    if fold(written) not in categories:
        known = among(categories.values())
        raise Fault(node.line, "category-unknown", where=where, category=written, known=known)
    return categories[fold(written)]


def _argument(node: Node, where: str, arguments: dict[str, Node]) -> str:
    name = text(node, where)
    if name not in arguments:
        raise Fault(node.line, "argument-unknown", where=where, argument=name, known=among(arguments))
    return name


def _text_argument(node: Node | None, where: str, arguments: dict[str, Node]) -> str | None:
    if node is None:
        return None
    name = _argument(node, where, arguments)
    schema = arguments[name].value
    kind = schema["type"].json() if isinstance(schema, dict) and "type" in schema else "string"
    if kind != "string" and not (isinstance(kind, list) and "string" in kind):
        raise Fault(node.line, "argument-not-text", where=where, argument=name)
    return name


def _operation_extras(entries: dict[str, Node], where: str, arguments: dict[str, Node]) -> dict[str, Json]:
    extras: dict[str, Json] = {}
    if "output_schema" in entries:
        check_schema(entries["output_schema"], f"{where}.output_schema")
        extras["output_schema"] = entries["output_schema"].json()
    if "confirm" in entries:
        extras["confirm"] = choice(entries["confirm"], f"{where}.confirm", ("always", "never"))
    if "idempotency_argument" in entries:
        node = entries["idempotency_argument"]
        extras["idempotency_argument"] = _argument(node, f"{where}.idempotency_argument", arguments)
    if "timeout_s" in entries:
        extras["timeout_s"] = _positive(entries["timeout_s"], f"{where}.timeout_s")
    if "permission" in entries:
        extras["permission"] = filled_text(entries["permission"], f"{where}.permission")
    if "method" in entries:
        extras["method"] = choice(entries["method"], f"{where}.method", _METHODS)
    if "path" in entries:
        extras["path"] = _path(entries["path"], f"{where}.path", arguments)
    if "mapping" in entries:
        extras["mapping"] = _mapping(entries["mapping"], f"{where}.mapping", arguments)
    return extras


def _positive(node: Node, where: str) -> int | float:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(node, where, "number")
    if not 0 < value <= 86_400:
        raise Fault(node.line, "value-wrong", where=where, value=str(value), expected="0 < x <= 86400")
    return value


def _path(node: Node, where: str, arguments: dict[str, Node]) -> str:
    path = text(node, where)
    # Of a path only: no query, no way up, and no other host (`//host`).
    if not _PATH.match(path) or ".." in path.split("/"):
        raise Fault(node.line, "value-wrong", where=where, value=path, expected="/…")
    for argument in _PATH_ARGUMENT.findall(path):
        if argument not in arguments:
            raise Fault(node.line, "path-argument", where=where, argument=argument)
    return path


def _mapping(node: Node, where: str, arguments: dict[str, Node]) -> dict[str, Json]:
    """Which arguments travel in the query, the body or a header; the rest goes where the method usually puts it."""
    placed: set[str] = set()
    result: dict[str, Json] = {}
    for place, listed in fields(node, where, (), _PLACES).items():
        names: list[Json] = []
        for index, entry in enumerate(sequence(listed, f"{where}.{place}")):
            name = _argument(entry, f"{where}.{place}[{index}]", arguments)
            if name in placed:
                raise Fault(entry.line, "argument-twice", where=where, argument=name)
            placed.add(name)
            names.append(name)
        result[place] = names
    return result
