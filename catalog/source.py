"""From the bytes of catalog files and of an `mcpServers` file to entries: reading, checking, merging, compiling."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from catalog.catalog_file import read_catalog
from catalog.compile import compile_tool
from catalog.compiled import Entry
from catalog.definition import ToolDefinition
from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.json_reader import read_json
from catalog.mcp_config import read_servers
from catalog.nodes import Fault, Node
from catalog.yaml_reader import read_yaml


def compile_files(files: Iterable[tuple[Path, bytes]]) -> list[Entry]:
    """The entries of catalog files, by folded name. A later file wins a tool's name. Raises CatalogError."""
    merged: dict[str, ToolDefinition] = {}
    for path, content in files:
        for tool in _parse(path, content, read_yaml, read_catalog):
            merged[fold(tool.name)] = tool
    return [compile_tool(merged[name]) for name in sorted(merged)]


def compile_servers(path: Path, content: bytes, tools: Iterable[str]) -> list[Entry]:
    """The entries of an `mcpServers` file, by folded name; none may have a name of `tools`. Raises CatalogError."""
    taken = {fold(name): name for name in tools}
    servers = {fold(server.name): server for server in _parse(path, content, read_json, read_servers)}
    for name, server in servers.items():
        if name in taken:
            raise CatalogError(str(path), server.line, "server-is-tool", name=server.name, other=taken[name])
    return [compile_tool(servers[name]) for name in sorted(servers)]


def _parse(
    path: Path,
    content: bytes,
    read: Callable[[str], Node],
    understand: Callable[[Node], tuple[ToolDefinition, ...]],
) -> tuple[ToolDefinition, ...]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CatalogError(str(path), content.count(b"\n", 0, error.start) + 1, "not-utf8") from error
    try:
        return understand(read(text))
    except Fault as fault:
        raise CatalogError(str(path), fault.line, fault.reason, **fault.arguments) from fault
