"""Given imported MCP servers and a dispatcher that is to list them again, when a list changes or a server fails, then
the folder has what the server lists, or what it had.

Real servers over stdio, listed by the real command in a child process.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from redis import Redis
from structlog.testing import capture_logs

from catalog.own import IMPORTED, SERVERS
from cli import service_app
from tests.catalog_live.live import own_server
from tests.catalog_live.test_drift import TOOLS
from workers.connections import open_redis
from workers.server_lists import (
    CHILD_S,
    ServerLists,
    asked_key,
    command_of,
    environment_of,
    server_lists_of,
)
from workers.settings import SHORTEST_REFRESH_S, Settings

from ..waiting import until
from .installation import Installation

ADDED: dict[str, object] = {"name": "merge_customers", "inputSchema": {"type": "object", "properties": {}}}


@dataclass
class Clock:
    """Goes on by itself, and may be put forward."""

    ahead: float = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


@dataclass
class Folder:
    """A catalog folder. Each server lists what stands in a file of its name."""

    path: Path
    servers: dict[str, object] = field(default_factory=dict)

    def serve(self, name: str, *tools: dict[str, object]) -> None:
        file = self.path / f"{name}.json"
        file.write_text(json.dumps(tools), encoding="utf-8")
        self.configure(name, own_server("listing.py", str(file)))

    def configure(self, name: str, server: dict[str, object]) -> None:
        self.servers[name] = server
        (self.path / SERVERS).write_text(json.dumps({"mcpServers": self.servers}))

    def import_by_hand(self, name: str) -> None:
        subprocess.run(command_of(name), cwd=self.path, check=True, capture_output=True, timeout=120)

    def imported(self, name: str) -> Path:
        return self.path / IMPORTED / f"{name}.yaml"


def imported_into(path: Path) -> Folder:
    """A new folder with one server, which is imported."""
    path.mkdir()
    found = Folder(path)
    found.serve("crm", *TOOLS)
    found.import_by_hand("crm")
    return found


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What an import by hand stores of the server: the same in every folder."""
    return imported_into(tmp_path_factory.mktemp("imported") / "catalog").imported("crm").read_bytes()


@pytest.fixture
def folder(tmp_path: Path, imported: bytes) -> Folder:
    """With one server, which was imported."""
    path = tmp_path / "catalog"
    (path / IMPORTED).mkdir(parents=True)
    found = Folder(path)
    found.serve("crm", *TOOLS)
    found.imported("crm").write_bytes(imported)
    return found


@pytest.fixture
def redis(service_settings: Settings) -> Iterator[Redis]:
    with open_redis(service_settings) as found:
        yield found


@pytest.fixture
def lists(folder: Folder, redis: Redis, service_settings: Settings) -> Iterator[ServerLists]:
    found = ServerLists(folder.path, SHORTEST_REFRESH_S, redis, service_settings.redis_prefix, Clock())
    yield found
    found.close()


def count(outcome: str) -> float:
    return REGISTRY.get_sample_value("aop_server_lists_total", {"outcome": outcome}) or 0.0


def ask(lists: ServerLists, *servers: str) -> None:
    """Let the interval pass, and each server be asked once."""
    assert isinstance(lists.clock, Clock)
    lists.clock.ahead += lists.every_s
    for server in servers:
        lists.redis.delete(asked_key(lists.prefix, server))
    before = sum(map(count, ("changed", "same", "failed")))

    def asked() -> bool:
        lists.step()
        return sum(map(count, ("changed", "same", "failed"))) == before + len(servers)

    until(asked)


def test_a_list_that_changes_is_stored_without_a_command(folder: Folder, lists: ServerLists) -> None:
    """As an import by hand would store it; a list that is the same leaves its file as it was."""
    same, changed = count("same"), count("changed")
    before = folder.imported("crm").stat()
    ask(lists, "crm")
    after = folder.imported("crm").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    folder.serve("crm", *TOOLS, ADDED)
    ask(lists, "crm")
    assert (count("same") - same, count("changed") - changed) == (1, 1)
    stored = folder.imported("crm").read_bytes()
    assert b"merge_customers" in stored
    folder.import_by_hand("crm")
    assert folder.imported("crm").read_bytes() == stored


