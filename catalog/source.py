"""From the bytes of catalog files and of an `mcpServers` file to entries: reading, checking, merging, compiling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from catalog.catalog_file import read_catalog
from catalog.compile import compile_tool, header
from catalog.compiled import Entry, encode
from catalog.definition import ToolDefinition
from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.json_reader import read_json
from catalog.mcp_config import read_servers
from catalog.nodes import Fault, Node
from catalog.yaml_reader import read_yaml


def compile_sources(
    files: Sequence[tuple[Path, bytes]], servers: tuple[Path, bytes] | None
) -> tuple[list[Entry], bytes]:
    """The entries by folded name, and their compiled form. A later file wins a tool's name. Raises CatalogError."""
    merged: dict[str, ToolDefinition] = {}
    for path, content in files:
        for tool in _parse(path, content, read_yaml, read_catalog):
            merged[fold(tool.name)] = tool
    if servers is not None:
        for server in _parse(*servers, read_json, read_servers):
            other = merged.get(fold(server.name))
            if other is not None:
                name = server.name
                raise CatalogError(str(servers[0]), server.line, "server-is-tool", name=name, other=other.name)
            merged[fold(server.name)] = server
    entries = [compile_tool(merged[name]) for name in sorted(merged)]
    return entries, encode(header(entries), entries)


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
