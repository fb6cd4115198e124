"""Asking the servers of an `mcpServers` file what they list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from catalog.errors import CatalogError
from catalog.live import LIMITS, Limits, Listing, ServerFault
from catalog.mcp_connection import Connection
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
    from catalog.source import connections_in  # noqa: PLC0415 - reads YAML as well, which is slow to load

    return connections_in(path, names, os.environ)


def listing_of(path: Path, connection: Connection, limits: Limits) -> Listing:
    """Raises CatalogError at the server's line."""
    try:
        from catalog.mcp_import import list_tools  # noqa: PLC0415 - the MCP SDK: an extra, and slow to load
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("mcp", "mcp_types", "anyio", "httpx2"):
            raise CatalogError(str(path), None, "mcp-missing") from error
        raise
    try:
        return list_tools(connection, limits)
    except ServerFault as fault:
        raise fault_of(path, connection, fault) from fault


def fault_of(path: Path, connection: Connection, fault: ServerFault) -> CatalogError:
    return CatalogError(str(path), connection.line, fault.reason, server=connection.name, **fault.arguments)
