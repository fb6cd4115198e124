"""The catalog file of section 10 as a closed schema: `Node` in, definitions out, `Fault` with its line otherwise."""

from __future__ import annotations

import json
import re
from typing import cast

from catalog.checks import Names, among, choice, fields, filled_text, mapping, sequence, text, words
from catalog.definition import Removal, ToolDefinition
from catalog.fold import fold
from catalog.model import Category, ToolKind
from catalog.nodes import Fault, Json, Node
from catalog.operation_file import read_operations
from catalog.origin import read_server, read_source

SUPPORTED_VERSION = 1

_TOOL_KEYS = ("title", "hints", "categories", "operations", "source", "server", "options", "grants")
_CONNECTOR_ONLY = ("operations", "server")
_STANDARD_ONLY = ("options", "grants")

_UNDECLARABLE = re.compile(
    r"[,+、()]|\s{2}|[^\S ]|[\x00-\x1f\x7f-\x9f]|\s[のと]\s|\A\s|\s\Z|\A(?:なし|のみ)\Z"
    r"|[\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"  # unseen: two names that look alike
)


def read_catalog(root: Node) -> tuple[ToolDefinition | Removal, ...]:
    """The removals and the tools of one catalog file, in its order. Raises `Fault`."""
    removing = "remove" in mapping(root, "catalog")
    top = fields(root, "catalog", ("version",) if removing else ("version", "tools"), ("tools", "remove"))
    version = top["version"]
    if isinstance(version.value, bool) or version.value != SUPPORTED_VERSION:
        raise Fault(version.line, "version-unsupported", supported=SUPPORTED_VERSION, value=json.dumps(version.json()))
    names = Names("tools")
    tools: list[ToolDefinition | Removal] = []
    for index, node in enumerate(sequence(top["remove"], "remove") if removing else ()):
        tools.append(Removal(filled_text(node, f"remove[{index}]"), node.line))
        names.add(tools[-1].name, node.line)
    for index, node in enumerate(sequence(top["tools"], "tools") if "tools" in top else ()):
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
        extras["source"] = read_source(entries["source"], f"{name}.source")
    if "server" in entries:
        extras["server"] = read_server(entries["server"], f"{name}.server", kind)
    return ToolDefinition(
        name=name,
        kind=kind,
        title=filled_text(entries["title"], f"{name}.title") if "title" in entries else name,
        hints=tuple(words(entries["hints"], f"{name}.hints")) if "hints" in entries else (),
        categories=categories,
        operations=read_operations(entries.get("operations"), node, name, kind, categories),
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


def _categories(node: Node | None, tool: str) -> tuple[Category, ...]:
    if node is None:
        return ()
    names = Names(f"{tool}.categories")
    found: list[Category] = []
    for index, entry in enumerate(sequence(node, f"{tool}.categories")):
        where = f"{tool}.categories[{index}]"
        entries = fields(entry, where, ("name",), ("title", "hints"))
        name = _name(entries["name"], f"{where}.name")
        names.add(name, entries["name"].line)
        title = filled_text(entries["title"], f"{where}.title") if "title" in entries else name
        hints = tuple(words(entries["hints"], f"{where}.hints")) if "hints" in entries else ()
        found.append(Category(name, title, hints))
    return tuple(found)


def _options(node: Node | None, tool: str) -> tuple[str, ...]:
    if node is None:
        return ()
    names = Names(f"{tool}.options")
    found: list[str] = []
    for index, entry in enumerate(sequence(node, f"{tool}.options")):
        found.append(_name(entry, f"{tool}.options[{index}]"))
        names.add(found[-1], entry.line)
    return tuple(found)


def _grants(node: Node | None, tool: str, categories: tuple[Category, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
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
        listed: dict[str, None] = {}
        for index, entry in enumerate(sequence(value, f"{where}.{key}")):
            word = _granted(text(entry, f"{where}.{key}[{index}]"), entry.line, f"{where}.{key}", known)
            if word in listed:
                raise Fault(entry.line, "word-duplicate", where=f"{where}.{key}", word=word)
            listed[word] = None
        given[category] = tuple(listed)
    return tuple((category.name, given.get(category.name, (category.name,))) for category in categories)


def _granted(word: str, line: int, where: str, known: dict[str, str]) -> str:
    if fold(word) not in known:
        raise Fault(line, "category-unknown", where=where, category=word, known=among(known.values()))
    return known[fold(word)]
