"""Given `aop dev` and a folder, when files change and processes die, then what is published follows.

The real command, with all its processes, its Redis and its store.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from catalog.own import ORGANISATION
from workers.local.servers import free_ports

from ..waiting import until
from ..workers.documents import FAILING, MULTI

WAIT_S: Final = 180.0

NAMES: Final = (
    "aop_jobs_total",
    "aop_stage_seconds_bucket",
    "aop_stage_reuse_total",
    "aop_queue_depth",
    "aop_queue_oldest_seconds",
    "aop_documents",
    "aop_diagnostics_total",
    "aop_generator_rewrites_total",
    "aop_dead_letters",
    "aop_store_seconds_bucket",
    "aop_webhook_requests_total",
    "aop_lease_expired_total",
    "aop_consumers",
    "aop_redis_memory_bytes",
    "aop_token_expiry_seconds",
)
"""What operators are promised."""


class Running:
    """`aop dev` on `folder/docs`, from `folder`."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.docs = folder / "docs"
        self.docs.mkdir(exist_ok=True)
        # Whatever a folder holds is not taken for a module of Python's own.
        (folder / "json.py").write_text("raise SystemExit('the code of a folder ran')\n")
        self._said = folder / f"said-{len(list(folder.glob('said-*')))}.txt"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AOP_")}
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "cli", "dev", "docs", *options],
                cwd=folder,
                env={**environment, "AOP_LANG": "en", "AOP_QUIET_MS": "0", "PYTHONPATH": str(Path.cwd())},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return self._said.read_text()

    def logs(self) -> str:
        """For a failure."""
        folder = self.folder / ".aop" / "dev" / "logs"
        logs = [f"--- {path.name}\n{path.read_text()[-2_000:]}" for path in sorted(folder.glob("*.log"))]
        return "\n".join([self.said, *logs])

    def saying(self, pattern: str, times: int = 1) -> str:
        """Wait until it has been said; the first group."""

        def ask() -> str | None:
            found = re.findall(pattern, self.said, re.MULTILINE)
            if len(found) >= times:
                return str(found[-1])
            assert self.process.poll() is None, f"aop dev has ended\n{self.logs()}"
            return None

        return until(ask, WAIT_S, self.logs)

    def ready(self) -> httpx2.Client:
        """A client with the token that it printed."""
        url = self.saying(r"^  HTTP +(http://\S+)$")
        token = self.saying(r"^  token +(aop_\S+)$")
        return httpx2.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=120)

    def write(self, name: str, text: str) -> None:
        fresh = self.docs / f".{name}.new"
        fresh.write_text(text)
        fresh.replace(self.docs / name)

    def interrupt(self, sign: signal.Signals = signal.SIGINT) -> int:
        """Ctrl-C at the terminal, or what its end sends; the exit status."""
        self.process.send_signal(sign)
        return self.process.wait(timeout=60)


