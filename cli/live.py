"""Asking the servers of an `mcpServers` file what they list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from catalog.errors import CatalogError
from catalog.imported import entry_of, snapshot
from catalog.live import LIMITS, Limits, Listing, ServerFault
from catalog.mcp_connection import Connection
from catalog.model import Tool
from catalog.nodes import Fault
from catalog.source import connections_in
from cli.arguments import Setting
from cli.trouble import Trouble


def limits_of(seconds: float | None) -> Limits:
    return LIMITS if seconds is None else LIMITS._replace(seconds=seconds)


def config_of(setting: Setting) -> Path:
    """Raises Trouble where no file was named."""
    if setting.mcp_config is None:
        raise Trouble("catalog.no-mcp-config")
    return setting.mcp_config


def connections(path: Path, names: Sequence[str]) -> list[Connection]:
    """Those of the servers named, all of them for no names. Raises CatalogError."""
    return connections_in(path, names, os.environ)


class Taken(NamedTuple):
    """What a server lists, and the same as an import stores it: a catalog file's text, and the tool that it makes."""

    listing: Listing
    text: str
    tool: Tool


def take(path: Path, connection: Connection, limits: Limits) -> Taken:
    """Ask a server of the `mcpServers` file at `path`. Raises CatalogError at the server's line."""
    try:
        from catalog.mcp_import import list_tools  # noqa: PLC0415 - the MCP SDK: an extra, and slow to load
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("mcp", "mcp_types", "anyio", "httpx2"):
            raise CatalogError(str(path), None, "mcp-missing") from error
        raise
    try:
        listing = list_tools(connection, limits)
        text = snapshot(connection.name, listing, limits)
        return Taken(listing, text, entry_of(text).tool())
    except ServerFault as fault:
        arguments = {"server": connection.name, **fault.arguments}
        raise CatalogError(str(path), connection.line, fault.reason, **arguments) from fault
    except Fault as fault:
        raise CatalogError(str(path), connection.line, fault.reason, **fault.arguments) from fault
