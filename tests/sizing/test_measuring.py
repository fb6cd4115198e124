"""What is measured with: requests are all counted, and processes are seen as the system sees them."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.sizing import processes, runs
from bench.sizing.s3_proxy import CountingProxy
from workers.ledger.records import STAGES

LISTED = b"<ListBucketResult><Contents><Key>a</Key></Contents><Contents><Key>b</Key></Contents></ListBucketResult>"


class Bucket(BaseHTTPRequestHandler):
    """Answers as long a body as it got, and a list of two keys."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = LISTED if "list-type=2" in self.path else body[::-1]
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    do_GET = do_PUT = do_HEAD = do_DELETE = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Nowhere."""


@pytest.fixture
def proxy() -> Iterator[CountingProxy]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Bucket) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with CountingProxy(f"http://127.0.0.1:{server.server_port}") as found:
            yield found
        server.shutdown()


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: bytes = b"") -> bytes:
    connection.request(method, path, body)
    return connection.getresponse().read()


def test_every_request_is_counted_by_its_operation(proxy: CountingProxy) -> None:
    """Many on one connection, with bodies that look like requests; the bytes pass unchanged."""
    connection = http.client.HTTPConnection(urlsplit(proxy.endpoint).netloc, timeout=120)
    body = b"GET /x HTTP/1.1\r\n\r\n" * 10_000
    before = proxy.counted()
    assert ask(connection, "PUT", "/b/one", body) == body[::-1]
    assert ask(connection, "GET", "/b/one") == b""
    assert ask(connection, "GET", "/b?list-type=2&prefix=x") == LISTED
    ask(connection, "HEAD", "/b/one")
    ask(connection, "DELETE", "/b/one")
    found = (proxy.counted() - before).each(1)
    assert (found.put, found.get, found.head, found.delete, found.listed) == (1, 1, 1, 1, 2)
    assert found.rounds == 5
    connection.close()


def test_an_answer_that_comes_with_leave_to_go_on_ends_its_request(proxy: CountingProxy) -> None:
    """As S3's clients ask for with every body: else all that follows would count as one round."""
    connection = http.client.HTTPConnection(urlsplit(proxy.endpoint).netloc, timeout=120)
    for _ in range(3):
        connection.request("PUT", "/b/one", b"abc", {"Expect": "100-continue"})
        assert connection.getresponse().read() == b"cba"
    assert proxy.counted().rounds == 3
    connection.close()


def test_requests_at_once_are_one_round(proxy: CountingProxy) -> None:
    """Two heads are sent before either is answered."""
    connections = [http.client.HTTPConnection(urlsplit(proxy.endpoint).netloc, timeout=120) for _ in range(2)]
    for connection in connections:
        connection.putrequest("PUT", "/b/one")
        connection.putheader("Content-Length", "3")
        connection.endheaders()
    end = time.monotonic() + 120
    while proxy.counted().operations["put"] < 2 and time.monotonic() < end:
        time.sleep(0.01)
    for connection in connections:
        connection.send(b"abc")
        assert connection.getresponse().read() == b"cba"
        connection.close()
    assert proxy.counted().rounds == 1


def test_a_process_and_all_below_it_are_seen() -> None:
    """Their processor time, and their memory."""
    work = "import subprocess, sys, time; "
    below = "import time; end = time.process_time() + 0.3\\nwhile time.process_time() < end: pass\\ntime.sleep(60)"
    text = f"{work}subprocess.run([sys.executable, '-c', '''{below}'''])"
    with subprocess.Popen([sys.executable, "-c", text], start_new_session=True) as process:
        try:
            end = time.monotonic() + 120
            while time.monotonic() < end:
                # The system counts in hundredths of a second.
                if any(processes.processor_ms(child) >= 270 for child in processes.children(process.pid)):
                    break
                time.sleep(0.05)
            (child,) = processes.children(process.pid)
            assert processes.family(process.pid) == [process.pid, child]
            assert processes.processor_ms(child) >= 270
            assert processes.family_ms(process.pid) >= 270
            assert 1 < processes.memory_mb(child) < 200
        finally:
            os.killpg(process.pid, 9)


def test_what_others_use_leaves_out_our_own() -> None:
    """Whatever else the machine does, this process's work is not counted among it."""
    with processes.Stretch([]) as stretch:
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
    assert stretch.seconds >= 0.3
    assert 0 <= stretch.others <= (os.cpu_count() or 1) + 0.1


def test_what_is_urgent_is_so_for_a_while() -> None:
    """Where the system lets us; and afterwards everything is as it was."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with processes.urgent([]):
        assert os.getpriority(os.PRIO_PROCESS, 0) <= before
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_service_is_measured(tmp_path: Path) -> None:
    """A few documents through a real one: every process has its work, and times are those of the ledger."""
    with runs.service(tmp_path, s3=False) as service:
        found = runs.through(service, 12)
        idle = runs.idle(service, 8)
        memory = runs.memory(service, 1.0)
    assert all(found.costs[stage] > found.costs[f"{stage} parent"] >= 0 for stage in STAGES)
    assert found.rate > 0
    assert found.accepting["sender"] > 0
    assert all(gap > 0 for gap in idle.gaps_ms.values())
    assert sum(idle.gaps_ms.values()) <= max(idle.took_ms)
    assert memory.worker_child > 1
