"""The lock as text: the same lock gives the same bytes, and a diff shows which argument of which operation changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from catalog.drift import KINDS, Facts
from catalog.errors import CatalogError
from catalog.lock import VERSION, Lock, LockedTool, read_lock
from catalog.nodes import Json
from catalog.reading import read_if_there
from catalog.writing import replace_file, sweep

_compact = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(", ", ": ")).encode


def write_lock(lock: Lock) -> str:
    """One entry a line, arguments too; tools and operations by name."""
    policy = (f'    "{kind}": "{lock.policy[kind]}"' for kind in KINDS)
    entries = (
        f'  "version": {VERSION}',
        f'  "documents": {_compact(list(lock.documents))}',
        f'  "policy": {_object(policy, "  ")}',
        f'  "tools": {_object((_tool(tool) for tool in lock.tools), "  ")}',
    )
    return "{\n" + ",\n".join(entries) + "\n}\n"


def store_lock(path: Path, lock: Lock, before: Lock | None) -> bool:
    """Whole or not at all; False where the file says the same already. `before`: what it was made from.

    Raises OSError; CatalogError where the file is not that any more, because what somebody else accepted meanwhile
    would be lost.
    """
    content = write_lock(lock).encode()
    if read_lock(path) != before:
        raise CatalogError(str(path), None, "lock-changed")
    if before is not None and read_if_there(path) == content:
        return False
    sweep(path.parent)
    replace_file(path, content)
    return True


def _object(lines: Iterable[str], indent: str) -> str:
    body = ",\n".join(lines)
    return f"{{\n{body}\n{indent}}}" if body else "{}"


def _tool(tool: LockedTool) -> str:
    listed = _compact(None if tool.listed is None else list(tool.listed))
    operations = _object((_operation(facts) for facts in tool.operations), "      ")
    return _entry(tool.name, "    ", (f'      "listed": {listed}', f'      "operations": {operations}'))


def _operation(facts: Facts) -> str:
    inner = " " * 10
    return _entry(
        facts.name,
        " " * 8,
        (
            f'{inner}"category": {_compact(facts.category)}',
            f'{inner}"effect": "{facts.effect}"',
            f'{inner}"description_sha256": "{facts.description}"',
            f'{inner}"schema_sha256": "{facts.schema_digest}"',
            f'{inner}"input_schema": {_schema(facts.schema)}',
        ),
    )


def _entry(name: str, indent: str, lines: Iterable[str]) -> str:
    return f"{indent}{_compact(name)}: {_object(lines, indent)}"


def _schema(text: str) -> str:
    if not text:
        return "null"
    schema: dict[str, Json] = json.loads(text)
    inner, innermost = " " * 12, " " * 14
    lines: list[str] = []
    for key in sorted(schema):
        value = schema[key]
        if key == "properties" and isinstance(value, dict):
            arguments = (f"{innermost}{_compact(name)}: {_compact(value[name])}" for name in sorted(value))
            lines.append(f"{inner}{_compact(key)}: {_object(arguments, inner)}")
        else:
            lines.append(f"{inner}{_compact(key)}: {_compact(value)}")
    return _object(lines, " " * 10)