def test_only_what_was_imported_is_listed(folder: Folder, lists: ServerLists) -> None:
    """A server that stands in mcp.json alone, and one whose list somebody removed, stay outside."""
    folder.serve("other", *TOOLS)
    folder.serve("--help", *TOOLS)
    folder.serve("crm", ADDED)
    ask(lists, "crm")
    assert [path.name for path in sorted((folder.path / IMPORTED).iterdir())] == ["crm.yaml"]
    folder.imported("crm").unlink()
    ask(lists)
    lists.step()
    assert not list((folder.path / IMPORTED).iterdir())


def test_every_server_is_asked_in_its_turn(folder: Folder, lists: ServerLists) -> None:
    """One that fails keeps no other from being listed, and its name is never read as an option."""
    for name in ("--help", "broken"):
        folder.serve(name, *TOOLS)
        folder.import_by_hand(name)
    folder.configure("broken", own_server("hostile.py", "die"))
    folder.serve("crm", ADDED)
    folder.serve("--help", ADDED)
    before = folder.imported("broken").read_bytes()
    ask(lists, "crm", "broken", "--help")
    assert b"merge_customers" in folder.imported("crm").read_bytes()
    assert b"merge_customers" in folder.imported("--help").read_bytes()
    assert folder.imported("broken").read_bytes() == before


def test_a_server_that_fails_leaves_its_list_and_is_told_of_once(folder: Folder, lists: ServerLists) -> None:
    """With the sentence of the import; and once again when it answers."""
    before = folder.imported("crm").read_bytes()
    failed = count("failed")
    folder.configure("crm", own_server("hostile.py", "not-json"))
    with capture_logs() as lines:
        ask(lists, "crm")
        ask(lists, "crm")
        folder.serve("crm", *TOOLS)
        ask(lists, "crm")
        ask(lists, "crm")
    assert [(line["log_level"], line["subject"]) for line in lines] == [("warning", "crm"), ("info", "crm")]
    assert lines[0]["cause"].startswith("mcp.json:")
    assert count("failed") - failed == 2
    assert folder.imported("crm").read_bytes() == before


def test_a_wrong_mcp_json_is_told_of_once(folder: Folder, lists: ServerLists) -> None:
    """Nothing is asked, and nothing lost."""
    before, failed = folder.imported("crm").read_bytes(), count("failed")
    text = (folder.path / SERVERS).read_text()
    assert isinstance(lists.clock, Clock)
    with capture_logs() as lines:
        for content in (text[:-1], text[:-1], text):
            (folder.path / SERVERS).write_text(content)
            lists.clock.ahead += lists.every_s
            lists.step()
    assert [(line["log_level"], line["subject"]) for line in lines] == [("warning", SERVERS), ("info", SERVERS)]
    assert count("failed") - failed == 2
    assert folder.imported("crm").read_bytes() == before


def test_a_missing_mcp_json_is_told_of_once(folder: Folder, lists: ServerLists) -> None:
    """Whoever asked for it learns why nothing happens."""
    (folder.path / SERVERS).unlink()
    assert isinstance(lists.clock, Clock)
    with capture_logs() as lines:
        for _ in range(3):
            lists.step()
            lists.clock.ahead += lists.every_s
    assert [(line["log_level"], line["subject"]) for line in lines] == [("warning", SERVERS)]


def test_a_server_that_hangs_delays_nobody(folder: Folder, lists: ServerLists) -> None:
    """No step waits for it; when its time is over it is killed with all that it started."""
    folder.configure("crm", own_server("hostile.py", "hang"))
    failed, before = count("failed"), folder.imported("crm").read_bytes()
    lists.step()
    until(lambda: running(folder.path))
    began = time.thread_time()
    for _ in range(100):
        assert lists.step() == 0
    assert time.thread_time() - began < 1.0
    assert count("failed") == failed
    assert isinstance(lists.clock, Clock)
    lists.clock.ahead += CHILD_S
    with capture_logs() as lines:
        lists.step()
    assert [line["cause"] for line in lines] == ["it was not listed within 50 s"]
    assert count("failed") == failed + 1
    assert folder.imported("crm").read_bytes() == before
    until(lambda: not running(folder.path))


