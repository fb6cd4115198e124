"""Given `aop dev` and an MCP server whose list changes, when the list is imported again, by hand or by the dispatcher
itself, then the documents that it makes stale are marked, and a plan is offered.

The real command, a real server over stdio; nobody restarts anything.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.catalog_live.live import own_server
from tests.catalog_live.test_drift import DOCUMENT, TOOLS

from ..waiting import until
from .test_dev import Running, processes_of

DETAILS: dict[str, object] = {
    "name": "merge_customers",
    "description": "統合する。",
    "inputSchema": {"type": "object", "properties": {}},
}
CHANGED = 1


class Folder:
    """The documents' folder, in which the catalog lies, too; and the file from which the server lists."""

    def __init__(self, folder: Path, servers: Path | None = None) -> None:
        """`servers`: the folder of mcp.json."""
        self.docs = folder / "docs"
        self.docs.mkdir()
        self._tools = folder / "tools.json"
        self._servers = (servers or folder) / "mcp.json"
        self._servers.write_text(json.dumps({"mcpServers": {"crm": own_server("listing.py", str(self._tools))}}))

    def serve(self, *tools: dict[str, object]) -> None:
        self._tools.write_text(json.dumps(tools), encoding="utf-8")

    def aop(self, *words: str, status: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "cli", *words, "--mcp-config", str(self._servers)],
            cwd=self.docs,
            env={"PYTHONPATH": str(Path.cwd()), "AOP_LANG": "en", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == status, done.stderr + done.stdout
        return done.stdout


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Whatever a failed test leaves running is killed."""
    yield tmp_path
    for pid in processes_of(tmp_path):
        os.kill(pid, signal.SIGKILL)


def test_a_servers_list_that_changes(place: Path) -> None:
    """`aop catalog diff --live` says so and ends with 1, as the chart's job by the clock does. What takes it over is
    `aop catalog import`: the dispatcher publishes it, marks what is stale, and offers."""
    folder = Folder(place)
    folder.serve(*TOOLS)
    folder.aop("catalog", "import")
    (folder.docs / "crm.md").write_text(DOCUMENT, encoding="utf-8")
    folder.aop("lock", "crm.md")
    dev = Running(place)
    with dev.ready() as client:
        until(lambda: document(client)["state"] == "succeeded", told=dev.logs)
        assert document(client)["stale"] == []
        folder.aop("catalog", "diff", "--live")
        folder.serve(*TOOLS, DETAILS)
        assert "merge_customers" in folder.aop("catalog", "diff", "--live", status=CHANGED)
        assert document(client)["stale"] == []
        folder.aop("catalog", "import")
        until(lambda: document(client)["stale"], told=dev.logs)
        offer = until(lambda: client.get("/v1/recompiles").json()["offer"], told=dev.logs)
        assert [found["document_id"] for found in offer["documents"]] == ["crm.md"]
        ran = client.post("/v1/recompiles", json={"plan_token": offer["plan_token"]})
        assert ran.status_code == 202
        until(lambda: not document(client)["stale"], told=dev.logs)
    assert dev.interrupt() == 0


def test_a_list_that_changes_is_seen_without_a_command(place: Path) -> None:
    """Where it was asked for (`--refresh`), nobody imports anything: what the server lists from now on is in the
    catalog, the document is stale, and its plan is offered."""
    folder = Folder(place, place / "docs")
    folder.serve(*TOOLS)
    folder.aop("catalog", "import")
    (folder.docs / "crm.md").write_text(DOCUMENT, encoding="utf-8")
    dev = Running(place)
    with dev.ready() as client:
        until(lambda: document(client)["state"] == "succeeded", told=dev.logs)
        dev.saying(r"^imported MCP servers are not asked again: (--refresh 60) does it")
    assert dev.interrupt() == 0
    dev = Running(place, "--refresh", "60")
    with dev.ready() as client:
        folder.serve(*TOOLS, DETAILS)
        until(lambda: document(client)["stale"], within_s=240, told=dev.logs)
        offer = until(lambda: client.get("/v1/recompiles").json()["offer"], told=dev.logs)
        assert [found["document_id"] for found in offer["documents"]] == ["crm.md"]
    assert dev.interrupt() == 0


def document(client: httpx2.Client) -> dict[str, Any]:
    answer = client.get("/v1/documents/crm.md")
    found: dict[str, Any] = answer.json()
    return found if answer.status_code == 200 else {"state": "", "stale": []}
