"""Servers that hang, flood, lie or break: one clear sentence each, in time, and nothing written."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from catalog.errors import CatalogError
from catalog.imported import snapshot
from catalog.live import Limits, ServerFault
from catalog.mcp_connection import HIDDEN, Connection
from catalog.mcp_import import list_tools

from .live import OWN, ROOT, Aop, configure, own_server

LIMITS = Limits(seconds=60, message_bytes=1 << 20, total_bytes=4 << 20, pages=5)
SECRET = "s3cret-value"  # noqa: S105 — what must not be seen again


def stdio(mode: str) -> Connection:
    arguments = (str(OWN / "hostile.py"), mode)
    return Connection("h", 1, "stdio", sys.executable, arguments, "", {"TOKEN": SECRET}, {})


def http(url: str) -> Connection:
    return Connection("h", 1, "http", "", (), url, {}, {"Authorization": f"Bearer {SECRET}"})


def refuse(connection: Connection, limits: Limits = LIMITS) -> ServerFault:
    with pytest.raises(ServerFault) as caught:
        snapshot("h", list_tools(connection, limits), limits)
    assert SECRET not in str(caught.value.arguments)
    return caught.value


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("flood", "server-flood"),
        ("chatter", "server-flood"),
        ("not-json", "server-not-json"),
        ("circle", "server-pages-circle"),
        ("endless", "server-pages"),
        ("many", "server-too-many"),
        ("duplicate", "server-duplicate"),
        ("no-schema", "server-wrong-list"),
        ("schema-is-true", "server-wrong-list"),
        ("no-object", "server-wrong-list"),
        ("no-list", "server-wrong-list"),
        ("large-schema", "server-schema-large"),
        ("deep", "server-schema-deep"),
        ("very-deep", "server-not-json"),
        ("error", "server-refused"),
        ("die", "server-ended"),
        ("crash", "server-ended"),
        ("hint-is-text", "server-wrong-list"),
        ("hint-is-number", "server-wrong-list"),
        ("no-name", "server-wrong-list"),
        ("large-number", "server-wrong-list"),
        ("echo", "server-tells-secret"),
    ],
)
def test_a_hostile_server_is_refused(mode: str, reason: str) -> None:
    """Within the limits of size, and with its secrets hidden."""
    assert refuse(stdio(mode)).reason == reason


def test_a_server_that_hangs_is_ended() -> None:
    """After the time that it was given: it would go on for minutes."""
    fault = refuse(stdio("hang"), LIMITS._replace(seconds=0.7))
    assert fault.reason == "server-slow"


def test_why_it_ended_is_told_with_its_secrets_hidden() -> None:
    """The exit status and the last words on standard error, without the code that a warning quotes."""
    died = refuse(stdio("die")).arguments
    assert (died["status"], died["said"]) == ("3", "bad token ***")
    assert refuse(stdio("crash")).arguments["status"] == "-9 (SIGKILL)"
    warned = str(refuse(stdio("warn-and-die")).arguments["said"])
    assert warned.startswith("no settings file / ")
    assert warned.endswith("RuntimeWarning: never awaited")
    assert refuse(stdio("error")).arguments["detail"] == "not allowed for ***"
    assert refuse(stdio("not-json")).arguments["said"] == "ready, token ***"


def test_a_secret_is_hidden_however_it_is_written() -> None:
    """With the escapes of JSON and Python, and as a part of a URL."""
    secret = 'a"b\\c/d é'  # noqa: S105 — what must not be seen again
    connection = replace(stdio("escaped"), env={"TOKEN": secret})
    assert refuse(connection).arguments["detail"] == '{"given": "***"}'
    for spelled in (json.dumps(secret), repr(secret), repr(secret.encode()), quote(secret, safe="")):
        assert secret[:3] not in connection.hide(spelled)
        assert HIDDEN in connection.hide(spelled)


def test_a_command_that_is_none_is_named() -> None:
    """With the system's reason."""
    connection = Connection("h", 1, "stdio", "./no-such-server", (), "", {}, {})
    fault = refuse(connection)
    assert (fault.reason, fault.arguments["detail"]) == (
        "server-unreachable",
        "./no-such-server: No such file or directory",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_no_process_is_left(tmp_path: Path, ending: str) -> None:
    """Whatever ends the command, the server and what it started are gone, even where they ignore every request."""
    pids = tmp_path / "pids"
    entry = own_server("hostile.py", "stubborn", {"PIDS": str(pids)})
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"h": entry}}), encoding="utf-8")
    command = [sys.executable, "-m", "cli", "catalog", "import", "--mcp-config", str(config)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: pids.exists() and pids.read_text().endswith("."))
        process.send_signal(signal.Signals[ending])
        process.wait(120)
        started = [int(pid) for pid in pids.read_text().split()[:2]]
        wait_until(lambda: not any(map(is_running, started)))
    finally:
        process.kill()
        process.wait()


