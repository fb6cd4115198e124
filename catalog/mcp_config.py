"""An `mcpServers` file: its servers become connectors without categories whose operations are unknown (T11).

The file belongs to the user's MCP client as well, so keys that are not ours pass unread. Values of environment
variables and headers are secrets: only their names are kept. People write passwords and keys into arguments and URLs as
well: of those nothing is kept but what a URL has before its query. Where a server is reached belongs to the machine; so
it is kept apart from the `server` of a catalog, which goes into manifests.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from catalog.checks import Names, choice, filled_text, mapping, sequence, text
from catalog.definition import ToolDefinition
from catalog.nodes import Fault, Json, Node

_TRANSPORTS = ("stdio", "http", "streamable-http", "streamableHttp", "sse", "ws")


def read_servers(root: Node) -> tuple[ToolDefinition, ...]:
    """One tool a server, in the order of the file. Raises `Fault`."""
    top = mapping(root, "mcp.json")
    if "mcpServers" not in top:
        raise Fault(root.line, "key-missing", where="mcp.json", key="mcpServers")
    servers = mapping(top["mcpServers"], "mcpServers")
    lines = top["mcpServers"].key_lines or {}
    names = Names("mcpServers")
    tools: list[ToolDefinition] = []
    for name, node in servers.items():
        line = lines[name]
        if not name.strip():
            raise Fault(line, "name-empty", where="mcpServers")
        names.add(name, line)
        configured: dict[str, Json] = {"configured": _server(node, f"mcpServers.{name}")}
        tools.append(ToolDefinition(name, "mcp", name, (), (), None, (), (), configured, line))
    return tuple(tools)


def _server(node: Node, where: str) -> dict[str, Json]:
    entries = mapping(node, where)
    result: dict[str, Json] = {}
    for key in ("type", "transport"):
        if key in entries:
            result["type"] = choice(entries[key], f"{where}.{key}", _TRANSPORTS)
    if "command" in entries and "url" in entries:
        raise Fault(node.line, "server-ambiguous", where=where)
    if "command" not in entries and "url" not in entries:
        raise Fault(node.line, "server-incomplete", where=where)
    if "command" in entries:
        result["command"] = filled_text(entries["command"], f"{where}.command")
    if "url" in entries:
        result["url"] = _address(filled_text(entries["url"], f"{where}.url"))
    if "args" in entries:
        for index, entry in enumerate(sequence(entries["args"], f"{where}.args")):
            text(entry, f"{where}.args[{index}]")
    for key in ("env", "headers"):
        if key in entries:
            values = mapping(entries[key], f"{where}.{key}")
            for name, value in values.items():
                text(value, f"{where}.{key}.{name}")
            result[key] = list[Json](sorted(values))
    return result


def _address(url: str) -> str:
    """Without user, password, query and fragment; "" for what is no URL, which is refused when it is connected to."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.scheme and parts.netloc else ""
