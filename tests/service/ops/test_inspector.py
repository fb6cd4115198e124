"""Given `aop dev`, clients of others, the MCP Inspector and the SDK's, compile through it as a model would."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.npm.install import NODE

from ..waiting import until
from .test_dev import WAIT_S, Running

INSPECTOR: Final = (
    Path(__file__).parents[1] / "npm/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
)
WARNED: Final = "# 月次\n\n## フェーズ 2: 知らせる\n\nslack で知らせる。\n\n## フェーズ 1: 集める\n\n集める。\n"
"""Its phases are out of order, and it speaks of a tool that it does not declare."""
WARNINGS: Final = {"phase-number-order", "tool-mentioned-undeclared"}
ANSWER_S: Final = 120.0

Json = dict[str, Any]


class Served:
    """`aop dev` on an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.dev = Running(folder)
        with self.dev.ready() as client:
            self.url = f"{client.base_url}".rstrip("/") + "/mcp"
            self.token = client.headers["authorization"].removeprefix("Bearer ")
        self.home = folder / "home"
        self.home.mkdir()

    def inspect(self, *options: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
        """The Inspector's command line, with a home of its own."""
        given = self.token if token is None else token
        header = ["--header", f"Authorization: Bearer {given}"] if given else []
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
        return subprocess.run(
            [NODE, INSPECTOR, "--cli", self.url, "--transport", "http", *header, *options],
            cwd=self.home,
            env={**kept, "HOME": str(self.home), "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ANSWER_S,
            check=False,
        )

    def tool(self, name: str, **arguments: str) -> Json:
        """What the tool answered."""
        pairs = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
        done = self.inspect("--method", "tools/call", "--tool-name", name, *pairs)
        assert done.returncode == 0, done.stdout + done.stderr
        found: Json = json.loads(done.stdout)
        answer: Json = found["structuredContent"]
        return answer


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(tmp_path_factory.mktemp("served"))
    yield found
    assert found.dev.interrupt() == 0, found.dev.logs()


def test_the_inspector_lists_our_tools(served: Served) -> None:
    """And finds nothing in their schemas that other clients would stumble over."""
    done = served.inspect("--method", "tools/list", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    names = {tool["name"] for tool in json.loads(done.stdout)["tools"]}
    assert names == {"check_aop", "compile_aop", "get_compile_status", "get_procedure", "list_tools"}


def test_the_inspector_compiles_and_reads_the_warnings(served: Served) -> None:
    """A job of the real workers; the warnings are those of the document, and the code is there to read."""
    job = served.tool("compile_aop", document_id="inspected.md", text=WARNED)["job_id"]
    status: Json = until(lambda: _ended(served.tool("get_compile_status", job_id=job)), WAIT_S, served.dev.logs)
    assert status["state"] == "succeeded"
    assert {entry["name"] for entry in status["warnings"]} == WARNINGS
    assert all(entry["message"] and entry["line"] for entry in status["warnings"])
    assert "slack で知らせる。" in served.tool("get_procedure", document_id="inspected.md")["text"]
    again = served.tool("compile_aop", document_id="inspected.md")["job_id"]
    second: Json = until(lambda: _ended(served.tool("get_compile_status", job_id=again)), WAIT_S, served.dev.logs)
    assert (second["state"], second["round"], second["warnings"]) == ("succeeded", 1, status["warnings"])


def test_the_sdk_compiles_and_reads_the_warnings(served: Served) -> None:
    """The same with the Python client."""

    async def main() -> Json:
        headers = {"authorization": f"Bearer {served.token}"}
        with anyio.fail_after(WAIT_S):
            async with (
                httpx2.AsyncClient(headers=headers, timeout=120) as http,
                Client(streamable_http_client(served.url, http_client=http)) as client,
            ):
                begun = await client.call_tool("compile_aop", {"document_id": "sdk.md", "text": WARNED})
                job = (begun.structured_content or {})["job_id"]
                while True:
                    status = await client.call_tool("get_compile_status", {"job_id": job})
                    found = dict(status.structured_content or {})
                    if found["ended"]:
                        return found
                    await anyio.sleep(0.1)

    status = anyio.run(main)
    assert (status["state"], {entry["name"] for entry in status["warnings"]}) == ("succeeded", WARNINGS)


@pytest.mark.parametrize("token", ["", "aop_0123456789abcdef_" + "A" * 43])
def test_the_inspector_is_refused(served: Served, token: str) -> None:
    """Without a token, or with a wrong one, it fails, and learns nothing."""
    for options in (
        ("--method", "tools/list"),
        ("--method", "tools/call", "--tool-name", "check_aop", "--tool-arg", "text=# x"),
    ):
        done = served.inspect(*options, token=token)
        assert done.returncode != 0
        assert "compile_aop" not in done.stdout + done.stderr
        assert json.loads(done.stderr)["error"]["code"] in ("auth_required", "unauthorized"), done.stderr


def _ended(status: Json) -> Json | None:
    return status if status["ended"] else None
