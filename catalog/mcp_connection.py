"""How to reach the servers of an `mcpServers` file: what `catalog.mcp_config` leaves out, with its secrets.

Kept apart from the catalog on purpose: what is here lives only as long as a connection, and is never stored or printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, urlsplit

from catalog.checks import filled_text, mapping, sequence, text
from catalog.mcp_config import read_servers
from catalog.nodes import Fault, Node

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HTTP = ("http", "streamable-http", "streamableHttp")
_SHORTEST_HIDDEN = 4
_SHORTEST_SECRET = 6
_SECRET_NAME = re.compile(
    r"token|key|secret|pass|pwd|auth|cred|cookie|session|bearer|jwt|private|dsn|connection", re.IGNORECASE
)
_PASSWORD = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*\Z")

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
        """`message` without the values of `env` and `headers`, however they are escaped: what a server says may repeat
        what it was given."""
        secrets = {value for given in (self.env, self.headers) for value in given.values()}
        secrets |= {part for value in secrets for part in value.split()}
        secrets |= set(_PASSWORD.findall(self.url))
        spelled = {spelling for secret in secrets if len(secret) >= _SHORTEST_HIDDEN for spelling in _spellings(secret)}
        for secret in sorted(spelled, key=len, reverse=True):
            message = message.replace(secret, HIDDEN)
        return message

    def secret_in(self, text: str) -> str | None:
        """Where the credential that `text` contains was given (`env.TOKEN`); None where it has none.

        By the names of variables and headers, because most values of others are words that any text may hold.
        """
        return next((where for secret, where in self._credentials() if secret in text), None)

    def _credentials(self) -> Iterator[tuple[str, str]]:
        for key, given in (("env", self.env), ("headers", self.headers)):
            for name, value in given.items():
                parts = value.split() if _SECRET_NAME.search(name) else []
                for secret in (*parts, *_PASSWORD.findall(value)):
                    if len(secret) >= _SHORTEST_SECRET and secret.lower() != "bearer":
                        yield secret, f"{key}.{name}"


def _spellings(secret: str) -> set[str]:
    """As it is, and as JSON, Python and URLs write it."""
    quoted = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return {secret, *quoted, repr(secret)[1:-1], repr(secret.encode())[2:-1], quote(secret, safe="")}


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
    if remote:
        url = filled_text(entries["url"], f"{where}.url")
        if not _is_http(url):
            raise Fault(entries["url"].line, "url-unusable", where=f"{where}.url")
        headers = _values(entries.get("headers"), f"{where}.headers", environment)
        _check_headers(headers, entries.get("headers"), f"{where}.headers")
        return Connection(name, line, "http", "", (), url, {}, headers)
    args = sequence(entries["args"], f"{where}.args") if "args" in entries else []
    listed = tuple(text(entry, f"{where}.args[{index}]") for index, entry in enumerate(args))
    command = filled_text(entries["command"], f"{where}.command")
    env = _values(entries.get("env"), f"{where}.env", environment)
    if any("\0" in word for word in (command, *listed, *env, *env.values())) or any(
        "=" in key or not key for key in env
    ):
        raise Fault(line, "process-unusable", where=where)
    return Connection(name, line, "stdio", command, listed, "", env, {})


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return usable and url.isprintable() and " " not in url


def _check_headers(headers: Mapping[str, str], node: Node | None, where: str) -> None:
    for name, value in headers.items():
        if not _HEADER_NAME.match(name) or not _HEADER_VALUE.match(value):
            line = 1 if node is None else (node.key_lines or {})[name]
            raise Fault(line, "header-unusable", where=f"{where}.{name}")


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
