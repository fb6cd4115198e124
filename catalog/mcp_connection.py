"""How to reach the servers of an `mcpServers` file: what `catalog.mcp_config` leaves out, with its secrets.

Kept apart from the catalog on purpose: what is here lives only as long as a connection, and is never stored or printed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from catalog.checks import filled_text, mapping, sequence, text
from catalog.mcp_config import read_servers
from catalog.nodes import Fault, Node

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HTTP = ("http", "streamable-http", "streamableHttp")
_SHORTEST_SECRET = 4

HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Connection:
    """One server. `env` and `headers` hold secrets, their variables filled in. `line`: where the file names it."""

    name: str
    line: int
    transport: Literal["stdio", "http"]
    command: str
    args: tuple[str, ...]
    url: str
    env: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    def hide(self, message: str) -> str:
        """`message` without the values of `env` and `headers`: what a server says may repeat what it was given."""
        secrets = {value for given in (self.env, self.headers) for value in given.values()}
        secrets |= {part for value in secrets for part in value.split()}
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                message = message.replace(secret, HIDDEN)
        return message


def read_connections(root: Node, wanted: Collection[str] | None, environment: Mapping[str, str]) -> list[Connection]:
    """The servers named in `wanted` (all of them: None), in the order of the file. Raises `Fault`.

    `${NAME}` in a value of `env` or `headers` is the variable's value in `environment`; nothing else is expanded.
    """
    lines = {tool.name: tool.line for tool in read_servers(root)}
    servers = mapping(mapping(root, "mcp.json")["mcpServers"], "mcpServers")
    return [
        _connection(name, line, servers[name], environment)
        for name, line in lines.items()
        if wanted is None or name in wanted
    ]


def _connection(name: str, line: int, node: Node, environment: Mapping[str, str]) -> Connection:
    where = f"mcpServers.{name}"
    entries = mapping(node, where)
    kinds = [text(entries[key], f"{where}.{key}") for key in ("type", "transport") if key in entries]
    remote = "url" in entries
    unsupported = [kind for kind in kinds if (kind not in _HTTP if remote else kind != "stdio")]
    if unsupported:
        raise Fault(line, "transport-unsupported", server=name, transport=unsupported[0])
    args = sequence(entries["args"], f"{where}.args") if "args" in entries else []
    return Connection(
        name=name,
        line=line,
        transport="http" if remote else "stdio",
        command="" if remote else filled_text(entries["command"], f"{where}.command"),
        args=tuple(text(entry, f"{where}.args[{index}]") for index, entry in enumerate(args)),
        url=filled_text(entries["url"], f"{where}.url") if remote else "",
        env={} if remote else _values(entries.get("env"), f"{where}.env", environment),
        headers=_values(entries.get("headers"), f"{where}.headers", environment) if remote else {},
    )


def _values(node: Node | None, where: str, environment: Mapping[str, str]) -> dict[str, str]:
    if node is None:
        return {}
    lines = node.key_lines or {}
    return {
        name: _expand(text(value, f"{where}.{name}"), f"{where}.{name}", lines[name], environment)
        for name, value in mapping(node, where).items()
    }


def _expand(value: str, where: str, line: int, environment: Mapping[str, str]) -> str:
    """Messages name the variable, never its value."""

    def look_up(match: re.Match[str]) -> str:
        variable = match[1]
        if not _NAME.match(variable):
            raise Fault(line, "variable-unreadable", where=where, variable=variable)
        found = environment.get(variable)
        if found is None:
            raise Fault(line, "variable-unset", where=where, variable=variable)
        return found

    return _VARIABLE.sub(look_up, value)
