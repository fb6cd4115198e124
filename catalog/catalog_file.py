"""The catalog file of section 10 as a closed schema: `Node` in, definitions out, `Fault` with its line otherwise."""

from __future__ import annotations

import re
from datetime import date
from typing import Literal, cast
from urllib.parse import urlsplit

from catalog.checks import Names, among, choice, fields, filled_text, mapping, sequence, text, words, wrong_type
from catalog.definition import CategoryDefinition, OperationDefinition, ToolDefinition
from catalog.fold import fold
from catalog.json_schema import check_input_schema, check_schema
from catalog.model import Effect, ToolKind
from catalog.nodes import Fault, Json, Node

SUPPORTED_VERSION = 1

_TOOL_KEYS = ("title", "hints", "categories", "operations", "source", "server", "options", "grants")
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
_CONNECTOR_ONLY = ("operations", "server")
_STANDARD_ONLY = ("options", "grants")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_PLACES = ("query", "body", "header")

_UNDECLARABLE = re.compile(r"[,+、()]|\s{2}|[^\S ]|[\x00-\x1f\x7f]|\s[のと]\s|\A\s|\s\Z|\A(?:なし|のみ)\Z")
_PATH_ARGUMENT = re.compile(r"\{([^{}]*)\}")
_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def read_catalog(root: Node) -> tuple[ToolDefinition, ...]:
    """The tools of one catalog file, in its order. Raises `Fault`."""
    top = fields(root, "catalog", ("version", "tools"), ())
    version = top["version"]
    if isinstance(version.value, bool) or version.value != SUPPORTED_VERSION:
        raise Fault(version.line, "version-unsupported", supported=SUPPORTED_VERSION, value=str(version.json()))
    names = Names("tools")
    tools: list[ToolDefinition] = []
    for index, node in enumerate(sequence(top["tools"], "tools")):
        tool = _tool(node, f"tools[{index}]")
        names.add(tool.name, mapping(node, "tool")["name"].line)
        tools.append(tool)
    return tuple(tools)


def _tool(node: Node, where: str) -> ToolDefinition:
    entries = fields(node, where, ("name", "kind"), _TOOL_KEYS)
    name = _name(entries["name"], f"{where}.name")
    kind = cast(ToolKind, choice(entries["kind"], f"{name}.kind", ("mcp", "http", "standard")))
    for key in _CONNECTOR_ONLY if kind == "standard" else _STANDARD_ONLY:
        if key in entries:
            raise Fault((node.key_lines or {})[key], "not-for-kind", where=name, key=key, kind=kind)
    categories = _categories(entries.get("categories"), name)
    extras: dict[str, Json] = {}
    if "source" in entries:
        extras["source"] = _source(entries["source"], f"{name}.source")
    if "server" in entries:
        extras["server"] = _server(entries["server"], f"{name}.server", kind)
    return ToolDefinition(
        name=name,
        kind=kind,
        title=filled_text(entries["title"], f"{name}.title") if "title" in entries else name,
        hints=tuple(words(entries["hints"], f"{name}.hints")) if "hints" in entries else (),
        categories=categories,
        operations=_operations(entries.get("operations"), node, name, kind, categories),
        options=_options(entries.get("options"), name),
        grants=_grants(entries.get("grants"), name, categories) if kind == "standard" else (),
        extras=extras,
        line=node.line,
    )


def _name(node: Node, where: str) -> str:
    name = filled_text(node, where)
    if _UNDECLARABLE.search(fold(name)):
        raise Fault(node.line, "name-undeclarable", where=where, name=name)
    return name


def _categories(node: Node | None, tool: str) -> tuple[CategoryDefinition, ...]:
    if node is None:
        return ()
    names = Names(f"{tool}.categories")
    found: list[CategoryDefinition] = []
    for index, entry in enumerate(sequence(node, f"{tool}.categories")):
        where = f"{tool}.categories[{index}]"
        entries = fields(entry, where, ("name",), ("title", "hints"))
        name = _name(entries["name"], f"{where}.name")
        names.add(name, entries["name"].line)
        title = filled_text(entries["title"], f"{where}.title") if "title" in entries else name
        hints = tuple(words(entries["hints"], f"{where}.hints")) if "hints" in entries else ()
        found.append(CategoryDefinition(name, title, hints))
    return tuple(found)


def _operations(
    node: Node | None, tool_node: Node, tool: str, kind: ToolKind, categories: tuple[CategoryDefinition, ...]
) -> tuple[OperationDefinition, ...] | None:
    if kind == "standard":
        return ()
    if node is None:
        # Only a server's operations may be unknown, and then nothing says what its categories hold (T11).
        if kind == "http" or categories:
            raise Fault(tool_node.line, "key-missing", where=tool, key="operations")
        return None
    names = Names(f"{tool}.operations")
    found: list[OperationDefinition] = []
    for index, entry in enumerate(sequence(node, f"{tool}.operations")):
        operation = _operation(entry, f"{tool}.operations[{index}]", tool, kind, categories)
        names.add(operation.name, mapping(entry, "operation")["name"].line)
        found.append(operation)
    return tuple(found)


