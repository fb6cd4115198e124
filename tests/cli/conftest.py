"""The real command, run as a user would: a process of its own in a folder of its own."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.main import main

ROOT = Path(__file__).parents[2]
CATALOG = ROOT / "tests" / "conformance" / "catalog.yaml"

Run = Callable[..., "subprocess.CompletedProcess[str]"]

GOOD = "# 週次報告\n\n## フェーズ 1: 集める (使う道具: slack の notify)\n\n知らせる。\n"
WARNED = "# 通知\n\n## フェーズ 1: 送る\n\nslack に送る。\n"
BAD = "# 月次\n\n## フェーズ 1: 集める (使う道具: 会計ソフト)\n\n集める。\n"
CALLER = "# 親\n\n## フェーズ 1: 頼む (呼び出す AOP: 週次報告)\n"


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Nothing of this machine's settings; the command's bytecode is kept, as in an installation."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path_factory.mktemp("home")),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
    }


def command(*arguments: str) -> list[str]:
    """The command line that runs `aop`."""
    return [sys.executable, "-m", "cli", *arguments]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the catalog of the tests in it, current for this process, too."""
    shutil.copy(CATALOG, tmp_path / "catalog.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def aop(here: Path, environment: dict[str, str]) -> Run:
    """Runs the command to its end in `here`. Keywords: `stdin`, `env`, `code` (asserted unless None)."""

    def run(
        *arguments: str, stdin: str = "", env: dict[str, str] | None = None, code: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command(*arguments),
            cwd=here,
            env={**environment, **(env or {})},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        if code is not None:
            assert done.returncode == code, (done.stdout, done.stderr)
        return done

    return run


@pytest.fixture
def inside(here: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same in this process, where what matters is not what a process does: it is faster."""

    def run(
        *arguments: str, stdin: str = "", env: dict[str, str] | None = None, code: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin.encode(), b"", b"")]
        with monkeypatch.context() as patch:
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            patch.delenv("AOP_LANG", raising=False)
            patch.setenv("XDG_CACHE_HOME", str(here / ".cache"))
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            status = main(arguments)
        for stream in streams[1:]:
            stream.seek(0)
        done = subprocess.CompletedProcess(arguments, status, streams[1].read(), streams[2].read())
        if code is not None:
            assert status == code, (done.stdout, done.stderr)
        return done

    return run


def write(path: str, text: str) -> Path:
    """A document below the current folder."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