def test_what_is_asked_ends_with_who_asks(folder: Folder, lists: ServerLists) -> None:
    """The command and the server's process."""
    folder.configure("crm", own_server("hostile.py", "hang"))
    lists.step()
    until(lambda: running(folder.path, "hostile.py"))
    lists.close()
    until(lambda: not running(folder.path))


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_what_is_asked_ends_with_the_dispatcher(end: str, folder: Folder, install: Callable[..., Installation]) -> None:
    """However it ends: asked to, or killed."""
    folder.configure("crm", own_server("hostile.py", "hang"))
    found = install(AOP_CATALOG_FOLDER=str(folder.path), AOP_CATALOG_REFRESH_S="60")
    found.start_one("dispatcher")
    until(lambda: running(folder.path, "hostile.py"), told=lambda: found.log("dispatcher"))
    if end == "stop":
        assert found.stop_one("dispatcher") == 0
    else:
        found.kill_one("dispatcher")
    until(lambda: not running(folder.path))


def test_of_several_dispatchers_one_asks(folder: Folder, lists: ServerLists) -> None:
    """And no server is asked more often than the interval says."""
    clock = Clock()
    other = ServerLists(lists.folder, lists.every_s, lists.redis, lists.prefix, clock)
    ask(lists, "crm")
    counts = [count(outcome) for outcome in ("changed", "same", "failed")]
    for _ in range(3):
        other.step()
        assert not running(folder.path)
        clock.ahead += 1
    assert [count(outcome) for outcome in ("changed", "same", "failed")] == counts
    left = lists.redis.pttl(asked_key(lists.prefix, "crm"))
    assert 0 < left <= lists.every_s * 1_000
    ask(other, "crm")
    assert count("same") == counts[1] + 1


def test_a_folder_that_cannot_be_written_is_told_of_once(
    folder: Folder, lists: ServerLists, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mounted ConfigMap, for example: nothing is asked."""
    place = folder.path / IMPORTED
    place.chmod(stat.S_IRUSR | stat.S_IXUSR)
    if os.access(place, os.W_OK):  # the superuser may write anywhere but to what is mounted read-only
        monkeypatch.setattr("workers.server_lists.os.access", lambda path, mode: False)
    assert isinstance(lists.clock, Clock)
    try:
        with capture_logs() as lines:
            for _ in range(3):
                lists.step()
                lists.clock.ahead += lists.every_s
    finally:
        place.chmod(stat.S_IRWXU)
    assert [(line["subject"], line["cause"]) for line in lines] == [(IMPORTED, "the folder cannot be written")]
    assert not running(folder.path)


def test_the_command_is_ours_and_knows_no_secret_of_ours(folder: Folder, lists: ServerLists) -> None:
    """Whatever lies in the folder; what mcp.json may fill in is the environment but for our own settings."""
    (folder.path / "cli").mkdir()
    (folder.path / "cli" / "__main__.py").write_text("raise SystemExit(7)")
    folder.serve("crm", ADDED)
    ask(lists, "crm")
    assert b"merge_customers" in folder.imported("crm").read_bytes()
    given = {"PATH": "/bin", "CRM_TOKEN": "t", "AOP_LANG": "ja", "AOP_REDIS_URL": "r", "aop_s3_secret_key": "s"}
    assert environment_of(given) == {"PATH": "/bin", "CRM_TOKEN": "t", "AOP_LANG": "ja"}


def test_the_option_of_aop_dev_has_the_same_least_interval() -> None:
    """The command line knows it without loading the settings."""
    assert service_app.SHORTEST_REFRESH_S == SHORTEST_REFRESH_S


def test_nothing_is_asked_unless_it_was_said(redis: Redis, tmp_path: Path) -> None:
    """Neither by default, nor without a folder."""
    assert server_lists_of(Settings(catalog_folder=tmp_path), redis) is None
    assert server_lists_of(Settings(catalog_refresh_s=SHORTEST_REFRESH_S), redis) is None
    found = server_lists_of(Settings(catalog_folder=tmp_path, catalog_refresh_s=SHORTEST_REFRESH_S), redis)
    assert found is not None
    assert found.step() == 0


def running(folder: Path, word: str = "") -> list[int]:
    """Processes that work in the folder and have the word in their command."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and int(path.name) != os.getpid():
            try:
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                place = (path / "cwd").readlink()
            except OSError:
                continue
            if place == folder and word in command:
                found.append(int(path.name))
    return found