def _operation(
    node: Node, where: str, tool: str, kind: ToolKind, categories: tuple[CategoryDefinition, ...]
) -> OperationDefinition:
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


def _category(node: Node | None, operation: Node, where: str, categories: tuple[CategoryDefinition, ...]) -> str | None:
    if node is None:
        if categories:
            raise Fault(operation.line, "category-missing", where=where)
        return None
    if not categories:
        raise Fault(node.line, "category-unexpected", where=where)
    written = text(node, f"{where}.category")
    for category in categories:
        if fold(category.name) == fold(written):
            return category.name
    known = among(entry.name for entry in categories)
    raise Fault(node.line, "category-unknown", where=where, category=written, known=known)


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
    if not path.startswith("/"):
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


def _options(node: Node | None, tool: str) -> tuple[str, ...]:
    if node is None:
        return ()
    names = Names(f"{tool}.options")
    found: list[str] = []
    for index, entry in enumerate(sequence(node, f"{tool}.options")):
        found.append(_name(entry, f"{tool}.options[{index}]"))
        names.add(found[-1], entry.line)
    return tuple(found)


def _grants(
    node: Node | None, tool: str, categories: tuple[CategoryDefinition, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What each category word allows (T8); a word without an entry allows itself, which is written out here."""
    where = f"{tool}.grants"
    entries = mapping(node, where) if node is not None else {}
    known = {fold(category.name): category.name for category in categories}
    given: dict[str, tuple[str, ...]] = {}
    for key, value in entries.items():
        line = ((node.key_lines if node is not None else None) or {}).get(key, value.line)
        category = _granted(key, line, where, known)
        if category in given:
            raise Fault(line, "word-duplicate", where=where, word=category)
        listed: list[str] = []
        for index, entry in enumerate(sequence(value, f"{where}.{key}")):
            word = _granted(text(entry, f"{where}.{key}[{index}]"), entry.line, f"{where}.{key}", known)
            if word in listed:
                raise Fault(entry.line, "word-duplicate", where=f"{where}.{key}", word=word)
            listed.append(word)
        given[category] = tuple(listed)
    return tuple((category.name, given.get(category.name, (category.name,))) for category in categories)


def _granted(word: str, line: int, where: str, known: dict[str, str]) -> str:
    if fold(word) not in known:
        raise Fault(line, "category-unknown", where=where, category=word, known=among(known.values()))
    return known[fold(word)]


def _source(node: Node, where: str) -> dict[str, Json]:
    """Where names and schemas were taken from. `revision`: a commit or version; `operations`: how many it lists."""
    entries = fields(node, where, ("url", "date"), ("revision", "operations"))
    result: dict[str, Json] = {
        "url": _url(entries["url"], f"{where}.url"),
        "date": text(entries["date"], f"{where}.date"),
    }
    try:
        date.fromisoformat(str(result["date"]))
    except ValueError as error:
        expected = "YYYY-MM-DD"
        raise Fault(
            entries["date"].line, "value-wrong", where=f"{where}.date", value=str(result["date"]), expected=expected
        ) from error
    if "revision" in entries:
        result["revision"] = filled_text(entries["revision"], f"{where}.revision")
    if "operations" in entries:
        count = entries["operations"]
        if isinstance(count.value, bool) or not isinstance(count.value, int):
            raise wrong_type(count, f"{where}.operations", "integer")
        result["operations"] = count.value
    return result


def _server(node: Node, where: str, kind: Literal["mcp", "http", "standard"]) -> dict[str, Json]:
    """Where the connector is. `credentials`: names of environment variables, never values."""
    entries = fields(node, where, (), ("url", "command", "args", "credentials"))
    if "command" in entries and kind == "http":
        raise Fault((node.key_lines or {})["command"], "not-for-kind", where=where, key="command", kind=kind)
    if "command" in entries and "url" in entries:
        raise Fault(node.line, "server-ambiguous", where=where)
    if "command" not in entries and "url" not in entries:
        raise Fault(node.line, "server-incomplete", where=where)
    result: dict[str, Json] = {}
    if "url" in entries:
        result["url"] = _url(entries["url"], f"{where}.url")
    if "command" in entries:
        result["command"] = filled_text(entries["command"], f"{where}.command")
    if "args" in entries:
        listed = sequence(entries["args"], f"{where}.args")
        result["args"] = [text(entry, f"{where}.args[{index}]") for index, entry in enumerate(listed)]
    if "credentials" in entries:
        for index, entry in enumerate(sequence(entries["credentials"], f"{where}.credentials")):
            variable = text(entry, f"{where}.credentials[{index}]")
            if not _ENVIRONMENT.match(variable):
                place = f"{where}.credentials[{index}]"
                raise Fault(entry.line, "value-wrong", where=place, value=variable, expected="ENVIRONMENT_VARIABLE")
        result["credentials"] = list(words(entries["credentials"], f"{where}.credentials"))
    return result


def _url(node: Node, where: str) -> str:
    url = text(node, where)
    try:
        parts = urlsplit(url)
        usable = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username and not parts.password
        )
    except ValueError:
        usable = False
    if not usable:
        raise Fault(node.line, "value-wrong", where=where, value=url, expected="https://…")
    return url
