"""Servers as they are used: processes of their own, over stdio and HTTP, and the real command beside them."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.main import main

from .live import Aop, Done, npm_server


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, current for this process."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def aop(here: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Aop:
    """The command in this process (loading the SDK for each would take most of the time), in the folder `here`.

    Keywords: `code` (asserted), `env`.
    """

    def run(*arguments: str, code: int = 0, env: dict[str, str] | None = None) -> Done:
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            patch.setenv("XDG_CACHE_HOME", str(cache))
            patch.setenv("AOP_LANG", "en")
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            status = main(arguments)
        for stream in streams:
            stream.seek(0)
        done = Done(arguments, status, streams[0].read(), streams[1].read())
        assert status == code, (done.stdout, done.stderr)
        return done

    return run


@pytest.fixture(scope="session")
def everything_over_http() -> Iterator[str]:
    """The URL of `server-everything` over Streamable HTTP."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    entry = npm_server("everything", "streamableHttp")
    command = [str(entry["command"]), *map(str, entry["args"])]  # type: ignore[call-overload]
    process = subprocess.Popen(
        command, env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server did not start"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait(10)
