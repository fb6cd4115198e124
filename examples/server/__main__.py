"""`python -m examples.server TOOL`: an MCP server over standard input and output, as `examples/mcp.json` starts it.

`python -m examples.server TOOL FILE`: for a tool by HTTP (`freee`); the catalog file FILE says where it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from catalog.writing import replace_file
from examples.server import http_service, mcp_service
from examples.server.offered import moved, shipped


def main(arguments: list[str]) -> int:
    """The exit status. What follows the name of an MCP server's tool is for real ones (a browser's settings)."""
    try:
        tool = shipped(arguments[0])
        if tool.kind == "http":
            file = Path(arguments[1])
    except (IndexError, KeyError):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    if tool.kind != "http":
        anyio.run(mcp_service.serve, tool.name)
        return 0

    def started(url: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, moved(tool.name, url).encode())
        sys.stdout.write(f"{tool.name}: {url}, {file}\n")
        sys.stdout.flush()

    http_service.serve(tool.name, started)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
