"""From the bytes of catalog files and of an `mcpServers` file to entries: reading, checking, compiling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from catalog.catalog_file import read_catalog
from catalog.compile import compile_removal, compile_tool
from catalog.compiled import Entry
from catalog.definition import ToolDefinition
from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.json_reader import read_json
from catalog.mcp_config import read_servers
from catalog.mcp_connection import Connection, read_connections
from catalog.nodes import Fault, Node
from catalog.reading import read_bounded
from catalog.yaml_reader import read_yaml

T = TypeVar("T")


def compile_files(files: Iterable[tuple[Path, bytes]]) -> list[Entry]:
    """The entries of catalog files, by folded name. A later file wins a tool's name, and removes what earlier ones
    have. Raises CatalogError."""
    merged: dict[str, Entry] = {}
    for index, (path, content) in enumerate(files):
        for found in _parse(path, content, read_yaml, read_catalog):
            if isinstance(found, ToolDefinition):
                merged[fold(found.name)] = compile_tool(found, index)
            elif merged.pop(fold(found.name), None) is None:
                raise CatalogError(str(path), found.line, "remove-unknown", name=found.name)
    return [merged[name] for name in sorted(merged)]


def compile_layer(path: Path, content: bytes) -> list[Entry]:
    """The entries of one organisation file, what it removes first. Raises CatalogError."""
    found = _parse(path, content, read_yaml, read_catalog)
    return [compile_tool(entry) if isinstance(entry, ToolDefinition) else compile_removal(entry) for entry in found]


def compile_servers(path: Path, content: bytes) -> list[Entry]:
    """The entries of an `mcpServers` file, by folded name. Raises CatalogError."""
    servers = {fold(server.name): server for server in _parse(path, content, read_json, read_servers)}
    return [compile_tool(servers[name]) for name in sorted(servers)]


def connections_in(path: Path, names: Sequence[str], environment: Mapping[str, str]) -> list[Connection]:
    """How to reach the servers of an `mcpServers` file: those named, in the file's order; all of them for no names.

    Raises CatalogError.
    """
    content = read_bounded(path)
    known = {fold(server.name): server.name for server in _parse(path, content, read_json, read_servers)}
    for name in names:
        if fold(name) not in known:
            listed = ", ".join(known.values()) or "—"
            raise CatalogError(str(path), None, "server-unknown", server=name, known=listed)
    wanted = {known[fold(name)] for name in names} or None
    return list(_parse(path, content, read_json, lambda root: read_connections(root, wanted, environment)))


def _parse(
    path: Path, content: bytes, read: Callable[[str], Node], understand: Callable[[Node], Sequence[T]]
) -> Sequence[T]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CatalogError(str(path), content.count(b"\n", 0, error.start) + 1, "not-utf8") from error
    try:
        return understand(read(text))
    except Fault as fault:
        raise CatalogError(str(path), fault.line, fault.reason, **fault.arguments) from fault