def processes_of(folder: Path) -> list[int]:
    """All that have something of the folder in their command, environment or working directory."""
    needle = str(folder).encode()
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and int(path.name) != os.getpid():
            try:
                about = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
                about += str((path / "cwd").readlink()).encode()
            except OSError:
                continue
            if needle in about:
                found.append(int(path.name))
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Whatever a failed test leaves running is killed."""
    yield tmp_path
    for pid in processes_of(tmp_path):
        os.kill(pid, signal.SIGKILL)


def names_at(url: str) -> set[str]:
    """Of figures, also of those that have no value yet: no token of this installation expires."""
    text = httpx2.get(url, timeout=120).raise_for_status().text
    families = list(text_string_to_metric_families(text))
    return {family.name for family in families} | {sample.name for family in families for sample in family.samples}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_a_folder_is_served_whatever_dies(folder: Path) -> None:
    """One life of an installation, from the first start to a start after everything was killed and Redis wiped."""
    first = Running(folder)
    first.write("a.md", MULTI)
    first.write("bad.md", FAILING)
    with first.ready() as client:
        first.saying(r"^published +a\.md")
        first.saying(r"^failed +bad\.md \(errors: 1")
        first.saying(r"^ +bad\.md:\d+: AOP\d+ ")
        assert "slack" in client.get("/v1/documents/a.md/procedure.py").raise_for_status().text

        # A changed file is compiled again, a deleted one retired.
        first.write("a.md", MULTI.replace("結果を送る。", "結果を短く送る。"))
        first.saying(r"^published +a\.md", times=2)
        assert "結果を短く送る。" in client.get("/v1/documents/a.md/procedure.py").raise_for_status().text
        (first.docs / "bad.md").unlink()
        first.saying(r"^retired +bad\.md")

        # A worker that is killed is started again; so is Redis, with what it knew.
        pid = int(until(lambda: _pid_of(folder, "worker", "verify"), WAIT_S))
        os.killpg(pid, signal.SIGKILL)
        first.saying(r"^worker-verify ended with status -9")
        os.kill(until(lambda: _pid_of(folder, "valkey-server"), WAIT_S), signal.SIGKILL)
        first.saying(r"^Valkey has ended, and is started again")
        first.write("a.md", MULTI.replace("結果を送る。", "結果を長く送る。"))
        first.saying(r"^published +a\.md", times=3)
        published = client.get("/v1/documents/a.md/procedure.py").raise_for_status().text
        assert "結果を長く送る。" in published

        # Prometheus gets every figure that is promised.
        answer = client.put("/v1/documents/pushed.md", content=MULTI.encode())
        assert answer.status_code == 202
        first.saying(r"^published +pushed\.md")
        # The worker that was killed counts anew.
        first.write("bad.md", FAILING)
        first.saying(r"^failed +bad\.md", times=2)
        metrics = first.saying(r"^  metrics +(http://\S+)$")
        until(lambda: set(NAMES) <= names_at(metrics), told=lambda: str(set(NAMES) - names_at(metrics)))

        # A catalog in the folder that is wrong is told; one that is right makes documents stale.
        first.write(ORGANISATION, "version: 1\nremove: [slakc]\n")
        first.saying(r"^the catalog is refused, the earlier one stays: .*slakc")
        first.write(ORGANISATION, "version: 1\nremove: [slack]\n")
        assert int(first.saying(r"^the catalog has changed; stale documents: (\d+)")) >= 1
        assert "tool-removed" in client.get("/v1/documents/a.md").json()["stale"]
        (first.docs / ORGANISATION).unlink()

    # A second one on the same state is refused, and disturbs nothing.
    second = Running(folder)
    assert second.process.wait(timeout=60) == 2
    assert "another aop dev uses" in second.said

    # Everything is killed, and Redis forgets everything.
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait(timeout=120)
    for pid in processes_of(folder):
        os.kill(pid, signal.SIGKILL)
    until(lambda: not processes_of(folder))
    shutil.rmtree(folder / ".aop" / "dev" / "redis")
    first.write("while-away.md", MULTI.replace("月次の締め", "留守の間"))

    third = Running(folder)
    with third.ready() as client:
        third.saying(r"^Redis has lost its data")
        third.saying(r"^published +while-away\.md")
        assert client.get("/v1/documents/a.md/procedure.py").raise_for_status().text == published
        assert client.get("/v1/documents/a.md").json()["document_id"] == "a.md"
        # What came in over HTTP is not the folder's to retire.
        assert client.get("/v1/documents/pushed.md/procedure.py").status_code == 200
        assert "retired" not in third.said
    assert not re.search(r"^published +a\.md", third.said, re.MULTILINE), "what was published is not compiled again"

    # Ctrl-C ends it clean.
    assert third.interrupt() == 0, third.logs()
    until(lambda: not processes_of(folder), told=lambda: str(processes_of(folder)))
    assert "Traceback" not in third.logs()


def _pid_of(folder: Path, *words: str) -> int | None:
    """The first process of the folder whose command has these words: a parent, since it has the lowest number."""
    for pid in sorted(processes_of(folder)):
        try:
            command = (Path("/proc") / str(pid) / "cmdline").read_bytes()
        except OSError:
            continue
        if all(word.encode() in command for word in words):
            return pid
    return None


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_with_s3_all_is_kept_in_a_bucket(folder: Path) -> None:
    """Of a real S3 server on this machine, which is started again when it dies; what was published is there at the next
    start."""
    for time_ in (1, 2):
        running = Running(folder, "--s3")
        running.write("a.md", MULTI if time_ == 1 else MULTI.replace("結果を送る。", "結果を短く送る。"))
        with running.ready() as client:
            running.saying(r"^published +a\.md")
            assert "slack" in client.get("/v1/documents/a.md/procedure.py").raise_for_status().text
            if time_ == 1:
                os.kill(until(lambda: _pid_of(folder, "weed", "-s3"), WAIT_S), signal.SIGKILL)
                running.saying(r"^SeaweedFS has ended, and is started again")
                running.write("b.md", MULTI.replace("月次の締め", "別の締め"))
                running.saying(r"^published +b\.md")
        assert running.interrupt(signal.SIGINT if time_ == 1 else signal.SIGHUP) == 0, running.logs()
        until(lambda: not processes_of(folder), told=lambda: str(processes_of(folder)))
    assert not (folder / ".aop" / "dev" / "store").exists()


def test_what_cannot_be_started_is_a_sentence(folder: Path) -> None:
    """A folder that is none, and a port that is taken; nothing is left running."""
    docs = folder / "docs"
    docs.mkdir()
    environment = {**os.environ, "AOP_LANG": "en", "PYTHONPATH": str(Path.cwd())}
    command = [sys.executable, "-m", "cli", "dev"]

    def refused(*words: str) -> str:
        done = subprocess.run(
            [*command, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        return done.stderr

    assert "nowhere is no folder" in refused("nowhere")
    (port,) = free_ports(1)
    with socket.create_server(("127.0.0.1", port)):
        assert f"port {port} is taken" in refused("docs", "--port", str(port))
    assert processes_of(folder) == []