def wait_until(holds: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """A process that nobody has asked for its exit status (a zombie) has ended."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.parent.parent.exists() and Path("/proc/self/stat").exists():
        try:
            return stat.read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# ----------------------------------------------------------------------------------------------------- over HTTP

Respond = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(respond: Respond) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                respond(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, status: int, kind: str, body: bytes) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def flood(kind: str) -> Respond:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.end_headers()
        while True:
            handler.wfile.write(b"data: " + b"x" * 65_536)

    return respond


PACKED = gzip.compress(b" " * 1_000_000) * 100
"""A few kilobytes that are 100 MB when unpacked: parts behind each other are one text."""


def bomb(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Encoding", "gzip")
    handler.send_header("Content-Length", str(len(PACKED)))
    handler.end_headers()
    handler.wfile.write(PACKED)


def elsewhere(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(307)
    handler.send_header("Location", "http://127.0.0.1:9/mcp")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def hang(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(5)
    handler.close_connection = True


@pytest.mark.parametrize(
    ("respond", "reasons"),
    [
        (lambda handler: send(handler, 401, "text/plain", b"who are you"), {"server-refused"}),
        (lambda handler: send(handler, 500, "text/html", b"<html>"), {"server-refused"}),
        (lambda handler: send(handler, 200, "text/html", b"<html>"), {"server-refused"}),
        (lambda handler: send(handler, 200, "application/json", b"{nonsense"), {"server-refused"}),
        (flood("application/json"), {"server-flood"}),
        (flood("text/event-stream"), {"server-flood", "server-refused"}),
        (bomb, {"server-compressed"}),
        (elsewhere, {"server-refused"}),
        (hang, {"server-slow"}),
    ],
    ids=["401", "500", "html", "no-json", "flood", "flood-events", "bomb", "redirect", "hang"],
)
def test_a_hostile_http_server_is_refused(respond: Respond, reasons: set[str]) -> None:
    """As over stdio."""
    limits = LIMITS._replace(seconds=0.7) if respond is hang else LIMITS
    with serving(respond) as url:
        assert refuse(http(url), limits).reason in reasons


def test_the_status_is_told() -> None:
    """Of an answer that is no success."""
    with serving(lambda handler: send(handler, 503, "text/plain", b"later")) as url:
        assert str(refuse(http(url)).arguments["detail"]).startswith("HTTP 503")


def test_nobody_listens() -> None:
    """A port without a server."""
    assert refuse(http("http://127.0.0.1:9/mcp")).reason == "server-unreachable"


# ------------------------------------------------------------------------------------------------- the command


def test_nothing_is_written_for_a_server_that_fails(aop: Aop) -> None:
    """Its earlier snapshot stays; the other servers are imported; status 2, and one sentence with the line."""
    config = configure(
        h=own_server("hostile.py", "not-json", {"TOKEN": "${TOKEN}"}), good=own_server("listing.py", "t.json")
    )
    Path("t.json").write_text('[{"name": "a", "inputSchema": {"type": "object"}}]')
    Path("aop-tools").mkdir()
    Path("aop-tools/h.yaml").write_text("version: 1\ntools:\n  - {name: h, kind: mcp, operations: [{name: old}]}\n")
    before = Path("aop-tools/h.yaml").read_bytes()
    done = aop("catalog", "import", "--mcp-config", config, code=2, env={"TOKEN": SECRET})
    assert Path("aop-tools/h.yaml").read_bytes() == before
    assert Path("aop-tools/good.yaml").exists()
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith('aop: mcp.json:3: what the MCP server "h" writes is not JSON-RPC')
    assert SECRET not in done.stdout + done.stderr
    assert sorted(path.name for path in Path("aop-tools").iterdir()) == ["good.yaml", "h.yaml"]


def test_what_a_server_says_cannot_take_over_the_terminal(aop: Aop) -> None:
    """Escape sequences in names and descriptions are shown as such."""
    config = configure(crm=own_server("listing.py", "t.json"))
    tool = {"name": "a\x1b[2J", "description": "\x1b]0;x\x07", "inputSchema": {"type": "object"}}
    Path("t.json").write_text(json.dumps([tool, tool]))
    refused = aop("catalog", "import", "--mcp-config", config, code=2)
    Path("t.json").write_text(json.dumps([tool]))
    imported = aop("catalog", "import", "--mcp-config", config)
    shown = aop("catalog", "show", "crm")
    for text in (refused.stderr, imported.stdout, shown.stdout, Path("aop-tools/crm.yaml").read_text(encoding="utf-8")):
        assert "\x1b" not in text
    assert "a\\x1b[2J" in refused.stderr
    assert "a\\x1b[2J" in shown.stdout


def test_secrets_reach_the_server_and_nothing_else(aop: Aop) -> None:
    """Neither the snapshot nor any output holds them."""
    config = configure(crm=own_server("listing.py", "t.json", {"TOKEN": "${CRM_TOKEN}"}))
    Path("t.json").write_text('[{"name": "a", "inputSchema": {"type": "object"}}]')
    unset = aop("catalog", "import", "--mcp-config", config, code=2)
    assert "needs the environment variable CRM_TOKEN" in unset.stderr
    assert not Path("aop-tools").exists()
    done = aop("catalog", "import", "--mcp-config", config, env={"CRM_TOKEN": SECRET})
    kept = Path("aop-tools/crm.yaml").read_text(encoding="utf-8")
    assert SECRET not in kept + done.stdout + done.stderr
    assert "CRM_TOKEN" not in kept


def test_every_reason_has_words() -> None:
    """In both languages, with the server's name."""
    for reason, more in (
        ("server-slow", {"seconds": "5"}),
        ("server-flood", {"limit": 1}),
        ("server-pages-circle", {}),
    ):
        error = CatalogError("mcp.json", 3, reason, server="h", **more)
        assert "「h」" in error.message("ja")
        assert '"h"' in error.message("en")
