"""Real servers for tests that offer what the shipped catalog says of tools, with its own operations and schemas.

    with CatalogServer(["slack", "exa"]) as server:
        server.write(folder / "mcp.json")  # or server.entries(), for `mcpServers`
        ...
        assert [call.operation for call in server.calls] == ["channels_list"]

    with CatalogApi("freee") as api:
        api.write_catalog(folder / "aop-catalog.yaml")  # the shipped entry, at this server's address
        environment["FREEE_ACCESS_TOKEN"] = api.token

Both answer as the servers of the examples do (`examples/server`); `results` goes before it. `misbehave` and `behave`
switch at once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from examples.server.offered import Json, answers, listed, moved, routes

HERE = Path(__file__).parent
TOKEN = "t0ken-of-tests"  # noqa: S105 - of our own server
DOOR = "door"
"""The name of a socket."""


@dataclass(frozen=True)
class Call:
    """`more`: what else the server saw: `token`; by HTTP `method`, `path`, `query`, `body`, `headers`."""

    tool: str
    operation: str
    arguments: Mapping[str, Json]
    more: Mapping[str, Json] = field(default_factory=dict)


class _Process:
    """Files and processes of one test server; everything is gone when it is left."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="aop-servers-"))
        self._calls, self._control = self.folder / "calls.jsonl", self.folder / "control.json"
        self._process: subprocess.Popen[str] | None = None
        self._calls.touch()
        self._written = 0
        self.behave()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self) -> None:
        """A server by HTTP at once, in the middle of whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)

    @property
    def calls(self) -> list[Call]:
        """Every call that arrived, in its order."""
        found = []
        for line in self._calls.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            found.append(Call(entry.pop("tool"), entry.pop("operation"), entry.pop("arguments"), entry))
        return found

    def forget(self) -> None:
        """What was called until now."""
        self._calls.write_text("", encoding="utf-8")

    def misbehave(self, mode: str, address: str = "*", *, silent: bool = False) -> None:
        """`address`: `tool`, `tool.operation`, or all. `silent`: a changed list is not announced. The modes are in the
        processes' sources."""
        self._control_is({address: mode}, silent)

    def behave(self) -> None:
        self._control_is({}, False)

    def _control_is(self, modes: Mapping[str, str], silent: bool) -> None:
        draft = self._control.with_suffix(".new")
        self._written += 1  # each time it is another text, and so announced
        draft.write_text(json.dumps({"modes": modes, "silent": silent, "n": self._written}), encoding="utf-8")
        draft.replace(self._control)

    def _configure(self, config: Mapping[str, Json]) -> Path:
        path = self.folder / "config.json"
        written = {**config, "calls": str(self._calls), "control": str(self._control)}
        path.write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")
        return path

    def _start(self, script: str, *arguments: str) -> str:
        """The address that it listens on."""
        command = [sys.executable, str(HERE / script), *arguments]
        self._process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


class CatalogServer(_Process):
    """MCP servers, one a tool; over HTTP they share a process, over stdio each connection has its own.

    `operations` and `effects`, by tool: what is listed in place of the catalog's, and `readOnlyHint` by operation.
    `loaded`: what is started for a connection over stdio has everything loaded already (`loaded.py`), for tests that
    open many; those that look at processes want the server itself to be one.
    """

    def __init__(
        self,
        tools: Sequence[str],
        transport: Literal["stdio", "http"] = "stdio",
        results: Mapping[str, Mapping[str, Json]] | None = None,
        operations: Mapping[str, Sequence[Mapping[str, Json]]] | None = None,
        env: Mapping[str, str] | None = None,
        *,
        loaded: bool = False,
    ) -> None:
        super().__init__()
        self.tools = tuple(tools)
        self.transport = transport
        self._env = dict(env or {})
        offered = {name: list((operations or {}).get(name) or listed(name)) for name in tools}
        both = {name: {**answers().get(name, {}), **(results or {}).get(name, {})} for name in tools}
        self._config = self._configure({"tools": offered, "results": both})
        self._url = self._start("mcp_process.py", str(self._config), "http") if transport == "http" else ""
        self._loaded = loaded and transport == "stdio" and hasattr(os, "pidfd_open")
        if self._loaded:
            # Its folder is not in its command: by that, tests find what was started for a connection.
            assert self._start("mcp_process.py", self._config.name, "loaded", DOOR) == "ready"

    def entries(self) -> dict[str, dict[str, Json]]:
        """For `mcpServers`."""
        return {name: self.entry(name) for name in self.tools}

    def entry(self, tool: str) -> dict[str, Json]:
        if self.transport == "http":
            return {"type": "http", "url": f"{self._url}/{tool}/mcp"}
        if self._loaded:
            arguments: list[Json] = ["-I", "-S", str(HERE / "door.py"), str(self.folder / DOOR), tool]
        else:
            arguments = [str(HERE / "mcp_process.py"), str(self._config), "stdio", tool]
        return {"command": sys.executable, "args": arguments, "env": self._env}

    def write(self, path: Path) -> Path:
        """An `mcpServers` file."""
        path.write_text(json.dumps({"mcpServers": self.entries()}, ensure_ascii=False), encoding="utf-8")
        return path


class CatalogApi(_Process):
    """The HTTP API of one tool. `token`: what it asks for as `Authorization: Bearer`."""

    def __init__(self, tool: str = "freee", results: Mapping[str, Json] | None = None, token: str = TOKEN) -> None:
        super().__init__()
        self.tool, self.token = tool, token
        both = {**answers().get(tool, {}), **(results or {})}
        config = self._configure({"tool": tool, "operations": list(routes(tool)), "results": both, "token": token})
        self.url = self._start("http_process.py", str(config))

    def write_catalog(self, path: Path) -> Path:
        """An organisation's catalog: the shipped entry of the tool, at this server's address."""
        path.write_text(moved(self.tool, self.url), encoding="utf-8")
        return path


def alive(pid: int) -> bool:
    """Not one that ended and waits for its parent to hear of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def processes_with(text: str) -> list[int]:
    """Living processes whose command line holds `text`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            if text in command and alive(int(entry.name)):
                found.append(int(entry.name))
    return found


def gone_within(seconds: float, *, text: str = "", pid: int = 0) -> bool:
    """Whether the processes with `text` in their command lines, or the process `pid`, end in that time."""
    deadline = time.monotonic() + seconds
    while processes_with(text) if text else alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
